import type { Command } from '@commander-js/extra-typings';
import { silentHooks } from '../../../reconcile/apply/world.ts';
import { boundPlatforms } from '../../../ledger/binding.ts';
import type { ApplicationSummary, OrphanStatus, ResourceStatus } from '../../../model/status.ts';
import { safeLine } from '../../../model/text.ts';
import { conditionOf } from '../../../controller/application-state.ts';
import { type ControllerReport, statusOfController, statusOfSurvey, type StatusView } from '../../../views/status.ts';
import { defineCommand, type OptionsOf, type Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import type { Query } from '../../server/client.ts';
import { planExitCode } from '../../session/plan-view.ts';
import { type Session, surveyAll, withSession } from '../../session/session.ts';
import { count, textOfLines, wrap } from '../../terminal/text.ts';
import { intervalOf, watch, watchOption } from '../watch.ts';
import { addFilterOptions, filterQuery } from './filters.ts';
import { type Reader, readerOf, remedyLines, statusTable } from './table.ts';
import { addViewedOptions, addViewOptions } from '../../session/planning-options.ts';

const WATCH_MS = 10_000;
const SERVER_WATCH_MS = 2_000;

const parameters = (command: Command) =>
  addViewOptions(
    addFilterOptions(
      addViewedOptions(
        command.argument('[resource]', 'only this resource, in detail: Component/shop-web (with --server)'),
      ),
    ).addOption(watchOption('10s, with --server 2s')),
  );

type StatusOptions = OptionsOf<typeof parameters>;

export const statusCommand = defineCommand({
  isEndless: true,
  about:
    'Shows for each resource whether it is in sync, and if not, why. Reads the platform itself, or asks a running controller with --server. Writes nothing.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['plan', 'events', 'monitor'],
  examples: `
With --watch and without --server, manifests and platform are read again each time, within the limits of the platform's
configuration.

Examples:
  portolan status -f manifests/
  portolan status -f manifests/ --watch 30s
  portolan status --server http://127.0.0.1:7780 --watch     # of a running controller
  portolan status Component/shop-web --server http://127.0.0.1:7780   # desired, live and last applied values
  portolan status --state failing --state held --team shop   # only these, with PORTOLAN_SERVER set
  portolan status -f manifests/ -o json | jq '.resources[] | select(.state != "InSync")'`,
  parameters,
  async run(surroundings, options, [resource]) {
    if (resource !== undefined) {
      // The HTTP client is loaded only for this.
      const { statusOfResource } = await import('./resource.ts');
      return statusOfResource(resource, options, surroundings);
    }
    const filters = filterQuery(options);
    if (options.server !== undefined) return statusOfServer(options, filters, surroundings);
    const intervalMs = intervalOf(options.watch, WATCH_MS);
    return withSession(options, surroundings, true, (session) => {
      const observe = () => (intervalMs === undefined ? observeOnce(session) : reobserve(session));
      return show(observe, intervalMs, options, surroundings);
    });
  },
});

/** Holds a view, its exit code, and the number of requests it needed. */
interface ObservedStatus {
  readonly view: StatusView;
  readonly exitCode: ExitCode;
  readonly requests?: number;
}

/** Observes the session's manifests once. Writes nothing. */
async function observeOnce(session: Session): Promise<ObservedStatus> {
  const survey = await surveyAll(session, silentHooks);
  const view = statusOfSurvey(survey, await boundPlatforms(session.ledger));
  return { view, exitCode: planExitCode(survey.document, false) };
}

/** Reads the manifests again and observes the platform again. */
async function reobserve(session: Session): Promise<ObservedStatus> {
  const before = session.traffic.reads;
  const survey = await surveyAll(await session.reload(), silentHooks);
  const requests = session.traffic.reads - before;
  return { view: statusOfSurvey(survey), exitCode: planExitCode(survey.document, false), requests };
}

/** Shows the status that a running controller reports. The HTTP client is loaded only for this. */
async function statusOfServer(
  options: StatusOptions,
  filters: Query | undefined,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { openServer } = await import('../../server/client.ts');
  const server = openServer(options, surroundings);
  const observe = async (): Promise<ObservedStatus> => {
    const controller = (await server.get('status', 'phase')) as ControllerReport['controller'];
    const applications = (await Array.fromAsync(server.list('applications', filters))) as ApplicationSummary[];
    const ids = new Set(applications.map(({ id }) => id));
    const notReady = (await Array.fromAsync(
      server.list('resources', { condition: 'Ready!=True' }),
    )) as ResourceStatus[];
    const resources = filters === undefined ? notReady : notReady.filter(({ application }) => ids.has(application));
    // A server of an older version has no such list. Orphans belong to no application, so no filter matches them.
    const isAsked = controller.orphans > 0 && filters === undefined;
    const orphans = (isAsked ? await Array.fromAsync(server.list('orphans')) : []) as OrphanStatus[];
    const report: ControllerReport = { controller, applications, resources, orphans };
    return { view: statusOfController(report, server.url), exitCode: exitCodeOf(report, filters === undefined) };
  };
  return show(observe, intervalOf(options.watch, SERVER_WATCH_MS), options, surroundings);
}

/**
 * Returns the exit code of a report. It uses the conditions, not the shown state: a suspended resource may also be held.
 * @param isWhole whether the report has all applications. Then the counts matter too: the summary shows them, and they may be
 * older than the lists, which are read after them.
 */
function exitCodeOf({ controller, applications, resources }: ControllerReport, isWhole: boolean): ExitCode {
  const { counts, source } = controller;
  const isFailing = applications.some(({ lastError, failures }) => lastError !== null && failures > 0);
  if (source.error !== null || isFailing || (isWhole && counts.failing > 0)) return EXIT.failed;
  const isHeld =
    (isWhole && counts.held > 0) ||
    resources.some(({ holds }) => holds.length > 0) ||
    applications.some((one) => one.approval !== null || conditionOf(one, 'Stalled')?.status === 'True');
  return isHeld ? EXIT.held : EXIT.ok;
}

/** Writes the status once, or repeatedly. @param intervalMs time between two observations; undefined: one. */
async function show(
  observe: () => Promise<ObservedStatus>,
  intervalMs: number | undefined,
  options: StatusOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const linesOf = (observed: ObservedStatus, isWatched: boolean): readonly string[] =>
    statusLines(observed, isWatched, readerOf(surroundings, options.ascii));
  const print = (observed: ObservedStatus): string =>
    options.output === 'json'
      ? `${JSON.stringify(observed.view.document, null, intervalMs === undefined ? 2 : undefined)}\n`
      : textOfLines(linesOf(observed, false));
  if (intervalMs !== undefined)
    return watch({ intervalMs, observe, draw: (observed) => linesOf(observed, true), print }, surroundings);
  const observed = await observe();
  surroundings.terminal.out.write(print(observed));
  return observed.exitCode;
}

/** Returns the table, the remedies and the summary. With --watch the summary comes first: the screen may be too small. */
function statusLines({ view, requests }: ObservedStatus, isWatched: boolean, reader: Reader): readonly string[] {
  const { head, summary, groups, notes } = view;
  const wrapped = (text: string): readonly string[] =>
    reader.isTerminal ? wrap(safeLine(text), reader.columns) : [safeLine(text)];
  const title = (text: string): string => reader.paint('title', text);
  const table = groups.length === 0 ? [] : statusTable(view, reader);
  const remedies = remedyLines(view.remedies, reader);
  const aside = requests === undefined ? '' : `  ${reader.paint('dim', `${count(requests, 'request')} each time`)}`;
  const sections =
    head !== undefined
      ? [[...wrapped(head), ...wrapped(summary).map(title)], table, remedies]
      : isWatched
        ? [[`${title(summary)}${aside}`], table, remedies]
        : [table, remedies, [...notes.flatMap(wrapped), title(summary)]];
  return sections.filter((lines) => lines.length > 0).flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}
