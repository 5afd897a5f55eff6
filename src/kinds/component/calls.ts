import { listRules } from '../http-gateway-rule/readings.ts';
import { listComponents, listEndpoints, listPorts, portsOf, portsReading } from './readings.ts';
import { keyOf } from '../../model/reading.ts';
import { addPort, deletePort, updatePort } from './requests.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { PortRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { WriteRequest } from '../../platform/writes.ts';
import {
  type AppliedContext,
  type KindCalls,
  type Obstacle,
  type ObstacleContext,
  refuseId,
  seenDone,
  type SendingContext,
  type ManualOutcome,
  type ManualContext,
} from '../calls.ts';
import {
  absentSoFar,
  bareRecording,
  type CallContext,
  ledgerRecordOf,
  type ObserveContext,
  recordedAs,
  type Recording,
  type Resolution,
  type ResolveContext,
  type ScopeReading,
  type Withdrawal,
} from '../reconciled.ts';
import { removalMarks } from '../http-gateway-rule/asserted.ts';
import { observeWithdrawal } from '../http-gateway-rule/withdrawn.ts';
import { formerValues } from './diff.ts';
import { owesEndpoint } from './owed.ts';
import { findComponent } from './identity.ts';
import type { ComponentLive } from './live.ts';
import { withSent } from './sent.ts';
import type { ComponentSpec } from './spec.ts';
import { type ComponentStep, componentKey, portKey } from './steps.ts';

async function observe({ resource, ledgerView, reader }: ObserveContext<ComponentSpec>): Promise<ComponentLive> {
  const identity = await findComponent(resource, ledgerView, reader);
  if (identity.type !== 'known') return identity;
  const { serviceId } = identity;
  const owes = ledgerView.objects.some((object) => isPortOf(object, serviceId) && owesEndpoint(object));
  const [ports, rules, endpoints] = await Promise.all([
    reader.read(listPorts(serviceId)),
    reader.read(listRules),
    owes ? reader.read(listEndpoints) : undefined,
  ]);
  const listed = new Set(resource.spec.ports.map(({ port }) => portKey(serviceId, port)));
  const departs = ledgerView.objects.some(
    (object) => object.origin === 'created' && isPortOf(object, serviceId) && !listed.has(object.naturalKey),
  );
  const mayDelete = resource.spec.unlistedPorts === 'delete' || departs;
  const canDeletePorts = mayDelete && (await reader.has(listComponents));
  return {
    type: 'observed',
    serviceId,
    ports: ports.readable ? ports.value : undefined,
    absence: ports.readable ? undefined : ports.absent,
    rules,
    ...(endpoints === undefined ? {} : { endpoints }),
    canDeletePorts,
  };
}

function isPortOf({ kind, naturalKey }: OwnedObject, serviceId: string): boolean {
  return kind === 'Component' && naturalKey.startsWith(`port/${serviceId}/`);
}

function toWrite(step: ComponentStep, { app }: CallContext): WriteRequest {
  const { serviceId, port } = step;
  switch (step.type) {
    case 'add_port':
      return addPort({ app, serviceId, port: step });
    case 'open_inner':
    case 'close_inner':
    case 'open_outer':
    case 'close_outer':
      return updatePort({ app, serviceId, port, change: { action: step.type } });
    case 'change_protocol':
      return updatePort({ app, serviceId, port, change: { action: 'change_protocol', protocol: step.protocol } });
    case 'set_service_name':
    case 'change_port_alias':
      return updatePort({
        app,
        serviceId,
        port,
        change: { action: 'change_port_alias', alias: step.alias, serviceName: step.serviceName },
      });
    case 'delete_port':
      return deletePort({ app, serviceId, port });
    default:
      return unreachable(step);
  }
}

/** Returns the values of the port before the write; null if it does not exist. */
function preimage(step: ComponentStep, live: ComponentLive | undefined): Json {
  if (live?.type !== 'observed') return null;
  const row = live.ports?.find((port) => port.port === step.port);
  return row === undefined ? null : formerValues(row);
}

function applied(step: ComponentStep, { prior, preimage: before }: AppliedContext): Recording | 'gone' {
  if (step.type === 'delete_port') return 'gone';
  if (step.type === 'set_service_name') return namedComponent(step.serviceId, step.serviceName, prior);
  const isNew = step.type === 'add_port';
  const former = (before ?? {}) as JsonObject;
  return {
    naturalKey: portKey(step.serviceId, step.port),
    remoteId: null,
    remoteAux: {
      ...(prior?.remoteAux ?? (isNew ? {} : { former })),
      ...openedBy(step),
      ...(isNew && step.listed !== undefined ? { listed: step.listed } : {}),
    },
    // A row of a refused creation does not describe the port that exists now.
    origin: isNew && prior?.state === 'gone' ? 'created' : (prior?.origin ?? (isNew ? 'created' : 'observed')),
    state: 'present',
    lastApplied: { ...prior?.lastApplied, ...assertedBy(step) },
    // An obligation ends when the port is observed open, not when the platform accepts the request.
    obligation: prior?.obligation ?? null,
  };
}

/**
 * Returns the rows of the port and the component that a step changes, with their former values and the removal marks of their
 * manifest: they are restored even if the manifest is removed before the change was observed.
 */
