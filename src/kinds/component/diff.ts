import type { JsonObject } from '../../model/json.ts';
import type { PortRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import {
  type Difference,
  holding,
  type HoldProposal,
  type Need,
  noDifference,
  ofOtherSource,
  type Recording,
  ledgerRecordOf,
} from '../reconciled.ts';
import { identifyComponent } from './identity.ts';
import type { ComponentContext, ComponentLive, ComponentProposal, ObservedContext } from './live.ts';
import { removalMarks } from '../http-gateway-rule/asserted.ts';
import { departures, type Marks } from './departed.ts';
import { endpointHold, paidOff } from './owed.ts';
import { withoutMissing, shownAgain, vanishedPorts } from './missing.ts';
import { formerName, nameSteps } from './names.ts';
import { openingRule, rulesAlong, silentRules, wantedRules } from './port-rules.ts';
import { diffPort, isAs, type PortDifference } from './port-diff.ts';
import { sentOnly, withoutSent } from './sent.ts';
import type { PortSpec } from './spec.ts';
import { type ComponentStep, componentKey, portKey } from './steps.ts';
import { unlistedPorts } from './unlisted.ts';

/** Returns the steps for the ports of a component. Aliases and the service name are ordered across all ports. */
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
    inSync: [...objectsInSync(observed, difference), ...difference.inSync],
    claims: [
      componentKey(serviceId),
      ...ports,
      ...difference.forget,
      ...difference.inSync.map((row) => row.naturalKey),
    ],
  };
}

interface PortsDifference extends Difference<ComponentStep> {
  /** Natural keys of unlisted ports whose rows stay in the ledger. */
  readonly staying: ReadonlySet<string>;
}

/** Compares the ports of a component with its manifest, and with a former manifest for ports that were removed from it. */
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
  // Aliases are ordered across all ports, including those that get their former alias back.
  const all = { ...spec, ports: [...spec.ports, ...gone.restored.map(({ spec: former }) => former)] };
  const naming = nameSteps({ ...context, resource: { ...resource, spec: all } }, ports);
  const isEmptied = spec.ports.length === 0 && spec.application === '';
  const names = naming.steps.map((step) =>
    isRestored.has(step.step.port) || isEmptied ? { ...step, prune: true } : step,
  );
  const unlisted = unlistedPorts(context, gone.ports);
  // A new port whose alias is taken is not added: the platform would give it another alias.
  const perPort = [...ports, ...restored].flatMap(([port, difference]) =>
    naming.refused.has(port) ? [] : [difference],
  );
  const taken = new Set(observed.ports.map((port) => port.alias));
  const steps = mergeSteps(perPort, names, taken).concat(unlisted.steps, gone.steps);
  const vanished = vanishedPorts(context);
  const forget = [...gone.forget, ...vanished.forget];
  const keys = [...gone.ports].map((port) => portKey(observed.serviceId, port));
  return {
    ...noDifference,
    steps,
    holds: [
      ...perPort.flatMap((port) => port.holds),
      ...naming.holds.map((hold) => {
        const port = [...isRestored].find((number) => portKey(observed.serviceId, number) === hold.object);
        return port === undefined ? hold : notRestored(hold, port);
      }),
      ...unlisted.holds,
      ...gone.holds,
      ...endpointHolds(context, steps),
    ],
    notes: [...unlisted.notes, ...gone.notes],
    deferred: naming.deferred,
    expects: perPort.flatMap((port) => port.expects),
    forget,
    inSync: vanished.missing,
    waits: vanished.waits,
    staying: new Set([
      ...keys.filter((key) => !gone.forget.includes(key)),
      ...unlisted.owing,
      ...vanished.missing.map((row) => row.naturalKey),
    ]),
    unchangedFields: perPort.reduce((sum, port) => sum + port.unchangedFields, 0) + naming.unchangedFields,
  };
}

/** Marks the steps of a port that gets its former values back as removals, and adds the conditions for closing it. */
function asRestoration(difference: PortDifference, needs: readonly Need[], port: number): PortDifference {
  const [first, ...rest] = difference.steps.map((step) => ({ ...step, prune: true }));
  const holds = difference.holds.map((hold) => notRestored(hold, port));
  return {
    ...difference,
    steps: first === undefined ? [] : [{ ...first, needs: [...first.needs, ...needs] }, ...rest],
    holds,
    unchangedFields: 0,
  };
}

function notRestored(hold: HoldProposal, port: number): HoldProposal {
  return {
    ...hold,
    code: 'component/restore-impossible',
    message: `port ${port} was removed from its manifest and cannot get its former values back: ${hold.message}`,
    remedy: 'Set them in the console. The port is then removed from the ledger.',
  };
}

/** Returns holds for ports whose endpoint did not follow a protocol change. A port with steps is checked after them. */
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

/** Returns the steps of all ports in a safe order. A new port that takes a freed alias waits for the alias steps. */
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

