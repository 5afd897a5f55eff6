import { PortolanError } from '../../model/errors.ts';
import type {
  ApplicationStatus,
  Condition,
  ConditionType,
  ControllerStatus,
  ResourceStatus,
} from '../../model/status.ts';
import { safeLine } from '../../model/text.ts';
import type { Surroundings } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { worstOf } from '../plan-view.ts';
import { renderTable } from '../table.ts';
import { count } from '../text.ts';
import { openServer, type ServerClient } from './client.ts';
import type { ServerFlags } from './options.ts';

type Application = Omit<ApplicationStatus, 'resources' | 'pending'>;

/** What a controller says of all that it keeps. */
interface Standing {
  readonly controller: ControllerStatus;
  readonly applications: readonly Application[];
  /** Only those that are not as git says. */
  readonly resources: readonly ResourceStatus[];
}

export interface ServerStatusOptions extends ServerFlags {
  readonly output: 'text' | 'json';
  readonly watch?: boolean | undefined;
}

const WATCH_MS = 2_000;
const CLEAR = '\u001b[H\u001b[2J';

/** Shows how a controller and its applications stand; with `watch`, again and again until a signal comes. */
export async function statusOfServer(options: ServerStatusOptions, surroundings: Surroundings): Promise<ExitCode> {
  const server = openServer(options, surroundings);
  const { out } = surroundings.terminal;
  if (options.watch !== true) {
    const standing = await standingOf(server);
    out.write(textOf(standing, server.url, options.output));
    return exitCodeOf(standing);
  }
  let shown = '';
  // The first answer must come; later ones may fail, for a server is restarted sometimes.
  let standing = await standingOf(server);
  while (!surroundings.signal.aborted) {
    const text = textOf(standing, server.url, options.output);
    if (text !== shown) out.write(out.isTerminal ? `${CLEAR}${text}` : text);
    shown = text;
    standing = await nextStanding(server, standing, surroundings);
  }
  return EXIT.ok;
}

async function nextStanding(server: ServerClient, former: Standing, surroundings: Surroundings): Promise<Standing> {
  const { clock, signal, terminal } = surroundings;
  let isLost = false;
  for (;;) {
    await clock.sleep(WATCH_MS, signal).catch(() => {});
    if (signal.aborted) return former;
    try {
      return await standingOf(server);
    } catch (error) {
      if (!(error instanceof PortolanError) || error.disposition === 'invalid') throw error;
      if (!isLost && !signal.aborted) terminal.err.write(`note: ${safeLine(error.message)} Trying again.\n`);
      isLost = true;
    }
  }
}

async function standingOf(server: ServerClient): Promise<Standing> {
  const controller = (await server.get('status', 'phase')) as ControllerStatus;
  const applications: Application[] = [];
  for await (const one of server.list('applications')) applications.push(one as Application);
  const resources: ResourceStatus[] = [];
  for await (const one of server.list('resources', { condition: 'Ready!=True' })) resources.push(one as ResourceStatus);
  return { controller, applications, resources };
}

function textOf(standing: Standing, url: string, output: 'text' | 'json'): string {
  if (output === 'json') return `${JSON.stringify({ formatVersion: 1, ...standing }, null, 2)}\n`;
  const { controller, applications } = standing;
  const { source, counts } = controller;
  const head = `${url}: ${controller.phase}, source ${source.name} at ${source.acceptedRevision ?? 'no revision yet'}`;
  const parts = [
    count(counts.applications, 'application'),
    `${counts.ready} ready`,
    ...(['drifted', 'held', 'failing', 'suspended'] as const).flatMap((name) =>
      counts[name] > 0 ? [`${counts[name]} ${name}`] : [],
    ),
  ];
  const table = applications.length === 0 ? '' : `\n${tableOf(standing)}`;
  return `${safeLine(head)}\n${parts.join(', ')}\n${table}${remedies(standing)}`;
}

function tableOf({ applications, resources }: Standing): string {
  const byApplication = Map.groupBy(resources, ({ application }) => application);
  const rows = applications.flatMap((one) => {
    const why = whyOf(one);
    const below = (byApplication.get(one.id) ?? []).map((resource) => {
      const said = whyOfResource(resource);
      // What keeps the whole application is said once.
      return [`  ${resource.id}`, ...wordsOf(resource.conditions), said === why ? '' : said];
    });
    return [[one.id, ...wordsOf(one.conditions), why], ...below];
  });
  return renderTable(['resource', 'ready', 'healthy', 'reason', 'message'], rows);
}

function wordsOf(conditions: readonly Condition[]): readonly string[] {
  const ready = conditionOf(conditions, 'Ready');
  return [ready?.status ?? 'Unknown', conditionOf(conditions, 'Healthy')?.status ?? 'Unknown', ready?.reason ?? ''];
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
  }
}

/** What to do about each thing that waits for a person, below the table. */
function remedies({ controller, applications, resources }: Standing): string {
  const { error } = controller.source;
  const lines = [
    ...(error === null ? [] : [`source: ${error.message} ${error.remedy}`]),
    ...applications.flatMap(({ id, lastError, approval, pause }) => {
      const name = id.slice('Application/'.length);
      return [
        ...(lastError === null ? [] : [`${id}: ${lastError.remedy}`]),
        ...(approval === null ? [] : [`${id}: a guard refused its plan; portolan approve ${name} ${approval.digest}`]),
        ...(pause?.type === 'suspended' ? [`${id}: portolan resume ${name}`] : []),
      ];
    }),
    ...resources.flatMap(({ id, holds }) => holds.map(({ remedy }) => `${id}: ${remedy}`)),
  ];
  return lines.length === 0 ? '' : `\n${lines.map((line) => `→ ${safeLine(line)}\n`).join('')}`;
}

function exitCodeOf({ controller, applications, resources }: Standing): ExitCode {
  const codes: ExitCode[] = [];
  if (controller.source.error !== null) codes.push(EXIT.failed);
  for (const { lastError, failures, approval, conditions } of applications) {
    if (lastError !== null && failures > 0) codes.push(EXIT.failed);
    if (approval !== null || conditionOf(conditions, 'Stalled')?.status === 'True') codes.push(EXIT.held);
  }
  if (resources.some(({ holds }) => holds.length > 0)) codes.push(EXIT.held);
  return worstOf(codes) ?? EXIT.ok;
}