function recordedFirst(
  step: ComponentStep,
  { ledgerView, preimage: live, resource }: SendingContext<ComponentSpec>,
): readonly Recording[] {
  const isListed = resource?.spec.ports.some(({ port }) => port === step.port) === true;
  const { fields, names } = changedBy(step);
  const row = (naturalKey: string): OwnedObject | undefined => ledgerRecordOf(ledgerView, 'Component', naturalKey);
  const [key, component] = [portKey(step.serviceId, step.port), row(componentKey(step.serviceId))];
  const rows: Recording[] = [];
  if (isListed && fields.length > 0) {
    const port = row(key);
    const known = port === undefined || port.state === 'gone' ? bareRecording(key, live) : recordedAs(port);
    const opened = { ...known, remoteAux: { ...known.remoteAux, ...openedBy(step) } };
    rows.push(withSent(opened, fields, removalMarks(resource)));
  }
  if (names && resource !== undefined && component !== undefined)
    rows.push(withSent(withFormerName(component, step), ['serviceName'], removalMarks(resource)));
  return rows;
}

function withFormerName(component: OwnedObject, step: ComponentStep): Recording {
  const former = 'former' in step ? { former: step.former } : {};
  return recordedAs(component, { remoteAux: { ...component.remoteAux, ...former } });
}

/** Returns the mark of a port that Portolan opened: the platform made its default rule. */
function openedBy(step: ComponentStep): JsonObject {
  return step.type === 'open_outer' && step.temporary !== true ? { opened: true } : {};
}

/** Returns the fields that a request changes. One that is owed back at once is not among them: its obligation says so. */
function changedBy(step: ComponentStep): { readonly fields: readonly string[]; readonly names: boolean } {
  if (step.type === 'set_service_name') return { fields: [], names: true };
  if (step.type === 'change_port_alias') return { fields: ['alias'], names: step.setsServiceName === true };
  return { fields: step.type === 'add_port' ? [] : Object.keys(assertedBy(step)), names: false };
}

function namedComponent(serviceId: string, serviceName: string, prior: OwnedObject | undefined): Recording {
  return {
    naturalKey: componentKey(serviceId),
    remoteId: serviceId,
    remoteAux: prior?.remoteAux ?? {},
    origin: 'observed',
    state: 'present',
    lastApplied: { ...prior?.lastApplied, serviceName },
    obligation: null,
  };
}

/** Returns the fields that a step sets permanently; a temporary step sets none. */
function assertedBy(step: ComponentStep): JsonObject {
  switch (step.type) {
    case 'add_port':
      return { protocol: step.protocol, inner: step.inner, ...(step.alias === undefined ? {} : { alias: step.alias }) };
    case 'open_inner':
    case 'close_inner':
      return { inner: step.type === 'open_inner' };
    case 'open_outer':
    case 'close_outer':
      return step.temporary ? {} : { outer: step.type === 'open_outer' };
    case 'change_protocol':
      return { protocol: step.protocol };
    case 'change_port_alias':
      return step.temporary ? {} : { alias: step.alias };
    case 'set_service_name':
    case 'delete_port':
      return {};
    default:
      return unreachable(step);
  }
}

/** Decides an addition by the listing of ports. Every other step is repeatable: the next plan compares again. */
async function resolve(step: ComponentStep, context: ResolveContext): Promise<Resolution> {
  if (step.type !== 'add_port')
    return {
      type: 'superseded',
      evidence: 'the request can be repeated safely; the ports are read and compared again',
    };
  const ports = await portsOf(context.reader, step.serviceId);
  if (ports === undefined) return { type: 'rejected', evidence: `component ${step.serviceId} does not exist any more` };
  const row: PortRecord | undefined = ports.find((port) => port.port === step.port);
  if (row === undefined) return absentSoFar(`port ${step.port} is not in the listing of ${ports.length} ports`);
  const recording = applied(step, seenDone(context));
  if (recording === 'gone') throw new Error('adding a port cannot remove it');
  return { type: 'applied', recording, evidence: `port ${step.port} is in the listing` };
}

/**
 * Prevents a change of protocol while outer access is open: the platform refuses it, or leaves a broken port. If outer access
 * was open when the plan was made, only a reading proves that it is closed.
 */
async function obstacle(
  step: ComponentStep,
  { preimage: before, reader }: ObstacleContext,
): Promise<Obstacle | undefined> {
  const { outer } = (before ?? {}) as Partial<PortRecord>;
  if (step.type !== 'change_protocol' || outer !== true) return undefined;
  const row = (await portsOf(reader, step.serviceId))?.find(({ port }) => port === step.port);
  if (row?.outer === false) return undefined;
  return {
    why: `the platform accepted the request that closes outer access of port ${step.port}, and shows ${row === undefined ? 'no such port' : 'it open'}; a change of protocol would leave the port broken`,
    isUntaken: true,
  };
}

async function appliedManually(step: ComponentStep, context: ManualContext): Promise<ManualOutcome> {
  refuseId(context.id, 'a port has no id of its own');
  return { recording: applied(step, { ...context, evidence: { type: 'none' } }), warnings: [] };
}

const REACHES: readonly ComponentStep['type'][] = ['open_outer', 'close_outer', 'change_protocol', 'delete_port'];

/** Opening and closing outer access creates, enables and disables rules and endpoints; deleting a port deletes its rules. */
function touches(step: ComponentStep): readonly ScopeReading[] {
  const rules = REACHES.includes(step.type) && step.type !== 'change_protocol';
  return [
    portsReading(step.serviceId),
    ...(rules ? [keyOf(listRules)] : []),
    ...(REACHES.includes(step.type) ? [keyOf(listEndpoints)] : []),
  ];
}

/** Reads and writes of ports. */
export const componentCalls: KindCalls<ComponentSpec, ComponentLive, ComponentStep, Withdrawal> = {
  observe,
  observeWithdrawn: observeWithdrawal,
  isAnother: ({ naturalKey }, live) => live.type === 'observed' && live.serviceId !== naturalKey.split('/')[1],
  preimage,
  component: (step) => step.serviceId,
  touches,
  toWrite,
  recordedFirst,
  applied,
  obstacle,
  appliedManually,
  resolve,
};
