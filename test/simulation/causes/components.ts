import type { OwnedObject } from '../../../src/model/owned.ts';
import type { Hold } from '../../../src/model/plan.ts';
import type { PortSpec } from '../../../src/kinds/component/spec.ts';
import type { PortRow } from '../../../src/sandbox/state.ts';
import { MODELS } from '../shop.ts';
import type { Sent } from '../truth.ts';
import type { World } from '../world.ts';
import { type Causes, isInApplication, onRecord, serviceOf, when, wishOf } from './cause.ts';

/** A port as its manifest wants it and as it is. */
interface Port {
  readonly wish: PortSpec;
  readonly row: PortRow | undefined;
  /** We closed its outer access for a moment, and owe it. */
  readonly isOwed: boolean;
}

const causeOfPort =
  (because: string, isSo: (port: Port) => boolean) =>
  (world: World, hold: Hold): string | undefined =>
    when(portsOf(world, hold).some(isSo), because);

/** Holds of components: each has its cause in the rows of that component, or in how its install came to be on record. */
export const causesOfComponents: Causes = {
  'component/not-found': (world, hold) => when(!isInApplication(world, serviceOf(world, hold)), 'it is not there'),
  'component/alias-taken': (world, hold) => when(cannotHaveName(world, hold), 'a port that keeps it has the alias'),
  'component/protocol-needed': causeOfPort(
    'a new port, and no manifest says its protocol',
    ({ wish, row }) => row === undefined && wish.protocol === undefined,
  ),
  'component/protocol-in-use': (world, hold) =>
    when(
      portsOf(world, hold).some(
        ({ wish: { port, protocol }, row }) =>
          row?.protocol === 'http' && protocol !== undefined && protocol !== 'http' && hasWantedRule(world, hold, port),
      ),
      'the port is http, git wants another protocol for it, and a rule that git wants is there',
    ),
  'component/outer-unmanaged': causeOfPort(
    'outer is open, and no manifest closes it',
    ({ wish, row }) => wish.inner === false && wish.outer === undefined && row?.outer === true,
  ),
  'component/inner-unmanaged': causeOfPort(
    'outer must be opened, inner is closed, and no manifest opens it',
    ({ wish, row, isOwed }) => {
      if (row === undefined || (wish.inner ?? row.inner)) return false;
      const opens = !row.outer && (wish.outer ?? isOwed);
      return opens || (row.outer && wish.protocol !== undefined && wish.protocol !== row.protocol);
    },
  ),
  'component/outer-owed': causeOfPort(
    'outer was closed for a moment, and may not be opened again',
    ({ wish, isOwed }) => wish.inner === false && wish.outer === undefined && isOwed,
  ),
  'component/left-closed': (world, hold) =>
    when(
      [...world.books.objects.values()].some(({ resource, naturalKey, obligation }) => {
        const place = naturalKey.slice('port/'.length);
        const isClosed = world.server.state.ports.get(place)?.inner === false;
        return resource === hold.resource && obligation !== null && isClosed && wasClosedForAMoment(world, place);
      }),
      'outer was closed for a moment, no manifest lists the port, and inner is closed now',
    ),
  'component/cannot-delete': (world, hold) => {
    const wish = wishOf(world, hold);
    const isDeletion = wish?.unlistedPorts === 'delete' && world.dialect === 'documented';
    const rows = world.server.state.ports.in('component', serviceOf(world, hold));
    const isUnlisted = rows.some((row) => wish?.ports.every(({ port }) => port !== row.port));
    return when(isDeletion && isUnlisted, 'the dialect has no such call');
  },
  'component/opening-rule-held': (_, { message }, isHeld) => {
    const [, rule = ''] = /by creating (HttpGatewayRule\/[a-z0-9-]+)/.exec(message) ?? [];
    return when(isHeld(rule), 'the rule that opens it is held');
  },
  'prune/rule-kept': ({ books, truth }, { message }) => {
    const [, port = ''] = /^unlisted port (\d+)/.exec(message) ?? [];
    const rules = [...books.objects.values()].filter(({ naturalKey }) => naturalKey.startsWith('rule/'));
    return when(
      rules.some(
        ({ naturalKey, resource }) => naturalKey.split('/')[2] === port && truth.marks.of(resource, 'keep') !== 'no',
      ),
      'the manifest of a rule on the port said to keep it',
    );
  },
  'prune/rule-on-port': (world, { message }) => {
    const [, id = ''] = /\(([0-9a-f]+)\) is on it/.exec(message) ?? [];
    const isOnRecord = [...world.books.objects.values()].some(({ remoteId }) => remoteId === id);
    return when(world.server.state.rules.get(id) !== undefined || isOnRecord, 'there is a rule on the port');
  },
  'prune/port-wanted': (world, { message }) => {
    const named = [...message.matchAll(/HttpGatewayRule\/([a-z0-9-]+)/g)].map(([, name = '']) => name);
    return when(
      named.some((name) => world.wishes.rules.has(name)),
      'a rule in git leads to the port',
    );
  },
  'prune/port-unproven': (world, { message }) => {
    const [, port = ''] = /^port (\d+)/.exec(message) ?? [];
    return when(
      ['read-stale', 'read-empty'].some((fault) => world.counts.has(fault)) ||
        [...world.byHand.ports.keys()].some((place) => place.endsWith(`/${port}`)),
      'a listing did not show the port, or somebody deleted it and somebody created it',
    );
  },
  'component/restore-impossible': (world, { message }) =>
    when(message.includes('inner'), 'the port cannot have its former values in any order') ??
    when(isAliasTaken(world, message), 'another port has its former alias'),
  'component/endpoint-broken': (world, hold) => {
    const rows = world.server.state.ports.in('component', serviceOf(world, hold));
    const places = rows.map((row) => `${row.serviceId}/${row.port}`);
    return (
      when(
        places.some((place) => world.byHand.ports.has(place)),
        'somebody changed the port while its endpoint was compared',
      ) ??
      when(
        places.some((place) => [...world.byHand.rules].some((rule) => rule.startsWith(`${place}/`))),
        'a rule that somebody made opened the port while its protocol was changed',
      ) ??
      when(
        rows.some((row) => wasClosedInWordsOnly(world, row)),
        'the platform said that it had closed the port before the change of its protocol, and had not',
      )
    );
  },
  'component/ambiguous-install-component': (world, hold) => {
    const { install = '', component = '' } = wishOf(world, hold)?.from ?? {};
    return (
      unknownComponents(world, install) ??
      installOfAnotherModel(world, install, component) ??
      componentOfNoModel(world, install, component)
    );
  },
};

