import type { JsonObject } from '../../model/json.ts';
import type { PortRecord, RuleRecord } from '../../model/observed.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Note } from '../../model/plan.ts';
import { type DiffContext, type Difference, type HoldProposal, noDifference, type Readable, type Recording, remembered, type StepProposal, type WithdrawContext } from '../reconciled.ts';
import { orderAliasMoves } from './alias-order.ts';
import type { ComponentIdentity } from './identity.ts';
import { openingRule } from './opening-rule.ts';
import { change, diffPort, type PortDifference, proposal, ruleEffects, stepKey } from './port-diff.ts';
import type { ComponentSpec, PortSpec } from './spec.ts';
import { type ComponentStep, componentKey, portKey } from './steps.ts';

/** What the platform says about one component. */
export type ComponentLive =
  | Exclude<ComponentIdentity, { type: 'known' }>
  | {
      readonly type: 'observed';
      readonly serviceId: string;
      /** undefined: the component is not there. */
      readonly ports: readonly PortRecord[] | undefined;
      readonly rules: Readable<readonly RuleRecord[]>;
      readonly canDeletePorts: boolean;
    };

type Context = DiffContext<ComponentSpec, ComponentLive>;
type Observed = Extract<ComponentLive, { type: 'observed' }> & { readonly ports: readonly PortRecord[] };
type Proposal = StepProposal<ComponentStep>;

/** What a component's ports need, port by port, with aliases and the service name ordered across them. */
export function diffComponent(context: Context): Difference<ComponentStep> {
  const { live } = context;
  if (live.type === 'deferred') return { ...noDifference, deferred: [live.deferred] };
  if (live.type === 'held') return { ...noDifference, holds: [live.hold] };
  if (live.ports === undefined) return { ...noDifference, holds: [missingComponent(context, live.serviceId)] };
  const observed: Observed = { ...live, ports: live.ports };

  const owner = otherOwner(context, observed.serviceId);
  if (owner !== undefined) return { ...noDifference, holds: [owner] };

  const ports = new Map(context.resource.spec.ports.map((spec) => [spec.port, diffListedPort(context, observed, spec)]));
  const naming = nameSteps(context, observed, ports);
  const unlisted = unlistedPorts(context, observed);
  const perPort = [...ports.values()];
  const steps = mergeSteps(perPort, naming.steps).concat(unlisted.steps);
  const holds = [...perPort.flatMap((port) => port.holds), ...naming.holds, ...unlisted.holds];
  return {
    ...noDifference,
    steps,
    holds,
    notes: unlisted.notes,
    deferred: naming.deferred,
    expects: perPort.flatMap((port) => port.expects),
    settled: settledObjects(context, observed, steps, holds),
    claims: [componentKey(observed.serviceId), ...claimedPorts(context, observed)],
    unchangedFields: perPort.reduce((sum, port) => sum + port.unchangedFields, 0) + naming.unchangedFields,
  };
}

/** A component that git no longer names: its ports stay as they are, and the ledger lets go of them. */
export function withdrawComponent(object: OwnedObject, _context: WithdrawContext): Difference<ComponentStep> {
  // Deleted by us, and gone: nothing to say.
  if (object.state === 'deleting') return { ...noDifference, forget: [object.naturalKey] };
  const what = object.naturalKey.startsWith('port/') ? `port ${object.naturalKey.split('/')[2]} of ${object.resource}` : `${object.resource} (${object.remoteId})`;
  return {
    ...noDifference,
    notes: [
      {
        code: 'component/withdrawn',
        message: `${what} is no longer in the source; it stays on the platform as it is (a component's manifest decides about ports by unlistedPorts)`,
      },
    ],
    forget: [object.naturalKey],
  };
}

function diffListedPort(context: Context, observed: Observed, spec: PortSpec): PortDifference {
  const { serviceId, rules, ports } = observed;
  const live = ports.find((port) => port.port === spec.port);
  const object = remembered(context.memory, 'Component', portKey(serviceId, spec.port));
  const openedBy = openingRule({ component: context.resource.name, serviceId, spec, live, rules, siblings: context.siblings });
  return diffPort({ serviceId, spec, live, rules, openedBy, owesOuter: object?.obligation?.['outer'] === true });
}

