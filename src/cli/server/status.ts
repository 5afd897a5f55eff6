import type {
  ApplicationStatus,
  Condition,
  ConditionType,
  ControllerStatus,
  ResourceStatus,
} from '../../model/status.ts';
import { safeLine } from '../../model/text.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { Remedy } from '../../views/model.ts';
import type { Surroundings } from '../session/command.ts';
import type { Mark } from '../terminal/drawing/glyphs.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { worstOf } from '../session/plan-view.ts';
import {
  problemsFirst,
  type Reader,
  readerOf,
  remedyLines,
  type Standing,
  standingLines,
} from '../commands/status/standing.ts';
import { count, wrap } from '../terminal/text.ts';
import { intervalOf, watch, type WatchFlag } from '../commands/watch.ts';
import { openServer, type ServerClient } from './client.ts';
import type { ServerFlags } from './options.ts';

type Application = Omit<ApplicationStatus, 'resources' | 'pending'>;

/** What a controller says of all that it keeps. */
interface Report {
  readonly controller: ControllerStatus;
  readonly applications: readonly Application[];
  /** Only those that are not as git says. */
  readonly resources: readonly ResourceStatus[];
}

export interface ServerStatusOptions extends ServerFlags {
  readonly output: 'text' | 'json';
  readonly watch?: WatchFlag;
  readonly ascii?: boolean | undefined;
}

const WATCH_MS = 2_000;

/** Shows how a controller and its applications stand; with `watch`, again and again until a signal comes. */
export async function statusOfServer(options: ServerStatusOptions, surroundings: Surroundings): Promise<ExitCode> {
  const server = openServer(options, surroundings);
  const { out } = surroundings.terminal;
  const reader = (): Reader => readerOf(surroundings, options.ascii);
  const text = (report: Report): string =>
    reportLines(report, server.url, reader())
      .map((line) => `${line}\n`)
      .join('');
  const intervalMs = intervalOf(options.watch, WATCH_MS);
  if (intervalMs === undefined) {
    const report = await reportOf(server);
    out.write(options.output === 'json' ? `${JSON.stringify(documentOf(report), null, 2)}\n` : text(report));
    return exitCodeOf(report);
  }
  return watch(
    {
      intervalMs,
      look: () => reportOf(server),
      draw: (report) => reportLines(report, server.url, reader()),
      print: (report) => (options.output === 'json' ? `${JSON.stringify(documentOf(report))}\n` : text(report)),
    },
    surroundings,
  );
}

async function reportOf(server: ServerClient): Promise<Report> {
  const controller = (await server.get('status', 'phase')) as ControllerStatus;
  const applications: Application[] = [];
  for await (const one of server.list('applications')) applications.push(one as Application);
  const resources: ResourceStatus[] = [];
  for await (const one of server.list('resources', { condition: 'Ready!=True' })) resources.push(one as ResourceStatus);
  return { controller, applications, resources };
}

function documentOf(report: Report): object {
  return { formatVersion: 1, ...report };
}

function reportLines(report: Report, url: string, reader: Reader): readonly string[] {
  const { controller, applications } = report;
  const { source, phase } = controller;
  const head = safeLine(`${url}: ${phase}, source ${source.name} at ${source.acceptedRevision ?? 'no revision yet'}`);
  const counts = countsText(report);
  const said = reader.isTerminal
    ? [...wrap(head, reader.columns), ...wrap(counts, reader.columns).map((line) => reader.paint('title', line))]
    : [head, counts];
  const remedies = remedyLines(remediesOf(report), reader);
  return [
    ...said,
    ...(applications.length === 0 ? [] : ['', ...tableOf(report, reader)]),
    ...(remedies.length === 0 ? [] : ['', ...remedies]),
  ];
}

/** What is suspended is counted: applications by a person, resources by their annotation. */
function countsText({ controller: { counts }, resources }: Report): string {
  const asides = resources.filter(({ mode }) => mode === 'suspend').length;
  const notReady = resources.length - asides;
  const parts = [
    count(counts.applications, 'application'),
    `${counts.ready} ready`,
    ...(['drifted', 'held', 'failing', 'suspended'] as const).flatMap((name) =>
      counts[name] > 0 ? [`${counts[name]} ${name}`] : [],
    ),
    ...(notReady > 0 ? [`${count(notReady, 'resource')} not ready`] : []),
    ...(asides > 0 ? [`${count(asides, 'resource')} suspended by annotation`] : []),
  ];
  return parts.join(', ');
}

