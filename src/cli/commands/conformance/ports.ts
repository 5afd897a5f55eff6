import type { PortProtocol } from '../../../kinds/component/wire.ts';
import type { Verdict } from '../../../platform/verdict.ts';
import { expectedPort, PORT_STEPS, type PortPicture, type PortStep, PROTOCOLS } from './expectations.ts';
import { aliasOf, partsOf, portText, type SeenPort, seePort, type Suite } from './suite.ts';

type Step = PortStep | `add_${PortProtocol}` | `add_${PortProtocol}_inner`;
type Port = PortPicture | 'absent';

/** Maximum steps of a walk. It ends earlier when every transition was seen. */
const STEPS_MAX = 1500;

/**
 * Changes one port by every step in every state that the tables can reach, and compares the state after each. A step with
 * an unexpected result is not used again to reach another state.
 */
export async function checkPorts(suite: Suite): Promise<void> {
  const port = suite.freePort();
  const seen = new Set<string>();
  const distrusted = new Set<string>();
  let current: Port = 'absent';
  const part = partsOf(suite);
  for (let taken = 0; taken < STEPS_MAX && !suite.signal.aborted; taken += 1) {
    const next = nextStep(current, seen, distrusted, suite.isExtended);
    if (next === undefined) break;
    const key = stepKey(current, next);
    const wanted = expectedAfter(current, next);
    const expected: Port = wanted === 'refused' ? current : wanted;
    const isNew = !seen.has(key);
    let after: SeenPort | 'absent' | undefined;
    await part(key, `${next.replaceAll('_', ' ')} of a port`, async () => {
      const verdict = await sendStep(suite, port, next);
      after = await seePort(suite, port);
      if (isNew && !checkStep(suite, key, { current, next, wanted, after, verdict })) distrusted.add(key);
    });
    // If the read failed, read again: the walk must know the state of the port.
    if (after === undefined) distrusted.add(key);
    after ??= await seePort(suite, port);
    seen.add(key);
    current = after === 'absent' ? 'absent' : completed(after, expected);
  }
}

interface Taken {
  readonly current: Port;
  readonly next: Step;
  readonly wanted: Port | 'refused';
  readonly after: SeenPort | 'absent';
  readonly verdict: Verdict;
}

function checkStep({ check }: Suite, key: string, { current, next, wanted, after, verdict }: Taken): boolean {
  const title = `${next.replaceAll('_', ' ')} of a port that is ${current === 'absent' ? 'absent' : portText(current, after)}`;
  const [hoped, shown] = [portText(wanted === 'refused' ? current : wanted, after), portText(after)];
  const happened = hoped !== shown ? 'otherwise' : wanted === 'refused' ? 'refused' : 'done';
  return check(key, title, hoped, `${shown}${contradiction(happened, verdict)}`);
}

/** Returns a text when the verdict on the answer contradicts the state. A verdict of "in doubt" never does. */
function contradiction(happened: 'done' | 'refused' | 'otherwise', { verdict }: Verdict): string {
  if (verdict === 'applied' && happened === 'refused') return ', and the answer is a success';
  const isRefusal = verdict === 'rejected' || verdict === 'exists';
  return isRefusal && happened === 'done' ? ', and the answer is a refusal' : '';
}

/** Fills in members that the server does not show, from the expected state. */
function completed(after: SeenPort, expected: Port): PortPicture {
  const otherwise = expected === 'absent' ? ({ rules: 'none', endpoint: 'none' } as const) : expected;
  return { ...after, rules: after.rules ?? otherwise.rules, endpoint: after.endpoint ?? otherwise.endpoint };
}

function stepKey(current: Port, step: Step): string {
  if (current === 'absent') return step;
  const { protocol, inner, outer } = current;
  return `${protocol}-${inner ? 'inner' : 'closed'}${outer ? '-outer' : ''}/${step}`;
}

/**
 * Returns the first step on the shortest path to a transition that was not seen, by breadth-first search through the
 * tables.
 */
function nextStep(
  start: Port,
  seen: ReadonlySet<string>,
  distrusted: ReadonlySet<string>,
  canDelete: boolean,
): Step | undefined {
  const visited = new Set([JSON.stringify(start)]);
  const ways: { readonly state: Port; readonly first?: Step }[] = [{ state: start }];
  for (const { state, first } of ways) {
    for (const step of possible(state, canDelete)) {
      const key = stepKey(state, step);
      if (!seen.has(key)) return first ?? step;
      if (distrusted.has(key)) continue;
      const wanted = expectedAfter(state, step);
      const known = JSON.stringify(wanted);
      if (wanted === 'refused' || visited.has(known)) continue;
      visited.add(known);
      ways.push({ state: wanted, first: first ?? step });
    }
  }
  return undefined;
}

function possible(state: Port, canDelete: boolean): readonly Step[] {
  if (state === 'absent') return PROTOCOLS.flatMap((protocol) => [`add_${protocol}`, `add_${protocol}_inner`] as const);
  return PORT_STEPS.filter((step) => step !== `to_${state.protocol}` && (canDelete || step !== 'delete'));
}

function expectedAfter(current: Port, step: Step): Port | 'refused' {
  return current === 'absent' ? freshPort(step) : expectedPort(current, step as PortStep);
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

async function sendStep(
  { addPort, changePort, deletePort, portOf }: Suite,
  port: number,
  step: Step,
): Promise<Verdict> {
  const { protocol, inner } = freshPort(step);
  if (step.startsWith('add_')) return addPort(port, { protocol, inner });
  if (step === 'delete') return deletePort(port);
  if (step.startsWith('to_'))
    return changePort(port, { action: 'change_protocol', protocol: step.slice(3) as PortProtocol });
  if (step !== 'rename') return changePort(port, { action: step as 'open_inner' });
  const record = await portOf(port);
  return changePort(port, {
    action: 'change_port_alias',
    alias: aliasOf(port, record?.alias === aliasOf(port, 'first') ? 'second' : 'first'),
    serviceName: record?.serviceName ?? '',
  });
}
