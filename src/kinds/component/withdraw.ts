import type { JsonObject } from '../../model/json.ts';
import type { PortRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Resource } from '../../model/resource.ts';
import {
  type Difference,
  noDifference,
  ledgerRecordOf,
  recordedAs,
  type Recording,
  type WithdrawContext,
} from '../reconciled.ts';
import { withRemovalMarks } from '../http-gateway-rule/asserted.ts';
import { diffPorts } from './diff.ts';
import { isFixedBy } from './identity.ts';
import { absenceOf, componentAgain, shownAgain } from './missing.ts';
import { mayBeOurs } from './sent.ts';
import { restoration } from './owed.ts';
import type { ComponentSpec } from './spec.ts';
import { type ComponentStep, componentKey, portKey } from './steps.ts';

/**
 * Returns the steps for a component removed from git. Ports that Portolan created are deleted by the rules of pruning. Others
 * get their former values back if the manifest said so, and outer access that was closed temporarily. The rest stays.
 */
export function withdrawComponent(object: OwnedObject, context: WithdrawContext): Difference<ComponentStep> {
  const [type, serviceId = ''] = object.naturalKey.split('/');
  if (isManaged(serviceId, context)) return noDifference;
  if (type === 'component') return withdrawDocument(object, serviceId, context);
  const component = ledgerRecordOf(context.ledgerView, 'Component', componentKey(serviceId));
  // Its ports are decided together with their component.
  if (component !== undefined && component.source === object.source) return noDifference;
  return letGo([object], serviceId, context);
}

/** Returns whether a manifest that was not compared names the component: its ports may be desired then. */
function isManaged(serviceId: string, { resources, ledgerView }: WithdrawContext): boolean {
  const key = componentKey(serviceId);
  return [...resources.values()].some((resource) => {
    if (resource.kind !== 'Component') return false;
    const { serviceId: named } = resource.spec as ComponentSpec;
    if (named !== undefined) return named === serviceId;
    return ledgerView.objects.some(
      (object) => object.naturalKey === key && isFixedBy(object, resource as Resource<ComponentSpec>),
    );
  });
}

function withdrawDocument(
  component: OwnedObject,
  serviceId: string,
  context: WithdrawContext,
): Difference<ComponentStep> {
  const prefix = `${portKey(serviceId, 0).slice(0, -1)}`;
  const rows = context.ledgerView.objects.filter(
    ({ kind, source, naturalKey }) =>
      kind === 'Component' && source === component.source && naturalKey.startsWith(prefix),
  );
  const ports = context.ports.get(serviceId);
  if (ports === undefined) return withoutPorts(component, rows, serviceId, context);
  const { ledgerView, permissions, source, scope, nowMs, resources, rules, canDeletePorts } = context;
  const live = { type: 'observed', serviceId, ports, rules, canDeletePorts } as const;
  const said = component.remoteAux['listed'] as JsonObject | undefined;
  // The component's row is newer than the port's; `keep` in either applies.
  const marks = (row: OwnedObject): JsonObject => {
    const own = row.remoteAux['listed'] as JsonObject;
    return { ...(said ?? own), ...(own['prune'] === 'keep' ? { prune: 'keep' } : {}) };
  };
  const formerName = formerServiceName(component, ports, said);
  const resource = emptyDocument(component, serviceId, permissions.prune ? formerName : undefined);
  const observed = { resource, live, siblings: resources, ledgerView, permissions, source, scope, nowMs };
  const difference = diffPorts(observed, marks);
  const rest = rows.filter(
    (row) => !difference.staying.has(row.naturalKey) && !difference.forget.includes(row.naturalKey),
  );
  const again = componentAgain(component);
  const isDone = rows.length === rest.length + difference.forget.length && formerName === undefined;
  const left = letGo(isDone ? [component, ...rest] : rest, serviceId, context);
  const nameNote = {
    code: 'prune/not-asked',
    message: `${component.resource} was removed from the source; its service name stays as it is, and apply --prune would give it back its former one (${formerName})`,
  };
  return {
    ...noDifference,
    steps: difference.steps,
    holds: difference.holds,
    notes: [...difference.notes, ...(formerName === undefined || permissions.prune ? [] : [nameNote]), ...left.notes],
    waits: difference.waits,
    inSync: [
      ...difference.inSync,
      ...(again === undefined ? [] : [again]),
      ...ports.flatMap(
        ({ port }) => shownAgain(ledgerRecordOf(ledgerView, 'Component', portKey(serviceId, port)), observed) ?? [],
      ),
    ],
    forget: [...difference.forget, ...left.forget],
  };
}

