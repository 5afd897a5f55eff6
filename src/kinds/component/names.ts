import type { PortRecord } from './wire.ts';
import { type Difference, type HoldProposal, ledgerRecordOf } from '../reconciled.ts';
import type { ComponentProposal, ObservedComponent, ObservedContext } from './live.ts';
import { change, type PortDifference, proposal, stepKey } from './port-diff.ts';
import { mayBeOurs } from './sent.ts';
import { componentKey, type FormerName, portKey } from './steps.ts';

/** Returns the steps for aliases and the service name. A server keeps one service name for all ports of a component. */
export function nameSteps(context: ObservedContext, ports: ReadonlyMap<number, PortDifference>) {
  const { live: observed, resource } = context;
  const { spec } = resource;
  const liveByPort = new Map(observed.ports.map((port) => [port.port, port]));
  const moves = spec.ports.flatMap(({ port, alias: to }): AliasMove[] => {
    const from = liveByPort.get(port)?.alias;
    return from !== undefined && to !== undefined && to !== from ? [{ port, from, to }] : [];
  });
  const order = orderAliasMoves(new Map(observed.ports.map((port) => [port.port, port.alias])), moves);
  const isNamed = observed.ports.every((port) => port.serviceName === spec.serviceName);
  const isSet = spec.serviceName === undefined || isNamed;
  const aliases = order.steps.map((move, at) => {
    const live = liveByPort.get(move.port);
    const wanted = moves.find(({ port }) => port === move.port)?.to;
    const previous = order.steps[at - 1];
    const step = aliasStep(context, live, move, { wanted, name: spec.serviceName, setsName: !isSet && at === 0 });
    return { ...step, after: previous === undefined ? [] : [aliasKey(previous)] };
  });
  const frees = new Set(order.steps.map(({ port }) => liveByPort.get(port)?.alias));
  const naming = serviceNameStep(context, isSet || aliases.length > 0);
  const refused = newAliasConflicts(context, ports, frees);
  return {
    steps: naming.step === undefined ? aliases : [...aliases, naming.step],
    holds: [
      ...order.conflicts.map((conflict) => takenAlias(observed.serviceId, conflict, moves)),
      ...(naming.hold === undefined ? [] : [naming.hold]),
      ...refused.values(),
    ],
    refused: new Set(refused.keys()),
    deferred: naming.deferred,
    unchangedFields: observed.ports.length > 0 && isNamed ? 1 : 0,
  };
}

function aliasKey({ port, type }: AliasStep): string {
  return stepKey(port, type === 'park' ? 'park_alias' : 'change_port_alias');
}

/** @param wish the final alias of the port, and the service name, which the step may set as well. */
function aliasStep(
  context: ObservedContext,
  live: PortRecord | undefined,
  move: AliasStep,
  wish: { readonly wanted: string | undefined; readonly name: string | undefined; readonly setsName: boolean },
): ComponentProposal {
  const { live: observed } = context;
  const { serviceId } = observed;
  const { port, alias } = move;
  const parks = move.type === 'park';
  const serviceName = wish.name ?? live?.serviceName ?? '';
  return {
    ...proposal(serviceId, port),
    key: aliasKey(move),
    step: {
      type: 'change_port_alias',
      serviceId,
      port,
      alias,
      serviceName,
      ...(parks ? { temporary: true } : {}),
      ...(wish.setsName ? { setsServiceName: true, ...unrecordedFormer(context) } : {}),
    },
    summary: parks
      ? `park port ${port} under the alias ${alias}, because ${wish.wanted} is still taken`
      : `change alias of port ${port} to ${alias}`,
    changes: [
      ...(parks ? [] : [change(port, 'alias', live?.alias, alias)]),
      ...(wish.setsName ? [nameChange(observed, serviceName)] : []),
    ],
    effects: ["renames the port's environment variables in the component"],
  };
}

