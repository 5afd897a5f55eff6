import { moveComponent } from './applications.ts';
import { isRecord } from './body.ts';
import type { ServerFault } from './faults.ts';
import { matchRoute } from './routes.ts';
import type { SandboxState } from './state.ts';
import type { Dialect, SandboxRequest, SandboxResponse } from './wire.ts';

/** Faults that someone else causes: the platform's state changes before the request is answered. */
type StateFault = Extract<ServerFault, { type: 'edit-rule' | 'move-component' }>;

export function isStateFault(fault: ServerFault | undefined): fault is StateFault {
  return fault?.type === 'edit-rule' || fault?.type === 'move-component';
}

/** Changes what the request is about: a rule or a component of the application in its path. Without one, nothing. */
export function changeState(state: SandboxState, fault: StateFault, dialect: Dialect, request: SandboxRequest): void {
  const match = matchRoute(dialect, request.method, request.path);
  if (match.type === 'not-found') return;
  const { app_id: appId = '', service_id: given = '', rule_id: ruleId = '' } = match.params;
  const components = state.components.in('application', appId);
  if (fault.type === 'move-component') {
    const component = components.find((row) => row.id === given || row.alias === given) ?? components[0];
    if (component !== undefined) moveComponent(state, component.id, fault.application);
    return;
  }
  const rules = state.rules.in('application', appId).filter((row) => row.type !== 0);
  const rule = rules.find((row) => row.id === ruleId) ?? rules[0];
  if (rule !== undefined) state.rules.put({ ...rule, domain: fault.domain ?? `edited-${rule.domain}` });
}

/** The answer as the fault leaves it. */
export function changedAnswer(fault: ServerFault | undefined, answer: SandboxResponse): SandboxResponse {
  if (fault?.type !== 'fraction' && fault?.type !== 'lost-samples') return answer;
  if (answer.headers['content-type'] !== 'application/json') return answer;
  const body: unknown = JSON.parse(answer.body);
  return { ...answer, body: JSON.stringify(fault.type === 'fraction' ? withFraction(body) : withoutSamples(body)) };
}

/** Changes the detail as if a component's memory were not a multiple of 32 MiB. */
function withFraction(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { app_id: id, used_cpu: usedCpu } = body;
  if (typeof id !== 'number' || typeof usedCpu !== 'number') return body;
  return { ...body, app_id: String(id), used_cpu: usedCpu + 0.4375 };
}

/** Every series stays, with nothing in it. */
function withoutSamples(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withoutSamples);
  if (!isRecord(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, item]) => [
      name,
      (name === 'value' || name === 'values') && Array.isArray(item) ? [] : withoutSamples(item),
    ]),
  );
}