/** Returns the row of a component with the marks of its manifest, which also decide about its ports; undefined: it has them. */
export function markedComponent(object: OwnedObject, resource: Resource): Recording | undefined {
  if (object.naturalKey !== componentKey(object.remoteId ?? '')) return undefined;
  const listed = withRemovalMarks((object.remoteAux['listed'] ?? {}) as JsonObject, resource);
  return listed && recordedAs(object, { remoteAux: { ...object.remoteAux, listed } });
}

/** Decides about a component whose ports were not read, or that two readings must prove to be no longer in the application. */
function withoutPorts(
  component: OwnedObject,
  rows: readonly OwnedObject[],
  serviceId: string,
  context: WithdrawContext,
): Difference<ComponentStep> {
  const absence = context.ports.has(serviceId) ? absenceOf(component, context.nowMs) : undefined;
  if (absence?.type !== 'unproven') return letGo([component, ...rows], serviceId, context);
  const { recording, untilMs } = absence;
  const message = `component ${serviceId} of ${component.resource} is not in this application; a second reading confirms that`;
  return { ...noDifference, inSync: [recording], waits: [{ message, untilMs }] };
}

/** Returns the former service name if it must be restored and is not yet set. */
function formerServiceName(
  component: OwnedObject,
  ports: readonly PortRecord[],
  marks: JsonObject | undefined,
): string | undefined {
  if (marks?.['onRemoval'] !== 'restore' || marks['prune'] === 'keep') return undefined;
  const former = (component.remoteAux['former'] as JsonObject | undefined)?.['serviceName'];
  if (!mayBeOurs(component, 'serviceName') || typeof former !== 'string' || former === '') return undefined;
  return ports.every(({ serviceName }) => serviceName === former) ? undefined : former;
}

/** Returns a manifest of the component without ports. */
function emptyDocument(
  component: OwnedObject,
  serviceId: string,
  serviceName: string | undefined,
): Resource<ComponentSpec> {
  return {
    id: component.resource,
    kind: 'Component',
    name: component.resource.slice('Component/'.length),
    labels: {},
    annotations: {},
    spec: {
      application: '',
      serviceId,
      ports: [],
      unlistedPorts: 'keep',
      ...(serviceName === undefined ? {} : { serviceName }),
    },
    position: { file: '', line: 0, column: 0 },
  };
}

/** Removes rows from the ledger, but first reopens ports that were closed temporarily: only these rows record that. */
function letGo(rows: readonly OwnedObject[], serviceId: string, context: WithdrawContext): Difference<ComponentStep> {
  const all = rows.map((row): Difference<ComponentStep> => {
    // Portolan deleted it: no note.
    if (row.state === 'deleting') return { ...noDifference, forget: [row.naturalKey] };
    const [, , port] = row.naturalKey.split('/');
    const live = context.ports.get(serviceId)?.find((candidate) => candidate.port === Number(port));
    const owed = restoration(row, serviceId, live, context.rules);
    if (owed !== undefined) return { ...noDifference, ...owed };
    const what = port === undefined ? `${row.resource} (${row.remoteId})` : `port ${port} of ${row.resource}`;
    const fate = fateOf(serviceId, port, live, context);
    const message = context.resources.has(row.resource)
      ? `the manifest of ${row.resource} no longer refers to component ${serviceId}${port === undefined ? '' : ` (port ${port})`}${fate}`
      : `${what} was removed from the source${fate}`;
    return { ...noDifference, notes: [{ code: 'component/withdrawn', message }], forget: [row.naturalKey] };
  });
  return {
    ...noDifference,
    steps: all.flatMap(({ steps }) => steps),
    holds: all.flatMap(({ holds }) => holds),
    notes: all.flatMap(({ notes }) => notes),
    forget: all.flatMap(({ forget }) => forget),
  };
}

function fateOf(
  serviceId: string,
  port: string | undefined,
  live: PortRecord | undefined,
  { ports }: WithdrawContext,
): string {
  if (ports.has(serviceId) && ports.get(serviceId) === undefined) return ', nor is the component in this application';
  if (ports.has(serviceId) && port !== undefined && live === undefined) return ', nor on the platform';
  return "; it stays on the platform as it is (a component's manifest decides about ports by unlistedPorts)";
}
