import type { Command } from '@commander-js/extra-typings';
import type { ApplicationDetails, ApplicationSummary, ControllerStatus, OrphanFacts } from '../../../model/status.ts';
import type { ReconciledKinds } from '../../../kinds/define.ts';
import { shownLines } from '../../../reconcile/shown.ts';
import type { Survey } from '../../../reconcile/survey.ts';
import { answeredView } from '../../../views/answered.ts';
import { orphanedViews } from '../../../views/model.ts';
import { orphanFacts } from '../../../plan/orphans.ts';
import { observedView, unreadView } from '../../../views/observed.ts';
import { type Forest, treeOf } from '../../../views/tree.ts';
import { silentHooks } from '../../../reconcile/apply/world.ts';
import { scopeKey } from '../../../model/ids.ts';
import { defineCommand, type OptionsOf, type Surroundings } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { planExitCode } from '../../session/plan-view.ts';
import type { ServerClient } from '../../server/client.ts';
import { applicationArgument } from '../../server/options.ts';
import { type Session, surveyAll, withSession } from '../../session/session.ts';
import { type Reader, readerOf, remedyLines } from '../status/table.ts';
import { unknownApplication } from '../../session/unknown-application.ts';
import { writeJson } from '../../terminal/terminal.ts';
import { textOfLines } from '../../terminal/text.ts';
import { treeLines, treeSummary } from './node.ts';
import { addViewedOptions, addViewOptions } from '../../session/planning-options.ts';

const parameters = (command: Command) =>
  addViewOptions(
    addViewedOptions(
      command.argument('[application]', 'only this application: Application/shop, or shop', applicationArgument),
    ),
  );

type TreeOptions = OptionsOf<typeof parameters>;

export const treeCommand = defineCommand({
  about:
    'Draws an application as a tree: its installs, components, ports and rules, the state of each, and resources that no manifest names. Reads the platform itself, or asks a running controller with --server. Writes nothing.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['status', 'plan', 'export'],
  examples: `
Resources that no manifest names are shown too, if the platform lists them. With --server, the tree shows the controller's
last observation and its time, with fewer resources that no manifest names.

Examples:
  portolan tree -f manifests/
  portolan tree Application/shop -f manifests/
  portolan tree shop --server http://127.0.0.1:7780
  portolan tree -f manifests/ -o json | jq '.. | objects | select(.state == "not-in-manifests") | .name'`,
  parameters,
  async run(surroundings, options, [application]) {
    if (options.server !== undefined) {
      const { forest, exitCode } = await forestOfServer(application, options, surroundings);
      writeForest(forest, options, surroundings);
      return exitCode;
    }
    return withSession(options, surroundings, true, async (session) => {
      const survey = await surveyAll(only(session, application), silentHooks);
      // The tree of one application leaves out what others left behind.
      const shown = application === undefined ? survey : { ...survey, orphans: [] };
      writeForest(await forestOf(shown, await surroundings.kinds.reconciled()), options, surroundings);
      return planExitCode(survey.document, false);
    });
  },
});

async function forestOf({ prepared, errors, orphans, document }: Survey, kinds: ReconciledKinds): Promise<Forest> {
  const shown = await Promise.all(prepared.map(async (one) => ({ one, ...(await shownLines(one, kinds, 'all')) })));
  return {
    revision: document.revision,
    applications: [
      ...shown.map(({ one, lines }) => observedView(one, lines)),
      ...errors.map(({ application, error }) => unreadView(application, error.message)),
      ...orphanedViews(orphans.map(orphanFacts)),
    ].map(treeOf),
    notes: [
      ...errors.map(({ application, error }) => ({ about: application, why: error.message, what: error.remedy })),
      ...shown.flatMap(({ one, unseen }) =>
        unseen.map((what) => ({ about: scopeKey(one.scope), why: '', what: `not shown: ${what}` })),
      ),
    ],
  };
}

/** Returns the trees that a controller observed last, and the exit code. The HTTP client is loaded only for this. */
async function forestOfServer(name: string | undefined, options: TreeOptions, surroundings: Surroundings) {
  const { openServer } = await import('../../server/client.ts');
  const server = openServer(options, surroundings);
  const all = name === undefined ? await Array.fromAsync(server.list('applications')) : [{ id: name }];
  const answers = await Array.fromAsync(all as readonly Pick<ApplicationSummary, 'id'>[], async ({ id }) => {
    const path = `applications/${encodeURIComponent(applicationArgument(id))}`;
    return (await server.get(path, 'conditions')) as ApplicationDetails;
  });
  const views = [...answers.map(answeredView), ...orphanedViews(name === undefined ? await orphansOf(server) : [])];
  const isHeld = views.some((view) =>
    [view, ...view.resources].some(({ state }) => state === 'held' || state === 'not-ours'),
  );
  const [first] = answers;
  return {
    forest: { revision: first?.lastAppliedRevision ?? null, applications: views.map(treeOf), notes: [] },
    exitCode: isHeld ? EXIT.held : EXIT.ok,
  };
}

/** Returns the orphans of a controller. A server of an older version has no such list. */
async function orphansOf(server: ServerClient): Promise<readonly OrphanFacts[]> {
  const { orphans } = (await server.get('status', 'phase')) as unknown as ControllerStatus;
  return orphans > 0 ? ((await Array.fromAsync(server.list('orphans'))) as readonly OrphanFacts[]) : [];
}

/** Returns the session limited to one application. @throws PortolanError `invalid` when the manifests do not have it. */
function only(session: Session, name: string | undefined): Session {
  if (name === undefined) return session;
  const works = session.works.filter(({ application }) => application.name === name);
  if (works.length > 0) return { ...session, works };
  const names = session.works.map(({ application }) => application.name);
  throw unknownApplication('tree', name, names);
}

function writeForest(forest: Forest, options: TreeOptions, surroundings: Surroundings): void {
  const { out } = surroundings.terminal;
  if (options.output === 'json') {
    const notes = forest.notes.map(({ about, what }) => ({ about, message: what }));
    writeJson({ ...forest, notes }, surroundings.terminal);
  } else out.write(textOfLines(forestLines(forest, readerOf(surroundings, options.ascii))));
}

function forestLines({ applications, notes }: Forest, reader: Reader): readonly string[] {
  if (applications.length === 0) return ['There are no applications.'];
  return [
    ...treeLines(applications, reader),
    '',
    ...(notes.length === 0 ? [] : [...remedyLines(notes, reader), '']),
    reader.paint('title', treeSummary(applications)),
  ];
}
