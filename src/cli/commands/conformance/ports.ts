import { addPort, deletePort, type PortActionFields, updatePort } from '../../../kinds/component/requests.ts';
import type { PortProtocol } from '../../../model/observed.ts';
import type { Verdict } from '../../../platform/verdict.ts';
import { expectedPort, PORT_STEPS, type PortPicture, type PortStep, type Presence, PROTOCOLS } from './expectations.ts';
import type { Findings } from './findings.ts';
import type { Ground } from './ground.ts';
import { listEndpoints } from './server.ts';

/** A port as the server shows it; `undefined` in a member: this server does not show it. */
export type SeenPort = Omit<PortPicture, 'rules' | 'endpoint'> & {
  readonly rules: Presence | undefined;
  readonly endpoint: Presence | undefined;
};

/** Reads everything that a server shows of one port. */
export async function seePort(ground: Ground, serviceId: string, port: number): Promise<SeenPort | 'absent'> {
  const { server, app } = ground;
  const records = await server.client.ports(app, serviceId);
  const record = records?.find((one) => one.port === port);
  if (record === undefined) return 'absent';
  const rules = ground.isExtended ? await server.client.rules(app) : { readable: false as const };
  const endpoints = ground.isExtended ? await listEndpoints(server, app) : undefined;
  return {
    protocol: record.protocol as PortProtocol,
    inner: record.inner,
    outer: record.outer,
    alias:
      record.alias === aliasOf(port, 'first') ? 'first' : record.alias === aliasOf(port, 'second') ? 'second' : 'other',
    rules: rules.readable
      ? presence(
          rules.value.filter((rule) => rule.serviceId === serviceId && rule.port === port).map(({ outer }) => outer),
        )
      : undefined,
    endpoint:
      endpoints === undefined
        ? undefined
        : presence(
            endpoints
              .filter((row) => row.service_id === serviceId && row.container_port === port)
              .map((row) => row.is_outer_service === true),
          ),
  };
}

function aliasOf(port: number, alias: 'first' | 'second'): string {
  return alias === 'first' ? `P${port}` : `Q${port}`;
}

function presence(active: readonly boolean[]): Presence {
  if (active.length === 0) return 'none';
  return active.includes(true) ? 'active' : 'inactive';
}

/** Text that two pictures share if the server shows the same of them. */
export function portText(port: PortPicture | SeenPort | 'absent', seen: SeenPort | 'absent' = port): string {
  if (port === 'absent') return 'absent';
  const { protocol, inner, outer, alias, rules, endpoint } = port;
  const shown = seen === 'absent' ? { rules, endpoint } : seen;
  return [
    protocol,
    `inner ${inner ? 'open' : 'closed'}`,
    `outer ${outer ? 'open' : 'closed'}`,
    `${alias} alias`,
    ...(shown.rules === undefined ? [] : [`rules ${rules}`]),
    ...(shown.endpoint === undefined ? [] : [`endpoint ${endpoint}`]),
  ].join(', ');
}

/** Steps that one walk may take; it ends earlier when every transition was seen. */
const STEPS_MAX = 1500;

/**
 * Walks one port through every step in every state that the tables can reach, and compares the state after each. A step that
 * turned out differently is not used to get anywhere again.
 */
export async function checkPorts(ground: Ground, findings: Findings, signal: AbortSignal): Promise<void> {
  const [serviceId] = ground.components;
  const port = ground.freePort();
  const seen = new Set<string>();
  const distrusted = new Set<string>();
  let current: PortPicture | 'absent' = 'absent';
  for (let taken = 0; taken < STEPS_MAX && !signal.aborted; taken += 1) {
    const next = nextStep(current, seen, distrusted, ground.isExtended);
    if (next === undefined) break;
    const key = stepKey(current, next);
    const wanted: PortPicture | 'refused' | 'absent' =
      current === 'absent' ? freshPort(next) : expectedPort(current, next as PortStep);
    const expected: PortPicture | 'absent' = wanted === 'refused' ? current : wanted;
    const verdict = await sendStep(ground, serviceId, port, next);
    const after = await seePort(ground, serviceId, port);
    if (!seen.has(key)) {
      const title = `${stepTitle(next)} of a port that is ${current === 'absent' ? 'absent' : portText(current, after)}`;
      const [hoped, shown] = [portText(expected, after), portText(after)];
      const happened = hoped !== shown ? 'otherwise' : wanted === 'refused' ? 'refused' : 'done';
      const isRight = findings.check(`ports/${key}`, title, hoped, `${shown}${contradiction(happened, verdict)}`);
      if (!isRight) distrusted.add(key);
    }
    seen.add(key);
    current = after === 'absent' ? 'absent' : completed(after, expected);
  }
}