/** A rule in git leads to the port, and the platform or the ledger has a rule there. */
function hasWantedRule(world: World, hold: Hold, port: number): boolean {
  const place = `${serviceOf(world, hold)}/${port}`;
  const isWanted = [...world.wishes.rules.values()].some(
    (rule) => rule.port === port && `Component/${rule.component}` === hold.resource,
  );
  const isRecorded = [...world.books.objects.values()].some(({ naturalKey }) =>
    naturalKey.startsWith(`rule/${place}/`),
  );
  return isWanted && (isRecorded || world.server.state.rules.in('port', place).length > 0);
}

/** To close the port was accepted, and not done. */
function wasClosedInWordsOnly({ truth, books }: World, { serviceId, port }: PortRow): boolean {
  return truth.sent.some(({ action: { step }, intent, fate, isRefused }) => {
    const isOfPort = step.type === 'close_outer' && step['serviceId'] === serviceId && step['port'] === port;
    const isAccepted = books.intents.get(intent.id)?.state === 'applied';
    return isOfPort && isAccepted && isRefused && fate === 'never';
  });
}

function portsOf(world: World, hold: Hold): readonly Port[] {
  const serviceId = serviceOf(world, hold);
  const rows = new Map(world.server.state.ports.in('component', serviceId).map((row) => [row.port, row]));
  return (wishOf(world, hold)?.ports ?? []).map((wish) => {
    const row = rows.get(wish.port);
    const place = `${serviceId}/${wish.port}`;
    const isOwed = row?.outer === false && wasClosedForAMoment(world, place);
    return { wish, row, isOwed };
  });
}

/** It was, or that was in doubt and is for whoever looks at the port now. */
function wasClosedForAMoment(world: World, place: string): boolean {
  if (world.truth.closedForAMoment.has(place)) return true;
  const object = onRecord(world, `port/${place}`);
  const closings = world.truth.sent.filter(
    ({ action, intent }) => action.object === `port/${place}` && world.books.doubtedBy.has(intent.id),
  );
  return object?.obligation != null && closings.some(({ action }) => action.obligation !== undefined);
}