/** Alias changes and the service name, which a real server keeps once for all ports of a component. */
function nameSteps(context: Context, observed: Observed, ports: ReadonlyMap<number, PortDifference>) {
  const { spec } = context.resource;
  const { serviceId } = observed;
  const steps: Proposal[] = [];
  const holds: HoldProposal[] = [];
  const liveByPort = new Map(observed.ports.map((port) => [port.port, port]));
  const frees = new Map<string, string>();
  const moves = spec.ports.flatMap((wanted) => {
    const live = liveByPort.get(wanted.port);
    return live !== undefined && wanted.alias !== undefined && wanted.alias !== live.alias ? [{ port: wanted.port, from: live.alias, to: wanted.alias }] : [];
  });
  const order = orderAliasMoves(new Map(observed.ports.map((port) => [port.port, port.alias])), moves);
  for (const conflict of order.conflicts) {
    holds.push({
      code: 'component/alias-taken',
      message:
        conflict.reason === 'shared'
          ? `ports ${conflict.port} and ${conflict.heldBy} share the alias ${conflict.alias}; the platform fails half-way when either is changed`
          : `port ${conflict.port} shall have the alias ${conflict.alias}, which port ${conflict.heldBy} has and keeps`,
      remedy:
        conflict.reason === 'shared'
          ? 'Give one of them another alias in the console, then run this again.'
          : `Write another alias for port ${conflict.heldBy} in spec.ports, or for port ${conflict.port}.`,
      changes: moves.filter((move) => move.port === conflict.port).map((move) => change(move.port, 'alias', move.from, move.to)),
      object: portKey(serviceId, conflict.port),
    });
  }
  let previous: string | undefined;
  const wantedName = spec.serviceName;
  let nameSet = wantedName === undefined || observed.ports.every((port) => port.serviceName === wantedName);
  for (const move of order.steps) {
    const current = liveByPort.get(move.port)?.serviceName ?? '';
    const serviceName = wantedName ?? current;
    const parks = move.type === 'park';
    const key = stepKey(move.port, parks ? 'park_alias' : 'change_port_alias');
    const setsName = !nameSet;
    steps.push({
      ...proposal(serviceId, move.port),
      key,
      step: {
        type: 'change_port_alias', serviceId, port: move.port, alias: move.alias, serviceName,
        ...(parks ? { temporary: true } : {}), ...(setsName ? { setsServiceName: true } : {}),
      },
      summary: parks ? `park port ${move.port} under the alias ${move.alias}, because ${moves.find((other) => other.port === move.port)?.to} is still taken` : `change alias of port ${move.port} to ${move.alias}`,
      changes: [
        ...(parks ? [] : [change(move.port, 'alias', liveByPort.get(move.port)?.alias, move.alias)]),
        ...(setsName ? [nameChange(observed, serviceName)] : []),
      ],
      effects: ["renames the port's environment variables in the component"],
      after: previous === undefined ? [] : [previous],
    });
    frees.set(liveByPort.get(move.port)?.alias ?? '', key);
    previous = key;
    nameSet = true;
  }
  const naming = serviceNameStep(context, observed, nameSet);
  if (naming.step !== undefined) steps.push(naming.step);
  holds.push(...newAliasConflicts(spec, observed, ports, frees));
  const unchangedFields = wantedName !== undefined && observed.ports.length > 0 && observed.ports.every((port) => port.serviceName === wantedName) ? 1 : 0;
  return { steps, holds, deferred: naming.deferred, unchangedFields };
}

function nameChange(observed: Observed, after: string) {
  const before = [...new Set(observed.ports.map((port) => port.serviceName))].join(', ');
  return { field: 'serviceName', path: 'serviceName', object: componentKey(observed.serviceId), before, after };
}

/** The service name by itself, when no alias change carries it along. */
function serviceNameStep(context: Context, observed: Observed, nameSet: boolean): { step?: Proposal; deferred: Difference['deferred'] } {
  const wanted = context.resource.spec.serviceName;
  if (nameSet && !(wanted !== undefined && observed.ports.length === 0)) return { deferred: [] };
  const carrier = observed.ports.find((port) => port.serviceName !== wanted);
  if (wanted === undefined) return { deferred: [] };
  if (carrier === undefined) {
    if (context.resource.spec.ports.length === 0) return { deferred: [] };
    // Only a port can carry the name, and the alias it must be sent with is known once the port exists.
    return {
      deferred: [{ waitsFor: context.resource.id, desired: { serviceName: wanted }, summary: `set the service name ${wanted} once the component has a port` }],
    };
  }
  return {
    deferred: [],
    step: {
      ...proposal(observed.serviceId, carrier.port),
      key: 'serviceName',
      step: { type: 'set_service_name', serviceId: observed.serviceId, port: carrier.port, alias: carrier.alias, serviceName: wanted },
      object: componentKey(observed.serviceId),
      summary: `set the service name of all ports to ${wanted}`,
      changes: [nameChange(observed, wanted)],
      effects: observed.ports.length > 1 ? [`renames the service of all ${observed.ports.length} ports of the component`] : [],
    },
  };
}