function tableOf({ applications, resources }: Report, reader: Reader): readonly string[] {
  const byApplication = Map.groupBy(resources, ({ application }) => application);
  const groups = applications.map((one) => {
    const head = standingOf(one.id, one.conditions, applicationMark(one), whyOf(one));
    const members = (byApplication.get(one.id) ?? []).map((resource) => {
      const said = whyOfResource(resource);
      // What keeps the whole application is said once.
      return standingOf(resource.id, resource.conditions, resourceMark(resource), said === head.why ? '' : said);
    });
    return { head, members };
  });
  return standingLines(
    problemsFirst(groups),
    { titles: ['ready', 'healthy', 'reason'], whyTitle: 'message', hasAge: true },
    reader,
  );
}

function standingOf(name: string, conditions: readonly Condition[], mark: Mark, why: string): Standing {
  const ready = conditionOf(conditions, 'Ready');
  const healthy = conditionOf(conditions, 'Healthy')?.status ?? 'Unknown';
  return {
    mark,
    name,
    words: [ready?.status ?? 'Unknown', healthy, ready?.reason ?? ''],
    sinceMs: ready?.sinceMs,
    why,
  };
}

function applicationMark({ pause, approval, lastError, failures, conditions }: Application): Mark {
  if (lastError !== null && failures > 0) return 'bad';
  if (pause?.type === 'suspended') return 'suspended';
  if (approval !== null) return 'held';
  return conditionMark(conditions);
}

function resourceMark({ mode, holds, conditions }: ResourceStatus): Mark {
  if (mode === 'suspend') return 'suspended';
  if (holds.length > 0) return 'held';
  return mode === 'report' && conditionOf(conditions, 'Ready')?.status === 'False'
    ? 'reported'
    : conditionMark(conditions);
}

function conditionMark(conditions: readonly Condition[]): Mark {
  if (conditionOf(conditions, 'Stalled')?.status === 'True') return 'held';
  const ready = conditionOf(conditions, 'Ready');
  if (ready === undefined || ready.status === 'Unknown') return 'unknown';
  if (ready.status === 'True') return conditionOf(conditions, 'Healthy')?.status === 'False' ? 'bad' : 'good';
  return ready.reason === 'Failing' ? 'bad' : ready.reason === 'Waiting' ? 'waiting' : 'change';
}

function conditionOf(conditions: readonly Condition[], type: ConditionType): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

function whyOf({ pause, lastError, conditions }: Application): string {
  if (pause !== null) return pauseText(pause);
  return lastError?.message ?? conditionOf(conditions, 'Ready')?.message ?? '';
}

function whyOfResource({ conditions, holds }: ResourceStatus): string {
  const [hold] = holds;
  return hold === undefined ? (conditionOf(conditions, 'Ready')?.message ?? '') : `${hold.code}: ${hold.message}`;
}

function pauseText(pause: NonNullable<ApplicationStatus['pause']>): string {
  const until = (ms: number | null): string => (ms === null ? '' : ` until ${new Date(ms).toISOString()}`);
  switch (pause.type) {
    case 'suspended':
      return `suspended by ${pause.by}: ${pause.reason}`;
    case 'window':
      return `outside of sync window ${pause.window}${until(pause.untilMs)}`;
    case 'region':
      return `region ${pause.region} is ${pause.state}`;
    case 'circuit':
      return `too many failures in region ${pause.region}; nothing is asked of it${until(pause.untilMs)}`;
    default:
      return unreachable(pause);
  }
}

/** What to do about each thing that waits for a person. */
function remediesOf({ controller, applications, resources }: Report): readonly Remedy[] {
  const { error } = controller.source;
  return [
    ...(error === null ? [] : [{ about: 'source', why: '', what: `${error.message} ${error.remedy}` }]),
    ...applications.flatMap(({ id, lastError, approval, pause }) => {
      const name = id.slice('Application/'.length);
      return [
        ...(lastError === null ? [] : [{ about: id, why: lastError.message, what: lastError.remedy }]),
        ...(approval === null
          ? []
          : [{ about: id, why: '', what: `a guard refused its plan; portolan approve ${name} ${approval.digest}` }]),
        ...(pause?.type === 'suspended' ? [{ about: id, why: '', what: `portolan resume ${name}` }] : []),
      ];
    }),
    ...resources.flatMap(({ id, holds }) =>
      holds.map(({ message, remedy }) => ({ about: id, why: message, what: remedy })),
    ),
  ];
}

function exitCodeOf({ controller, applications, resources }: Report): ExitCode {
  const codes: ExitCode[] = [];
  if (controller.source.error !== null) codes.push(EXIT.failed);
  for (const { lastError, failures, approval, conditions } of applications) {
    if (lastError !== null && failures > 0) codes.push(EXIT.failed);
    if (approval !== null || conditionOf(conditions, 'Stalled')?.status === 'True') codes.push(EXIT.held);
  }
  if (resources.some(({ holds }) => holds.length > 0)) codes.push(EXIT.held);
  return worstOf(codes) ?? EXIT.ok;
}