/** Returns rows for the component, for listed ports without steps, and for other ports whose obligation is fulfilled. */
function objectsInSync(context: ObservedContext, difference: Difference<ComponentStep>): Recording[] {
  const { live: observed, resource } = context;
  const { spec } = resource;
  const busy = new Set(difference.steps.map((step) => step.object));
  const listed = new Set(spec.ports.map(({ port }) => port));
  const recordings = [
    settledComponent(context, difference),
    ...spec.ports.map((wanted) =>
      busy.has(portKey(observed.serviceId, wanted.port)) ? undefined : settledPort(context, wanted),
    ),
    ...observed.ports.map((live) => {
      const key = portKey(observed.serviceId, live.port);
      if (listed.has(live.port) || difference.forget.includes(key)) return undefined;
      const object = ledgerRecordOf(context.ledgerView, 'Component', key);
      return paidOff(object, live, observed) ?? shownAgain(object, context);
    }),
  ];
  return recordings.filter((recording) => recording !== undefined);
}

/** Returns the row of the component; undefined while a step changes it, so that the row keeps its number of failures. */
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
  // A component without ports has no service name.
  const isNamed = serviceName === undefined || observed.ports.length > 0;
  const isApplied = !isNaming && isNamed && holds.length === 0;
  const asserted = { ...(serviceName === undefined ? {} : { serviceName }), unlistedPorts };
  return {
    naturalKey,
    remoteId: observed.serviceId,
    remoteAux: {
      ...(from === undefined ? {} : { from: `${from.install}/${from.component}` }),
      ...(known === undefined ? formerName(observed) : formerOnRecord(known)),
      ...(known === undefined || isApplied ? {} : sentOnly(known.remoteAux)),
      listed: removalMarks(resource),
    },
    origin: 'observed',
    state: 'present',
    lastApplied: isApplied ? asserted : (known?.lastApplied ?? {}),
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
  // The obligation stays until the port is observed open, even if the step is held.
  if (asserted.outer === undefined && prior?.obligation?.['outer'] === true && !live.outer) return undefined;
  return {
    naturalKey,
    remoteId: null,
    remoteAux: {
      ...(prior === undefined ? { former: formerValues(live) } : withoutSent(withoutMissing(prior.remoteAux))),
      ...(asserted.outer === true ? { opened: true } : {}),
      listed: removalMarks(resource),
    },
    origin: prior?.origin ?? 'observed',
    state: 'present',
    lastApplied: { ...asserted },
    obligation: endpointHold(prior, live, observed) === undefined ? null : { endpoint: true },
  };
}

function formerOnRecord({ remoteAux: { former } }: OwnedObject): JsonObject {
  return former === undefined ? {} : { former };
}

/** Returns the values of a port before Portolan first changed it. */
export function formerValues({ protocol, alias, inner, outer, serviceName }: PortRecord): JsonObject {
  return { protocol, alias, inner, outer, serviceName };
}

function otherOwner(context: ComponentContext, serviceId: string): HoldProposal | undefined {
  const object = ledgerRecordOf(context.ledgerView, 'Component', componentKey(serviceId));
  if (object === undefined || object.source === context.source) return undefined;
  return ofOtherSource(`component ${serviceId}`, object, context.source);
}

/** Returns the hold for a second manifest of one component, named by its install: it would undo the first manifest. */
function otherName({ resource, siblings, ledgerView }: ComponentContext, serviceId: string): HoldProposal | undefined {
  const { from } = resource.spec;
  if (from === undefined) return undefined;
  const duplicate = [...siblings.values()].find((sibling) => {
    if (sibling.kind !== 'Component' || sibling.id === resource.id) return false;
    const other = sibling as ComponentContext['resource'];
    // If both are named by the install, the first one has the component.
    if (other.spec.from !== undefined && other.id > resource.id) return false;
    const identity = identifyComponent(other, ledgerView);
    return identity.type === 'known' && identity.serviceId === serviceId;
  });
  if (duplicate === undefined) return undefined;
  return {
    code: 'component/named-twice',
    message: `"${from.component}" of StoreInstall/${from.install} is component ${serviceId}, which ${duplicate.id} (${duplicate.position.file}:${duplicate.position.line}) manages already`,
    remedy: `Move the ports of ${resource.id} to ${duplicate.id}, or correct spec.from.component.`,
  };
}

function missingComponent(
  context: ComponentContext,
  { serviceId, absence }: Extract<ComponentLive, { type: 'observed' }>,
): HoldProposal {
  return {
    code: 'component/not-found',
    message: `component ${serviceId} is not in this application: it does not exist, or belongs to another application now; nothing was done for its ports${absence === undefined || absence === '' ? '' : `. The platform said: ${absence}`}`,
    remedy: `Correct spec.${context.resource.spec.from === undefined ? 'serviceId' : 'from'} of ${context.resource.id} (${context.resource.position.file}:${context.resource.position.line}), or remove the manifest.`,
  };
}
