import { silentHooks } from '../../../reconcile/apply/world.ts';
import { scopeKey } from '../../../model/ids.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { planExitCode } from '../../session/plan-view.ts';
import { applicationArgument, type ServerFlags } from '../../server/options.ts';
import { type Session, type SessionOptions, surveyAll, withSession } from '../../session/session.ts';
import { type Reader, readerOf, remedyLines } from '../status/standing.ts';
import { unknownApplication } from '../../session/unknown-application.ts';
import { applicationTree } from './application.ts';
import { inventoryOf } from './inventory.ts';
import { type Forest, type TreeNode, treeLines, treeSummary } from './node.ts';
import { addViewedOptions, addViewOptions } from '../status/view-options.ts';

const EXAMPLES = `
What no manifest names is shown too, as far as the platform lists it. With --server, only what the controller has on record
is: its ports and rules need a token of the role operator.

Examples:
  portolan tree -f manifests/
  portolan tree Application/shop -f manifests/
  portolan tree shop --server http://127.0.0.1:7780
  portolan tree -f manifests/ -o json | jq '.. | objects | select(.state == "not-in-manifests") | .name'`;

export const treeCommand: CommandDefinition = {
  help: {
    about:
      'Draws an application as a tree: its installs, components, ports and rules, how each stands, and what is there that no manifest names. Reads the platform by itself, or asks a running controller with --server. Writes nothing.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.interrupted],
    seeAlso: ['status', 'plan', 'export'],
  },
  define(command, invoke) {
    addViewOptions(
      addViewedOptions(
        command.argument('[application]', 'only this one: Application/shop, or shop', applicationArgument),
      ),
    )
      .addHelpText('after', EXAMPLES)
      .action((application, options) => invoke((surroundings) => treeHereOrThere(application, options, surroundings)));
  },
};

interface TreeOptions extends SessionOptions, ServerFlags {
  readonly ascii?: boolean | undefined;
  readonly output: 'text' | 'json';
}

/** The packages for talking to a server are loaded only where there is one. */
async function treeHereOrThere(
  application: string | undefined,
  options: TreeOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  if (options.server === undefined) return treeHere(application, options, surroundings);
  const { forestOfServer } = await import('../../server/tree.ts');
  const { forest, exitCode } = await forestOfServer(application, options, surroundings);
  writeForest(forest, options, surroundings);
  return exitCode;
}

function treeHere(
  application: string | undefined,
  options: TreeOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  return withSession(options, surroundings, true, async (session) => {
    const survey = await surveyAll(only(session, application), silentHooks);
    const kinds = await surroundings.kinds.reconciled();
    const inventories = await Promise.all(survey.prepared.map((prepared) => inventoryOf(kinds, prepared)));
    const lost = survey.errors.map(
      ({ application: name, error }): TreeNode => ({
        type: 'application',
        name,
        facts: '',
        state: 'unknown',
        reason: error.message,
        children: [],
      }),
    );
    const notes = [
      ...survey.errors.map(({ application: about, error }) => ({ about, why: error.message, what: error.remedy })),
      ...inventories.flatMap(({ prepared, unseen }) =>
        unseen.map((what) => ({ about: scopeKey(prepared.scope), why: '', what: `not shown: ${what}` })),
      ),
    ];
    const forest = {
      revision: survey.document.revision,
      applications: [...inventories.map((inventory) => applicationTree(kinds, inventory)), ...lost],
      notes,
    };
    writeForest(forest, options, surroundings);
    return planExitCode(survey.document, false);
  });
}

/** @throws PortolanError `invalid` when the manifests have no such application. */
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
    const { revision, applications, notes } = forest;
    const said = notes.map(({ about, what }) => ({ about, message: what }));
    out.write(`${JSON.stringify({ formatVersion: 1, revision, applications, notes: said }, null, 2)}\n`);
    return;
  }
  for (const line of forestLines(forest, readerOf(surroundings, options.ascii))) out.write(`${line}\n`);
}

function forestLines({ applications, notes }: Forest, reader: Reader): readonly string[] {
  if (applications.length === 0) return ['There is no application.'];
  return [
    ...treeLines(applications, reader),
    '',
    ...(notes.length === 0 ? [] : [...remedyLines(notes, reader), '']),
    reader.paint('title', treeSummary(applications)),
  ];
}