function takenAlias(
  serviceId: string,
  { port, alias, heldBy, reason }: AliasConflict,
  moves: readonly AliasMove[],
): HoldProposal {
  const words =
    reason === 'shared'
      ? {
          message: `ports ${port} and ${heldBy} share the alias ${alias}; the platform fails half-way when either is changed`,
          remedy: 'Give one of them another alias in the console, then run this again.',
        }
      : takenWords(`port ${port}`, port, alias, heldBy);
  const changes = moves.filter((move) => move.port === port).map(({ from, to }) => change(port, 'alias', from, to));
  return { code: 'component/alias-taken', ...words, changes, object: portKey(serviceId, port) };
}

function takenWords(name: string, port: number, alias: string, heldBy: number) {
  return {
    message: `${name} should have the alias ${alias}, which port ${heldBy} has and keeps`,
    remedy: `Write another alias for port ${heldBy} in spec.ports, or for port ${port}.`,
  };
}

function nameChange(observed: ObservedComponent, after: string) {
  const before = [...new Set(observed.ports.map((port) => port.serviceName))].join(', ');
  return { field: 'serviceName', path: 'serviceName', object: componentKey(observed.serviceId), before, after };
}

/** Returns the fact with the service name that all ports have now; empty if there is no port, or if their names differ. */
export function formerName({ ports }: ObservedComponent): { readonly former?: FormerName } {
  const [serviceName, second] = new Set(ports.map((port) => port.serviceName));
  return serviceName === undefined || second !== undefined ? {} : { former: { serviceName } };
}

/** Returns the fact that a request must record before it first sets the name: the component may have had no port when its row was made. */
function unrecordedFormer({ live, ledgerView }: ObservedContext): { readonly former?: FormerName } {
  const known = ledgerRecordOf(ledgerView, 'Component', componentKey(live.serviceId));
  const isRecorded = known === undefined || known.remoteAux['former'] !== undefined || mayBeOurs(known, 'serviceName');
  return isRecorded ? {} : formerName(live);
}

/** Returns a step that sets the service name, if no alias change sets it. */
function serviceNameStep(
  context: ObservedContext,
  nameSet: boolean,
): { step?: ComponentProposal; hold?: HoldProposal; deferred: Difference['deferred'] } {
  const { live: observed, resource } = context;
  const wanted = resource.spec.serviceName;
  if (wanted === undefined || (nameSet && observed.ports.length > 0)) return { deferred: [] };
  if (observed.ports.length === 0) {
    if (resource.spec.ports.length === 0) return { deferred: [] };
    // The API sets the name through a port, with the port's alias, which is known once the port exists.
    return {
      deferred: [
        {
          waitsFor: resource.id,
          desired: { serviceName: wanted },
          summary: `set the service name ${wanted} once the component has a port`,
        },
      ],
    };
  }
  const carrier = carrierOf(observed, wanted);
  if (carrier === undefined) return { deferred: [], hold: noCarrier(observed, wanted) };
  return {
    deferred: [],
    step: {
      ...proposal(observed.serviceId, carrier.port),
      key: 'serviceName',
      step: {
        type: 'set_service_name',
        serviceId: observed.serviceId,
        port: carrier.port,
        alias: carrier.alias,
        serviceName: wanted,
        ...unrecordedFormer(context),
      },
      object: componentKey(observed.serviceId),
      summary: `set the service name of all ports to ${wanted}`,
      changes: [nameChange(observed, wanted)],
      effects:
        observed.ports.length > 1 ? [`renames the service of all ${observed.ports.length} ports of the component`] : [],
    },
  };
}

/** Returns the port through which the name is set: the platform fails for a port whose alias another port shares. */
function carrierOf({ ports }: ObservedComponent, wanted: string): PortRecord | undefined {
  const fit = ports.filter((port) => !ports.some((other) => other.port !== port.port && other.alias === port.alias));
  return fit.find((port) => port.serviceName !== wanted) ?? fit[0];
}

function noCarrier(observed: ObservedComponent, wanted: string): HoldProposal {
  return {
    code: 'component/alias-taken',
    message: `the service name ${wanted} cannot be set: every port of the component shares its alias with another one, and the platform fails half-way then`,
    remedy: 'Give them different aliases in the console, then run this again.',
    changes: [nameChange(observed, wanted)],
    object: componentKey(observed.serviceId),
  };
}