/** A listed port cannot have its alias, or no port can carry the name of the service. */
function isAliasTaken({ server }: World, message: string): boolean {
  const [, port, alias, other] = /port (\d+) should have the alias (\w+), which port (\d+) has/.exec(message) ?? [];
  const rows = [...server.state.ports.all()];
  const has = (row: PortRow): boolean => String(row.port) === other && row.alias === alias;
  return rows.some(
    (row) => has(row) && rows.some((own) => own.serviceId === row.serviceId && String(own.port) === port),
  );
}

function cannotHaveName(world: World, hold: Hold): boolean {
  const rows = world.server.state.ports.in('component', serviceOf(world, hold));
  const wish = wishOf(world, hold);
  const wanted = new Map(wish?.ports.map(({ port, alias }) => [port, alias]));
  const kept = keptAliases(rows, wanted);
  const isRefused = [...wanted].some(([port, alias]) => {
    const row = rows.find((other) => other.port === port);
    if (alias === undefined || row?.alias === alias) return false;
    return row === undefined ? rows.some((other) => other.alias === alias && kept.has(other.port)) : kept.has(port);
  });
  const cannotCarry = rows.length > 0 && rows.every((row) => isShared(row, rows));
  return isRefused || (cannotCarry && rows.some((row) => row.serviceName !== (wish?.serviceName ?? row.serviceName)));
}

/**
 * Ports that keep their alias: nobody wants another one for them, or they share theirs (the platform fails half-way
 * over that), or the one that they shall have is kept by another port.
 */
function keptAliases(rows: readonly PortRow[], wanted: ReadonlyMap<number, string | undefined>): ReadonlySet<number> {
  const kept = new Set<number>();
  const keeps = (row: PortRow): boolean => {
    const alias = wanted.get(row.port) ?? row.alias;
    if (alias === row.alias || isShared(row, rows)) return true;
    return rows.some((other) => other.port !== row.port && other.alias === alias && kept.has(other.port));
  };
  for (let before = -1; before < kept.size; ) {
    before = kept.size;
    for (const row of rows) if (keeps(row)) kept.add(row.port);
  }
  return kept;
}

function isShared(row: PortRow, rows: readonly PortRow[]): boolean {
  return rows.some((other) => other.port !== row.port && other.alias === row.alias);
}

/** A person put the install on record, who knows its group at best, or somebody has deleted components of it. */
function unknownComponents(world: World, install: string): string | undefined {
  const object = onRecord(world, `install/${install}`);
  if (object === undefined) return undefined;
  if (object.origin === 'adopted') return 'the install was adopted';
  const sent = world.truth.sent.filter(({ uid }) => uid === object.uid);
  if (sent.some(({ intent }) => world.decidedByHand.has(intent.id))) return 'a person said that it was installed';
  const isLost = sent.some(({ installs }) => installs.some((id) => world.byHand.installs.has(id)));
  return (
    when(isLost, 'somebody has deleted its components') ??
    when(hasOthersComponents(world, object, sent), 'somebody else installed something while it was installed')
  );
}

/** On record as its components are some that came with another install. */
function hasOthersComponents(world: World, { remoteAux }: OwnedObject, sent: readonly Sent[]): boolean {
  const own = new Set(sent.flatMap(({ installs }) => installs));
  const recorded = (remoteAux['components'] ?? []) as readonly { readonly serviceId: string }[];
  return recorded.some(({ serviceId }) => {
    const row = world.server.state.components.get(serviceId);
    // One that is gone by now was somebody else's too, or somebody has deleted it.
    return row === undefined || !own.has(String(row.groupId));
  });
}

/** The name stays with the model that was installed under it; another one has other components. */
function installOfAnotherModel(world: World, install: string, component: string): string | undefined {
  const installed = onRecord(world, `install/${install}`)?.lastApplied['modelId'];
  const wanted = world.wishes.installs.get(install)?.model.id;
  const model = MODELS.find(({ id }) => id === installed);
  const isOther = wanted !== undefined && model !== undefined && model.id !== wanted && model.component !== component;
  return when(isOther, 'the install on record is of another model than git says now');
}

/** Git itself names a component that the model of its install does not have. */
function componentOfNoModel(world: World, install: string, component: string): string | undefined {
  const wanted = world.wishes.installs.get(install)?.model.id;
  const model = MODELS.find(({ id }) => id === wanted);
  return when(model !== undefined && model.component !== component, 'the model has no such component');
}
