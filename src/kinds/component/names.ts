import type { PortRecord } from '../../model/observed.ts';
import { type Difference, type HoldProposal } from '../reconciled.ts';
import { orderAliasMoves } from './alias-order.ts';
import type { ComponentContext, ComponentProposal, ObservedComponent } from './live.ts';
import { change, type PortDifference, proposal, stepKey } from './port-diff.ts';
import type { ComponentSpec } from './spec.ts';
import { componentKey, portKey } from './steps.ts';

/** Alias changes and the service name, which a real server keeps once for all ports of a component. */
export function nameSteps(
  context: ComponentContext,
  observed: ObservedComponent,
  ports: ReadonlyMap<number, PortDifference>,
) {
  const { spec } = context.resource;
  const { serviceId } = observed;
  const steps: ComponentProposal[] = [];
  const holds: HoldProposal[] = [];
  const liveByPort = new Map(observed.ports.map((port) => [port.port, port]));
  const frees = new Map<string, string>();
  const moves = spec.ports.flatMap((wanted) => {
    const live = liveByPort.get(wanted.port);
    return live !== undefined && wanted.alias !== undefined && wanted.alias !== live.alias
      ? [{ port: wanted.port, from: live.alias, to: wanted.alias }]
      : [];
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
      changes: moves
        .filter((move) => move.port === conflict.port)
        .map((move) => change(move.port, 'alias', move.from, move.to)),
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
        type: 'change_port_alias',
        serviceId,
        port: move.port,
        alias: move.alias,
        serviceName,
        ...(parks ? { temporary: true } : {}),
        ...(setsName ? { setsServiceName: true } : {}),
      },
      summary: parks
        ? `park port ${move.port} under the alias ${move.alias}, because ${moves.find((other) => other.port === move.port)?.to} is still taken`
        : `change alias of port ${move.port} to ${move.alias}`,
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
  if (naming.hold !== undefined) holds.push(naming.hold);
  const refused = newAliasConflicts(spec, observed, ports, frees);
  holds.push(...refused.values());
  const unchangedFields =
    wantedName !== undefined &&
    observed.ports.length > 0 &&
    observed.ports.every((port) => port.serviceName === wantedName)
      ? 1
      : 0;
  return { steps, holds, refused: new Set(refused.keys()), deferred: naming.deferred, unchangedFields };
}

function nameChange(observed: ObservedComponent, after: string) {
  const before = [...new Set(observed.ports.map((port) => port.serviceName))].join(', ');
  return { field: 'serviceName', path: 'serviceName', object: componentKey(observed.serviceId), before, after };
}

/** The service name by itself, when no alias change carries it along. */
function serviceNameStep(
  context: ComponentContext,
  observed: ObservedComponent,
  nameSet: boolean,
): { step?: ComponentProposal; hold?: HoldProposal; deferred: Difference['deferred'] } {
  const wanted = context.resource.spec.serviceName;
  if (nameSet && !(wanted !== undefined && observed.ports.length === 0)) return { deferred: [] };
  if (wanted === undefined) return { deferred: [] };
  if (observed.ports.length === 0) {
    if (context.resource.spec.ports.length === 0) return { deferred: [] };
    // Only a port can carry the name, and the alias it must be sent with is known once the port exists.
    return {
      deferred: [
        {
          waitsFor: context.resource.id,
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
      },
      object: componentKey(observed.serviceId),
      summary: `set the service name of all ports to ${wanted}`,
      changes: [nameChange(observed, wanted)],
      effects:
        observed.ports.length > 1 ? [`renames the service of all ${observed.ports.length} ports of the component`] : [],
    },
  };
}

/** The port that carries the name: the platform fails over one whose alias a sibling has too. */
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

/** The platform accepts a new port with a sibling's alias and then damages the older one: refused here. */
function newAliasConflicts(
  spec: ComponentSpec,
  observed: ObservedComponent,
  ports: ReadonlyMap<number, PortDifference>,
  frees: ReadonlyMap<string, string>,
): ReadonlyMap<number, HoldProposal> {
  const holds = new Map<number, HoldProposal>();
  for (const wanted of spec.ports) {
    const adds = ports.get(wanted.port)?.steps.some((step) => step.step.type === 'add_port') === true;
    if (!adds || wanted.alias === undefined) continue;
    const holder = observed.ports.find((port) => port.alias === wanted.alias);
    if (holder === undefined || frees.has(wanted.alias)) continue;
    holds.set(wanted.port, {
      code: 'component/alias-taken',
      message: `new port ${wanted.port} shall have the alias ${wanted.alias}, which port ${holder.port} has and keeps`,
      remedy: `Write another alias for port ${holder.port} in spec.ports, or for port ${wanted.port}.`,
      changes: [],
    });
  }
  return holds;
}