/** Holds new ports whose alias another port has: the platform accepts such a port and then damages the older one. */
function newAliasConflicts(
  { live: observed, resource: { spec } }: ObservedContext,
  ports: ReadonlyMap<number, PortDifference>,
  frees: ReadonlySet<string | undefined>,
): ReadonlyMap<number, HoldProposal> {
  const holds = new Map<number, HoldProposal>();
  for (const wanted of spec.ports) {
    const adds = ports.get(wanted.port)?.steps.some((step) => step.step.type === 'add_port') === true;
    if (!adds || wanted.alias === undefined) continue;
    const holder = observed.ports.find((port) => port.alias === wanted.alias);
    if (holder === undefined || frees.has(wanted.alias)) continue;
    holds.set(wanted.port, {
      code: 'component/alias-taken',
      ...takenWords(`new port ${wanted.port}`, wanted.port, wanted.alias, holder.port),
    });
  }
  return holds;
}

/** A change of a port's alias. */
interface AliasMove {
  readonly port: number;
  readonly from: string;
  readonly to: string;
}

interface AliasStep {
  /** `park` sets a temporary alias, because ports exchange their aliases in a circle. */
  readonly type: 'set' | 'park';
  readonly port: number;
  readonly alias: string;
}

/** A change that is not possible, because a port that keeps its alias has it, or two ports share one. */
interface AliasConflict {
  readonly port: number;
  readonly alias: string;
  readonly heldBy: number;
  readonly reason: 'in-use' | 'shared';
}

const ALIAS_LENGTH_MAX = 64;

/**
 * Orders alias changes so that no port takes an alias that another port still has: the platform refuses that. It fails
 * half-way for ports that share an alias, so those are not changed.
 * @param aliases every port of the component and its alias now.
 */
function orderAliasMoves(
  aliases: ReadonlyMap<number, string>,
  moves: readonly AliasMove[],
): { readonly steps: readonly AliasStep[]; readonly conflicts: readonly AliasConflict[] } {
  const current = new Map(aliases);
  const steps: AliasStep[] = [];
  const conflicts: AliasConflict[] = [];
  let pending: AliasMove[] = [];
  for (const move of moves) {
    const sharer = holderOf(current, move.from, move.port);
    if (sharer === undefined) pending.push(move);
    else conflicts.push({ port: move.port, alias: move.from, heldBy: sharer, reason: 'shared' });
  }
  while (pending.length > 0) {
    const free = pending.find((move) => holderOf(current, move.to, move.port) === undefined);
    if (free !== undefined) {
      steps.push({ type: 'set', port: free.port, alias: free.to });
      current.set(free.port, free.to);
      pending = pending.filter((move) => move !== free);
      continue;
    }
    const stuck = pending.filter(
      (move) => !pending.some((other) => other.port === holderOf(current, move.to, move.port)),
    );
    if (stuck.length > 0) {
      for (const move of stuck) {
        conflicts.push({
          port: move.port,
          alias: move.to,
          heldBy: holderOf(current, move.to, move.port) ?? move.port,
          reason: 'in-use',
        });
      }
      pending = pending.filter((move) => !stuck.includes(move));
      continue;
    }
    const parked = pending[0];
    if (parked === undefined) break;
    const alias = temporaryAlias(parked.to, current);
    steps.push({ type: 'park', port: parked.port, alias });
    current.set(parked.port, alias);
  }
  return { steps, conflicts };
}

function holderOf(aliases: ReadonlyMap<number, string>, alias: string, except: number): number | undefined {
  for (const [port, value] of aliases) if (value === alias && port !== except) return port;
  return undefined;
}

function temporaryAlias(wanted: string, aliases: ReadonlyMap<number, string>): string {
  const taken = new Set(aliases.values());
  for (let attempt = 0; ; attempt += 1) {
    const suffix = attempt === 0 ? '_SWAP' : `_SWAP${attempt}`;
    const alias = wanted.slice(0, ALIAS_LENGTH_MAX - suffix.length) + suffix;
    if (!taken.has(alias)) return alias;
  }
}