/** The platform accepts a new port with a sibling's alias and then damages the older one: refused here. */
function newAliasConflicts(spec: ComponentSpec, observed: Observed, ports: ReadonlyMap<number, PortDifference>, frees: ReadonlyMap<string, string>): HoldProposal[] {
  const holds: HoldProposal[] = [];
  for (const wanted of spec.ports) {
    const adds = ports.get(wanted.port)?.steps.some((step) => step.step.type === 'add_port') === true;
    if (!adds || wanted.alias === undefined) continue;
    const holder = observed.ports.find((port) => port.alias === wanted.alias);
    if (holder === undefined || frees.has(wanted.alias)) continue;
    holds.push({
      code: 'component/alias-taken',
      message: `new port ${wanted.port} shall have the alias ${wanted.alias}, which port ${holder.port} has and keeps`,
      remedy: `Write another alias for port ${holder.port} in spec.ports, or for port ${wanted.port}.`,
      changes: [],
    });
  }
  return holds;
}

/** Per port in safe order, with the alias steps between; a new port that takes a freed alias comes after it is free. */
function mergeSteps(ports: readonly PortDifference[], naming: readonly Proposal[]): Proposal[] {
  const before = ['close_outer', 'change_protocol'];
  const all = ports.flatMap((port) => port.steps);
  const early = all.filter((step) => before.includes(step.step.type));
  const adds = all.filter((step) => step.step.type === 'add_port');
  const late = all.filter((step) => !before.includes(step.step.type) && step.step.type !== 'add_port');
  const lastNaming = naming.at(-1)?.key;
  const waitingAdds = adds.map((add) =>
    add.step.type === 'add_port' && add.step.alias !== undefined && lastNaming !== undefined ? { ...add, after: [...add.after, lastNaming] } : add,
  );
  return [...early, ...naming, ...waitingAdds, ...late];
}

function unlistedPorts(context: Context, observed: Observed) {
  const { spec, annotations } = context.resource;
  const steps: Proposal[] = [];
  const holds: HoldProposal[] = [];
  const notes: Omit<Note, 'resource'>[] = [];
  const listed = new Set(spec.ports.map((port) => port.port));
  const extra = observed.ports.filter((port) => !listed.has(port.port));
  const wanted = spec.unlistedPorts;
  const concerned = wanted === 'keep' ? [] : extra.filter((port) => wanted === 'delete' || port.outer || port.inner);
  if (concerned.length === 0) return { steps, holds, notes };
  const what = `${concerned.map((port) => port.port).join(', ')} (unlistedPorts: ${wanted})`;
  if (annotations['portolan/prune'] === 'keep') {
    notes.push({ code: 'prune/kept', message: `unlisted ports ${what} are kept, because the manifest is annotated portolan/prune: keep` });
    return { steps, holds, notes };
  }
  if (!context.permissions.prune) {
    notes.push({ code: 'prune/not-asked', message: `unlisted ports ${what} are left as they are; apply --prune would ${wanted} them` });
    return { steps, holds, notes };
  }
  if (remembered(context.memory, 'Component', componentKey(observed.serviceId)) === undefined) {
    holds.push({
      code: 'prune/first-seen',
      message: `unlisted ports ${what} are left as they are: the ledger has no record of this component yet`,
      remedy: 'Look at them, then run the same command again; the component is on record after this run.',
      changes: [],
    });
    return { steps, holds, notes };
  }
  if (wanted === 'delete' && !observed.canDeletePorts) {
    holds.push({
      code: 'component/cannot-delete',
      message: `unlisted ports ${what} cannot be deleted: this server does not offer it`,
      remedy: 'Write unlistedPorts: close, or delete them in the console.',
      changes: [],
    });
    return { steps, holds, notes };
  }
  for (const port of concerned) steps.push(...removalSteps(observed, port, wanted === 'delete'));
  return { steps, holds, notes };
}

