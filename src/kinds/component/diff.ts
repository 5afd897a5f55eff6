import type { JsonObject } from '../../model/json.ts';
import type { PortRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import {
  type Difference,
  holding,
  type HoldProposal,
  type Need,
  noDifference,
  type Recording,
  ledgerRecordOf,
} from '../reconciled.ts';
import { identifyComponent } from './identity.ts';
import type { ComponentContext, ComponentLive, ComponentProposal, ObservedComponent, ObservedContext } from './live.ts';
import { removalMarks } from '../http-gateway-rule/asserted.ts';
import { departures, type Marks } from './departed.ts';
import { endpointHold, paidOff } from './owed.ts';
import { nameSteps } from './names.ts';
import { openingRule, rulesAlong, silentRules, wantedRules } from './port-rules.ts';
import { diffPort, isAs, type PortDifference } from './port-diff.ts';
import type { PortSpec } from './spec.ts';
import { type ComponentStep, componentKey, portKey } from './steps.ts';
import { unlistedPorts } from './unlisted.ts';

/** What a component's ports need, port by port, with aliases and the service name ordered across them. */
export function diffComponent(context: ComponentContext): Difference<ComponentStep> {
  const { live } = context;
  if (live.type === 'deferred') return { ...noDifference, deferred: [live.deferred] };
  if (live.type === 'held') return holding(live.hold);
  if (live.ports === undefined) return holding(missingComponent(context, live));
  const { serviceId } = live;
  const observed: ObservedContext = { ...context, live: { ...live, ports: live.ports } };
  const other = otherOwner(context, serviceId) ?? otherName(context, serviceId);
  if (other !== undefined) return holding(other);

  const listed = [...context.resource.spec.ports, ...live.ports];
  const ports = new Set(listed.map(({ port }) => portKey(serviceId, port)));
  const { staying: _staying, ...difference } = diffPorts(observed, () => removalMarks(context.resource));
  return {
    ...difference,
    inSync: objectsInSync(observed, difference),
    claims: [componentKey(serviceId), ...ports, ...difference.forget],
  };
}

interface PortsDifference extends Difference<ComponentStep> {
  /** Natural keys of ports that no manifest lists and that the ledger does not let go of. */
  readonly staying: ReadonlySet<string>;
}

/** The ports of a component against what its manifest says, and against what a former one said of those it lists no more. */
export function diffPorts(context: ObservedContext, marks: Marks): PortsDifference {
  const { live: observed, resource } = context;
  const { spec } = resource;
  const gone = departures(context, marks);
  const ports = new Map(spec.ports.map((wanted) => [wanted.port, diffListedPort(context, wanted)]));
  const restored = gone.restored.map(({ spec: former, needs }): [number, PortDifference] => [
    former.port,
    asRestoration(diffListedPort(context, former), needs, former.port),
  ]);
  const isRestored = new Set(restored.map(([port]) => port));
  // Aliases are ordered across all ports, those that get back their former ones too.
  const all = { ...spec, ports: [...spec.ports, ...gone.restored.map(({ spec: former }) => former)] };
  const naming = nameSteps({ ...context, resource: { ...resource, spec: all } }, ports);
  const isEmptied = spec.ports.length === 0 && spec.application === '';
  const names = naming.steps.map((step) =>
    isRestored.has(step.step.port) || isEmptied ? { ...step, prune: true } : step,
  );
  const unlisted = unlistedPorts(context, gone.ports);
  // A new port that may not have its alias is not added at all: without it, it would take another.
  const perPort = [...ports, ...restored].flatMap(([port, difference]) =>
    naming.refused.has(port) ? [] : [difference],
  );
  const taken = new Set(observed.ports.map((port) => port.alias));
  const steps = mergeSteps(perPort, names, taken).concat(unlisted.steps, gone.steps);
  const forget = [...gone.forget, ...vanishedPorts(context)];
  const keys = [...gone.ports].map((port) => portKey(observed.serviceId, port));
  return {
    ...noDifference,
    steps,
    holds: [
      ...perPort.flatMap((port) => port.holds),
      ...naming.holds,
      ...unlisted.holds,
      ...gone.holds,
      ...endpointHolds(context, steps),
    ],
    notes: [...unlisted.notes, ...gone.notes],
    deferred: naming.deferred,
    expects: perPort.flatMap((port) => port.expects),
    forget,
    staying: new Set([...keys.filter((key) => !gone.forget.includes(key)), ...unlisted.owing]),
    unchangedFields: perPort.reduce((sum, port) => sum + port.unchangedFields, 0) + naming.unchangedFields,
  };
}

/** The steps of a port that gets back its former values count as removals; what closing it needs comes first. */
function asRestoration(difference: PortDifference, needs: readonly Need[], port: number): PortDifference {
  const [first, ...rest] = difference.steps.map((step) => ({ ...step, prune: true }));
  const holds = difference.holds.map(
    (hold): HoldProposal => ({
      ...hold,
      code: 'component/restore-impossible',
      message: `port ${port} is no longer listed and cannot have its former values again: ${hold.message}`,
      remedy: 'Set them in the console; the ledger lets go of the port then.',
    }),
  );
  return {
    ...difference,
    steps: first === undefined ? [] : [{ ...first, needs: [...first.needs, ...needs] }, ...rest],
    holds,
    unchangedFields: 0,
  };
}

/** Ports on record that no manifest lists and that are not on the platform either. */
function vanishedPorts({ ledgerView, source, resource, live: { serviceId, ports } }: ObservedContext) {
  const prefix = portKey(serviceId, 0).slice(0, -1);
  const there = new Set([...ports, ...resource.spec.ports].map(({ port }) => portKey(serviceId, port)));
  return ledgerView.objects.flatMap((object) => {
    const isPort = object.kind === 'Component' && object.source === source && object.naturalKey.startsWith(prefix);
    return isPort && !there.has(object.naturalKey) ? [object.naturalKey] : [];
  });
}

/** Ports of ours whose endpoint did not follow a protocol change; one that still has steps is looked at after them. */
function endpointHolds(
  { ledgerView, live: observed }: ObservedContext,
  steps: readonly ComponentProposal[],
): HoldProposal[] {
  const busy = new Set(steps.map((step) => step.object));
  return observed.ports.flatMap((live) => {
    const key = portKey(observed.serviceId, live.port);
    return busy.has(key) ? [] : (endpointHold(ledgerRecordOf(ledgerView, 'Component', key), live, observed) ?? []);
  });
}

function diffListedPort(context: ObservedContext, spec: PortSpec): PortDifference {
  const { serviceId, rules, ports } = context.live;
  const live = ports.find((port) => port.port === spec.port);
  const object = ledgerRecordOf(context.ledgerView, 'Component', portKey(serviceId, spec.port));
  const owesOuter = object?.obligation?.['outer'] === true;
  const openedBy = openingRule({
    component: context.resource.name,
    serviceId,
    spec,
    live,
    rules,
    siblings: context.siblings,
    owesOuter,
    ledgerView: context.ledgerView,
  });
  return diffPort({
    serviceId,
    spec,
    live,
    rules,
    rulesAlong: rulesAlong(rules, context.ledgerView, serviceId, spec.port),
    rulesWanted: wantedRules(context, rules, serviceId, spec.port),
    rulesSilent: silentRules(context, rules, serviceId, spec.port),
    openedBy,
    owesOuter,
    listed: removalMarks(context.resource),
  });
}

/** Per port in safe order, with the alias steps between; a new port that takes a freed alias needs it to be free. */
function mergeSteps(
  ports: readonly PortDifference[],
  naming: readonly ComponentProposal[],
  taken: ReadonlySet<string>,
): ComponentProposal[] {
  const before = ['close_outer', 'change_protocol'];
  const all = ports.flatMap((port) => port.steps);
  const early = all.filter((step) => before.includes(step.step.type));
  const adds = all.filter((step) => step.step.type === 'add_port');
  const late = all.filter((step) => !before.includes(step.step.type) && step.step.type !== 'add_port');
  const lastNaming = naming.at(-1)?.key;
  const waitingAdds = adds.map((add) =>
    add.step.type === 'add_port' &&
    add.step.alias !== undefined &&
    taken.has(add.step.alias) &&
    lastNaming !== undefined
      ? { ...add, after: [...add.after, lastNaming] }
      : add,
  );
  return [...early, ...naming, ...waitingAdds, ...late];
}

/** The component itself, listed ports that need nothing, and others that owe nothing any more: known from now on. */
function objectsInSync(context: ObservedContext, difference: Difference<ComponentStep>): Recording[] {
  const { live: observed, resource } = context;
  const { spec } = resource;
  const busy = new Set(difference.steps.map((step) => step.object));
  const listed = new Set(spec.ports.map(({ port }) => port));
  const settled = [
    settledComponent(context, difference),
    ...spec.ports.map((wanted) =>
      busy.has(portKey(observed.serviceId, wanted.port)) ? undefined : settledPort(context, wanted),
    ),
    ...observed.ports.map((live) => {
      const key = portKey(observed.serviceId, live.port);
      if (listed.has(live.port) || difference.forget.includes(key)) return undefined;
      return paidOff(ledgerRecordOf(context.ledgerView, 'Component', key), live, observed);
    }),
  ];
  return settled.filter((recording) => recording !== undefined);
}

/** While a step is on it, its row stays as it is: how often that failed must not be forgotten. */
function settledComponent(
  { ledgerView, resource, live: observed }: ObservedContext,
  { steps, holds }: Difference<ComponentStep>,
): Recording | undefined {
  const { serviceName, unlistedPorts, from } = resource.spec;
  const naturalKey = componentKey(observed.serviceId);
  const known = ledgerRecordOf(ledgerView, 'Component', naturalKey);
  if (known !== undefined && steps.some(({ object }) => object === naturalKey)) return undefined;
  const isNaming = steps.some(
    ({ step }) =>
      step.type === 'set_service_name' || (step.type === 'change_port_alias' && step.setsServiceName === true),
  );
  const asserted = { ...(serviceName === undefined ? {} : { serviceName }), unlistedPorts };
  return {
    naturalKey,
    remoteId: observed.serviceId,
    remoteAux: {
      ...(from === undefined ? {} : { from: `${from.install}/${from.component}` }),
      ...formerName(known, observed),
      listed: removalMarks(resource),
    },
    origin: 'observed',
    state: 'present',
    lastApplied: isNaming || holds.length > 0 ? (known?.lastApplied ?? {}) : asserted,
    obligation: null,
  };
}

function settledPort(
  { ledgerView, resource, live: observed }: ObservedContext,
  { port, ...asserted }: PortSpec,
): Recording | undefined {
  const live = observed.ports.find((candidate) => candidate.port === port);
  const naturalKey = portKey(observed.serviceId, port);
  const prior = ledgerRecordOf(ledgerView, 'Component', naturalKey);
  if (live === undefined || !isAs({ port, ...asserted }, live)) return undefined;
  // Still owed, and only held for the moment: the debt outlives every pass until it is paid.
  if (asserted.outer === undefined && prior?.obligation?.['outer'] === true && !live.outer) return undefined;
  return {
    naturalKey,
    remoteId: null,
    remoteAux: {
      ...(prior?.remoteAux ?? { former: formerValues(live) }),
      ...(asserted.outer === true ? { opened: true } : {}),
      listed: removalMarks(resource),
    },
    origin: prior?.origin ?? 'observed',
    state: 'present',
    lastApplied: { ...asserted },
    obligation: endpointHold(prior, live, observed) === undefined ? null : { endpoint: true },
  };
}

/** The service name of a component before its manifest set another: known where it was seen before the first write. */
function formerName(known: OwnedObject | undefined, { ports }: ObservedComponent): JsonObject {
  if (known !== undefined) {
    const former = known.remoteAux['former'];
    return former === undefined ? {} : { former };
  }
  const [name, second] = [...new Set(ports.map(({ serviceName }) => serviceName))];
  return name === undefined || second !== undefined ? {} : { former: { serviceName: name } };
}

/** The values a port had before Portolan first touched it. */
export function formerValues({ protocol, alias, inner, outer, serviceName }: PortRecord): JsonObject {
  return { protocol, alias, inner, outer, serviceName };
}

function otherOwner(context: ComponentContext, serviceId: string): HoldProposal | undefined {
  const object = ledgerRecordOf(context.ledgerView, 'Component', componentKey(serviceId));
  if (object === undefined || object.source === context.source) return undefined;
  return {
    code: 'source/other-owner',
    message: `component ${serviceId} belongs to the source "${object.source}" (${object.resource}); this run is for "${context.source}"`,
    remedy: 'Take it out of one of the two sources, or run with the --source that owns it.',
  };
}

/** Offline nobody sees that two names of an install are one component: the second document would undo the first. */
function otherName({ resource, siblings, ledgerView }: ComponentContext, serviceId: string): HoldProposal | undefined {
  const { from } = resource.spec;
  if (from === undefined) return undefined;
  const twin = [...siblings.values()].find((sibling) => {
    if (sibling.kind !== 'Component' || sibling.id === resource.id) return false;
    const other = sibling as ComponentContext['resource'];
    // Of two that are named by the install, the first one has it.
    if (other.spec.from !== undefined && other.id > resource.id) return false;
    const identity = identifyComponent(other, ledgerView);
    return identity.type === 'known' && identity.serviceId === serviceId;
  });
  if (twin === undefined) return undefined;
  return {
    code: 'component/named-twice',
    message: `"${from.component}" of StoreInstall/${from.install} is component ${serviceId}, which ${twin.id} (${twin.position.file}:${twin.position.line}) manages already`,
    remedy: `Move the ports of ${resource.id} to ${twin.id}, or correct spec.from.component.`,
  };
}

function missingComponent(
  context: ComponentContext,
  { serviceId, absence }: Extract<ComponentLive, { type: 'observed' }>,
): HoldProposal {
  return {
    code: 'component/not-found',
    message: `component ${serviceId} is not in this application: it does not exist, or belongs to another application now; nothing was done for its ports${absence === undefined || absence === '' ? '' : `. The platform said: ${absence}`}`,
    remedy: `Correct spec.${context.resource.spec.from === undefined ? 'serviceId' : 'from'} of ${context.resource.id} (${context.resource.position.file}:${context.resource.position.line}), or take the manifest out.`,
  };
}
