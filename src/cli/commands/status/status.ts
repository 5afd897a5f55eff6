import { silentHooks } from '../../../reconcile/apply/world.ts';
import { type BoundPlatform, boundPlatforms } from '../../../ledger/binding.ts';
import { safeLine } from '../../../model/text.ts';
import type { Survey } from '../../../reconcile/survey.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { planExitCode } from '../../session/plan-view.ts';
import type { ServerFlags } from '../../server/options.ts';
import { type Session, type SessionOptions, surveyAll, withSession } from '../../session/session.ts';
import { count, wrap } from '../../terminal/text.ts';
import { intervalOf, watch, type WatchFlag, watchOption } from '../watch.ts';
import { groupsOf, remediesOf, rowsOf, summaryOf, summaryText } from './rows.ts';
import { problemsFirst, type Reader, readerOf, remedyLines, standingLines } from './standing.ts';
import { addViewedOptions, addViewOptions } from './view-options.ts';

const WATCH_MS = 10_000;

const EXAMPLES = `
With --watch and no server, manifests and platform are read anew each time, within the limits of the platform's
configuration, and nothing is written.

Examples:
  portolan status -f manifests/
  portolan status -f manifests/ --watch 30s
  portolan status --server http://127.0.0.1:7780 --watch     # of a running controller
  portolan status -f manifests/ -o json | jq '.resources[] | select(.state != "InSync")'`;

export const statusCommand: CommandDefinition = {
  goesOn: true,
  help: {
    about:
      'Says of each resource whether it is as the manifests want it, and if not, what it waits for. Reads the platform by itself, or asks a running controller with --server. Writes nothing.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.interrupted],
    seeAlso: ['plan', 'events', 'monitor'],
  },
  define(command, invoke) {
    addViewOptions(addViewedOptions(command).addOption(watchOption('10s, with --server 2s')))
      .addHelpText('after', EXAMPLES)
      .action((options) => invoke((surroundings) => statusHereOrThere(options, surroundings)));
  },
};

type StatusOptions = SessionOptions &
  ServerFlags & {
    readonly output: 'text' | 'json';
    readonly watch?: WatchFlag;
    readonly ascii?: boolean | undefined;
  };

/** The packages for talking to a server are loaded only where there is one. */
async function statusHereOrThere(options: StatusOptions, surroundings: Surroundings): Promise<ExitCode> {
  if (options.server !== undefined) {
    const { statusOfServer } = await import('../../server/status.ts');
    return statusOfServer(options, surroundings);
  }
  return status(options, surroundings);
}

/** Reads only, like `plan`; a line per resource in place of its changes. */
function status(options: StatusOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { out } = surroundings.terminal;
  const intervalMs = intervalOf(options.watch, WATCH_MS);
  return withSession(options, surroundings, true, async (session) => {
    if (intervalMs === undefined) {
      const survey = await surveyAll(session, silentHooks);
      out.write(
        options.output === 'json'
          ? `${JSON.stringify({ ...documentOf(survey), platforms: await boundPlatforms(session.ledger) }, null, 2)}\n`
          : linesText(
              reportLines(
                survey,
                readerOf(surroundings, options.ascii),
                boundLines(await boundPlatforms(session.ledger)),
              ),
            ),
      );
      return planExitCode(survey.document, false);
    }
    return watch(
      {
        intervalMs,
        look: () => look(session),
        draw: ({ survey, requests }) => watchLines(survey, requests, readerOf(surroundings, options.ascii)),
        print: ({ survey }) =>
          options.output === 'json'
            ? `${JSON.stringify(documentOf(survey))}\n`
            : linesText(reportLines(survey, readerOf(surroundings, options.ascii))),
      },
      surroundings,
    );
  });
}

async function look(session: Session): Promise<{ readonly survey: Survey; readonly requests: number }> {
  const before = session.traffic.reads;
  const survey = await surveyAll(await session.anew(), silentHooks);
  return { survey, requests: session.traffic.reads - before };
}

/** The platforms that the ledger belongs to; those without an id of a region say so. */
function boundLines(platforms: readonly BoundPlatform[]): readonly string[] {
  return platforms.map(({ name, url, regions }) => {
    const names = regions.map((region) => region.name).join(', ');
    return safeLine(`Ledger bound to Platform/${name}: ${url}${names === '' ? ', no region' : `, region ${names}`}.`);
  });
}

function documentOf(survey: Survey): object {
  const { revision, digest } = survey.document;
  const rows = rowsOf(survey);
  return { formatVersion: 1, revision, digest, summary: summaryOf(rows), resources: rows };
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** The table, what to do, and how many of what: the last line, as that of a plan. */
function reportLines(survey: Survey, reader: Reader, more: readonly string[] = []): readonly string[] {
  const rows = rowsOf(survey);
  if (rows.length === 0) return ['The manifests name no application.'];
  const remedies = remedyLines(remediesOf(survey), reader);
  return [
    ...tableOf(survey, reader),
    '',
    ...(remedies.length === 0 ? [] : [...remedies, '']),
    ...more.flatMap((line) => (reader.isTerminal ? wrap(line, reader.columns) : [line])),
    reader.paint('title', summaryText(summaryOf(rows))),
  ];
}

/** On a screen that may be too small, what matters most comes first. */
function watchLines(survey: Survey, requests: number, reader: Reader): readonly string[] {
  const rows = rowsOf(survey);
  if (rows.length === 0) return ['The manifests name no application.'];
  const remedies = remedyLines(remediesOf(survey), reader);
  return [
    `${reader.paint('title', summaryText(summaryOf(rows)))}  ${reader.paint('dim', `${count(requests, 'request')} a look`)}`,
    '',
    ...tableOf(survey, reader),
    ...(remedies.length === 0 ? [] : ['', ...remedies]),
  ];
}

function tableOf(survey: Survey, reader: Reader): readonly string[] {
  const groups = problemsFirst(groupsOf(rowsOf(survey)));
  return standingLines(groups, { titles: ['state'], whyTitle: 'reason', hasAge: false }, reader);
}