function removalSteps({ serviceId, rules }: Observed, live: PortRecord, deletes: boolean): Proposal[] {
  const steps: Proposal[] = [];
  const { port } = live;
  const base = { ...proposal(serviceId, port), prune: true } as const;
  if (live.outer) {
    steps.push({ ...base, key: stepKey(port, 'close_outer'), step: { type: 'close_outer', serviceId, port }, summary: `close outer access of unlisted port ${port}`, changes: [change(port, 'outer', true, false)], effects: ruleEffects(rules, serviceId, port, 'disables') });
  }
  if (live.inner) {
    steps.push({ ...base, key: stepKey(port, 'close_inner'), step: { type: 'close_inner', serviceId, port }, summary: `close inner access of unlisted port ${port}`, changes: [change(port, 'inner', true, false)], after: steps.map((step) => step.key) });
  }
  if (deletes) {
    const former: JsonObject = { protocol: live.protocol, alias: live.alias };
    steps.push({ ...base, verb: 'delete', key: stepKey(port, 'delete_port'), step: { type: 'delete_port', serviceId, port }, summary: `delete unlisted port ${port}`, changes: Object.entries(former).map(([field, before]) => change(port, field, before, undefined)), effects: ruleEffects(rules, serviceId, port, 'deletes'), after: steps.map((step) => step.key) });
  }
  return steps;
}

/** Every listed port that needs nothing, and the component itself: known from now on. */
function settledObjects(context: Context, observed: Observed, steps: readonly Proposal[], holds: readonly unknown[]): Recording[] {
  const { spec } = context.resource;
  const busy = new Set(steps.map((step) => step.object));
  const recordings: Recording[] = [];
  const self = componentKey(observed.serviceId);
  const known = remembered(context.memory, 'Component', self);
  const naming = steps.some(({ step }) => step.type === 'set_service_name' || (step.type === 'change_port_alias' && step.setsServiceName === true));
  const namesSettled = !naming && holds.length === 0;
  recordings.push({
    naturalKey: self,
    remoteId: observed.serviceId,
    remoteAux: spec.from === undefined ? {} : { from: `${spec.from.install}/${spec.from.component}` },
    origin: 'observed',
    state: 'present',
    lastApplied: namesSettled ? { ...(spec.serviceName === undefined ? {} : { serviceName: spec.serviceName }), unlistedPorts: spec.unlistedPorts } : (known?.lastApplied ?? {}),
    obligation: null,
  });
  for (const wanted of spec.ports) {
    const live = observed.ports.find((port) => port.port === wanted.port);
    const key = portKey(observed.serviceId, wanted.port);
    if (live === undefined || busy.has(key) || !asWanted(wanted, live)) continue;
    const prior = remembered(context.memory, 'Component', key);
    recordings.push({
      naturalKey: key,
      remoteId: null,
      remoteAux: prior?.remoteAux ?? { former: formerValues(live) },
      origin: prior?.origin ?? 'observed',
      state: 'present',
      lastApplied: assertedFields(wanted),
      obligation: null,
    });
  }
  return recordings;
}

/** The values a port had before Portolan first touched it. */
export function formerValues(live: PortRecord): JsonObject {
  return { protocol: live.protocol, alias: live.alias, inner: live.inner, outer: live.outer, serviceName: live.serviceName };
}

function asWanted(wanted: PortSpec, live: PortRecord): boolean {
  return (
    (wanted.protocol ?? live.protocol) === live.protocol &&
    (wanted.alias ?? live.alias) === live.alias &&
    (wanted.inner ?? live.inner) === live.inner &&
    (wanted.outer ?? live.outer) === live.outer
  );
}

function assertedFields({ port: _port, ...fields }: PortSpec): JsonObject {
  return { ...fields };
}

function claimedPorts(context: Context, observed: Observed): string[] {
  const keep = context.resource.spec.ports.map((port) => portKey(observed.serviceId, port.port));
  const unlisted = observed.ports.map((port) => portKey(observed.serviceId, port.port));
  return [...new Set([...keep, ...unlisted])];
}

function otherOwner(context: Context, serviceId: string): HoldProposal | undefined {
  const object = remembered(context.memory, 'Component', componentKey(serviceId));
  if (object === undefined || object.source === context.source) return undefined;
  return {
    code: 'source/other-owner',
    message: `component ${serviceId} belongs to the source "${object.source}" (${object.resource}); this run is for "${context.source}"`,
    remedy: 'Take it out of one of the two sources, or run with the --source that owns it.',
    changes: [],
  };
}

function missingComponent(context: Context, serviceId: string): HoldProposal {
  return {
    code: 'component/not-found',
    message: `component ${serviceId} is not in this application, or does not exist; nothing was done for its ports`,
    remedy: `Correct spec.${context.resource.spec.from === undefined ? 'serviceId' : 'from'} of ${context.resource.id} (${context.resource.position.file}:${context.resource.position.line}), or take the manifest out.`,
    changes: [],
  };
}