/** What Portolan concludes from the answer must not contradict what happened; being in doubt never does. */
function contradiction(happened: 'done' | 'refused' | 'otherwise', { verdict }: Verdict): string {
  if (verdict === 'applied' && happened === 'refused') return ', and the answer is a success';
  const isRefusal = verdict === 'rejected' || verdict === 'exists';
  return isRefusal && happened === 'done' ? ', and the answer is a refusal' : '';
}

/** What the server does not show is as it is expected. */
function completed(after: SeenPort, expected: PortPicture | 'absent'): PortPicture {
  const otherwise = expected === 'absent' ? { rules: 'none' as const, endpoint: 'none' as const } : expected;
  return { ...after, rules: after.rules ?? otherwise.rules, endpoint: after.endpoint ?? otherwise.endpoint };
}

type Step = PortStep | `add_${PortProtocol}` | `add_${PortProtocol}_inner`;

const ADDITIONS: readonly Step[] = PROTOCOLS.flatMap((protocol) => [
  `add_${protocol}` as const,
  `add_${protocol}_inner` as const,
]);

function stepKey(current: PortPicture | 'absent', step: Step): string {
  if (current === 'absent') return step;
  const { protocol, inner, outer } = current;
  return `${protocol}-${inner ? 'inner' : 'closed'}${outer ? '-outer' : ''}/${step}`;
}

/** The first step on the shortest way to a transition that was not seen; breadth first through the tables. */
function nextStep(
  start: PortPicture | 'absent',
  seen: ReadonlySet<string>,
  distrusted: ReadonlySet<string>,
  canDelete: boolean,
): Step | undefined {
  const visited = new Set([JSON.stringify(start)]);
  let frontier: { readonly state: PortPicture | 'absent'; readonly first: Step | undefined }[] = [
    { state: start, first: undefined },
  ];
  while (frontier.length > 0) {
    const further: typeof frontier = [];
    for (const { state, first } of frontier) {
      for (const step of possible(state, canDelete)) {
        const key = stepKey(state, step);
        if (!seen.has(key)) return first ?? step;
        if (distrusted.has(key)) continue;
        const wanted = state === 'absent' ? freshPort(step) : expectedPort(state, step as PortStep);
        if (wanted === 'refused') continue;
        const known = JSON.stringify(wanted);
        if (visited.has(known)) continue;
        visited.add(known);
        further.push({ state: wanted, first: first ?? step });
      }
    }
    frontier = further;
  }
  return undefined;
}

function possible(state: PortPicture | 'absent', canDelete: boolean): readonly Step[] {
  if (state === 'absent') return ADDITIONS;
  return PORT_STEPS.filter((step) => step !== `to_${state.protocol}` && (canDelete || step !== 'delete'));
}

function freshPort(step: Step): PortPicture {
  const [, protocol = 'http', inner] = step.split('_');
  return {
    protocol: protocol as PortProtocol,
    inner: inner !== undefined,
    outer: false,
    alias: 'first',
    rules: 'none',
    endpoint: 'none',
  };
}

function stepTitle(step: Step): string {
  return step.replaceAll('_', ' ');
}

function sendStep(ground: Ground, serviceId: string, port: number, step: Step): Promise<Verdict> {
  const { server, app } = ground;
  if (step.startsWith('add_')) {
    const { protocol, inner } = freshPort(step);
    return server.send(addPort({ app, serviceId, port: { port, protocol, inner, alias: aliasOf(port, 'first') } }));
  }
  if (step === 'delete') return server.send(deletePort({ app, serviceId, port }));
  return changePort(ground, serviceId, port, step as Exclude<PortStep, 'delete'>);
}

async function changePort(
  { server, app }: Ground,
  serviceId: string,
  port: number,
  step: Exclude<PortStep, 'delete'>,
): Promise<Verdict> {
  const send = (change: PortActionFields) => server.send(updatePort({ app, serviceId, port, change }));
  if (step.startsWith('to_')) return send({ action: 'change_protocol', protocol: step.slice(3) as PortProtocol });
  if (step !== 'rename') return send({ action: step as 'open_inner' });
  const record = (await server.client.ports(app, serviceId))?.find((one) => one.port === port);
  return send({
    action: 'change_port_alias',
    alias: aliasOf(port, record?.alias === aliasOf(port, 'first') ? 'second' : 'first'),
    serviceName: record?.serviceName ?? '',
  });
}
