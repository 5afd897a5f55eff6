import type { ComponentSpec, PortSpec } from '../../src/kinds/component/spec.ts';
import type { HttpGatewayRuleSpec } from '../../src/kinds/http-gateway-rule/spec.ts';
import type { StoreInstallSpec } from '../../src/kinds/store-install/spec.ts';
import type { OwnedObject } from '../../src/model/owned.ts';
import type { ScopePlan } from '../../src/model/plan.ts';
import type { RuleRow } from '../../src/sandbox/state.ts';
import { nameOf, placeOf } from './places.ts';
import { explanationOf } from './holds.ts';
import { ADDRESS, workFor } from './shop.ts';
import type { World } from './world.ts';

/**
 * What is wrong once nothing goes wrong any more: stated from the manifests and the platform's own rows, never from a
 * plan. A resource that is held is left out, and its hold must have a cause that the simulator knows of.
 */
export function differences(world: World, plan: ScopePlan): string[] {
  const faults: string[] = [];
  for (const action of plan.actions) faults.push(`still to do: ${action.id}`);
  const held = new Set<string>();
  for (const hold of plan.holds) {
    held.add(hold.resource);
    if (explanationOf(world, hold, plan.holds) === undefined)
      faults.push(`held without cause: ${hold.code} ${hold.message}`);
  }
  for (const resource of workFor(world.wishes).resources.values()) {
    const { kind, name, spec } = resource;
    if (held.has(resource.id) || isDeferred(plan, resource.id)) continue;
    if (kind === 'Component') faults.push(...componentFaults(world, name, spec as ComponentSpec));
    if (kind === 'HttpGatewayRule') faults.push(...ruleFaults(world, name, spec as HttpGatewayRuleSpec));
    if (kind === 'StoreInstall') faults.push(...installFaults(world, name, spec as StoreInstallSpec));
  }
  faults.push(
    ...leftovers(world, held, plan),
    ...leftPorts(world, held, plan),
    ...unrestored(world, held, plan),
    ...unrestoredRules(world, held),
  );
  faults.push(...leftRules(world, held), ...lostRules(world, held));
  return faults;
}

/** What waits for something that is held waits with it; anything else may not wait for ever. */
function isDeferred(plan: ScopePlan, resource: string): boolean {
  return plan.deferred.some(
    (deferred) => deferred.resource === resource && plan.holds.some((hold) => hold.resource === deferred.waitsFor),
  );
}

function componentFaults(world: World, name: string, spec: ComponentSpec): string[] {
  const serviceId = world.truth.serviceOf(name, world.wishes);
  if (serviceId === undefined) return [`Component/${name} was never identified`];
  const rows = new Map(world.server.state.ports.in('component', serviceId).map((row) => [row.port, row]));
  const faults: string[] = [];
  for (const wanted of spec.ports) {
    const live = rows.get(wanted.port);
    if (live === undefined) {
      faults.push(`port ${wanted.port} of ${name} is missing`);
      continue;
    }
    for (const field of ['protocol', 'alias', 'inner', 'outer'] as const satisfies (keyof PortSpec)[]) {
      if (wanted[field] !== undefined && wanted[field] !== live[field]) {
        faults.push(`port ${wanted.port} of ${name}: ${field} is ${live[field]}, wanted ${wanted[field]}`);
      }
    }
    // Somebody else may have opened it since.
    if (wanted.outer === undefined && !live.outer && world.truth.owed.has(`${serviceId}/${wanted.port}`)) {
      faults.push(`port ${wanted.port} of ${name}: outer was closed for a moment and never opened again`);
    }
    if (spec.serviceName !== undefined && live.serviceName !== spec.serviceName) {
      faults.push(`port ${wanted.port} of ${name}: service name is ${live.serviceName}, wanted ${spec.serviceName}`);
    }
  }
  const isKept = world.wishes.annotations.get(`Component/${name}`)?.['portolan/prune'] === 'keep';
  if (spec.unlistedPorts === 'keep' || isKept || !world.wishes.prune) return faults;
  for (const row of rows.values()) {
    if (spec.ports.some((port) => port.port === row.port)) continue;
    if (spec.unlistedPorts === 'delete') faults.push(`unlisted port ${row.port} of ${name} is there`);
    else if (row.inner || row.outer) faults.push(`unlisted port ${row.port} of ${name} is open`);
  }
  return faults;
}

/** Rules that we deleted to create them again, and that nobody has brought back. */
function lostRules({ truth, books, server }: World, held: ReadonlySet<string>): string[] {
  const rows = [...books.objects.values()].filter(({ kind }) => kind === 'HttpGatewayRule');
  const there = new Set([...server.state.rules.all()].map(placeOf));
  return [...truth.owedRules].flatMap(([place, id]) => {
    const isHeld = rows.some((row) => row.naturalKey === `rule/${place}` && held.has(row.resource));
    return isHeld || there.has(place) ? [] : [`rule ${place} (${id}) was deleted and never created again`];
  });
}

/** Without a listing nobody can know what was done to a rule by hand. */
function isHidden(world: World, place: string): boolean {
  return world.dialect === 'documented' && world.byHand.rules.has(place);
}

function ruleFaults(world: World, name: string, spec: HttpGatewayRuleSpec): string[] {
  const serviceId = world.truth.serviceOf(spec.component, world.wishes) ?? '';
  const place = placeOf({ ...spec, serviceId });
  const rows = [...world.server.state.rules.all()].filter((row) => placeOf(row) === place);
  if (isHidden(world, place)) return [];
  const [row, second] = rows;
  if (row === undefined) return [`rule ${name} is missing`];
  if (second !== undefined) return [`rule ${name} is there ${rows.length} times`];
  // What the server cannot show, a person may have adopted unseen.
  const object = objectOf(world, 'HttpGatewayRule', `rule/${place}`);
  if (object === undefined) return [`rule ${name} is not on record`];
  if (object.state === 'unverified') return [];
  // Whose rule was found after a lost answer, nobody can tell if it is as it was sent; Portolan says what it assumes.
  const isAssumed = object.remoteAux['assumed'] !== undefined && world.byHand.rules.has(place);
  // Without a listing, nobody sees that a rule is inactive.
  const isOpen = world.server.state.ports.get(`${serviceId}/${spec.port}`)?.outer === true;
  const isSilent = world.dialect === 'extended' && isOpen && !row.outer;
  return [
    ...(isSilent ? [`rule ${name} is inactive, and its port is open`] : []),
    ...fieldFaults(name, spec, row, isAssumed),
  ];
}

function fieldFaults(name: string, spec: HttpGatewayRuleSpec, row: RuleRow, isAssumed: boolean): string[] {
  const faults: string[] = [];
  const check = (
    field: string,
    wanted: string | number | boolean | undefined,
    live: string | number | boolean,
  ): void => {
    if (wanted !== undefined && wanted !== live) faults.push(`rule ${name}: ${field} is ${live}, wanted ${wanted}`);
  };
  check('weight', spec.weight, row.weight);
  check('cookie', spec.cookie, row.cookie);
  check('header', spec.header, row.header);
  check('autoSsl', spec.autoSsl?.enabled, row.autoSsl);
  const { proxy_body_size: size } = (row.configuration ?? {}) as { readonly proxy_body_size?: number };
  if (!isAssumed) check('configuration', spec.configuration?.proxyBodySize, size ?? 0);
  return faults;
}

function installFaults(world: World, name: string, spec: StoreInstallSpec): string[] {
  const object = objectOf(world, 'StoreInstall', `install/${name}`);
  if (object === undefined) return [`install ${name} is not on record`];
  const version = object.lastApplied['modelVersion'];
  const faults =
    version === spec.model.version ? [] : [`install ${name} is on record with version ${version as string}`];
  if (object.origin !== 'created' || wasDeletedByHand(world, object)) return faults;
  const live = world.server.state.installs.in('application', String(ADDRESS.appId));
  if (!live.some((row) => row.modelId === spec.model.id)) faults.push(`install ${name} is on record and not there`);
  return faults;
}

/** Of everything that was ever installed for it, or taken for that, somebody has deleted the last component. */
function wasDeletedByHand({ truth, byHand }: World, { uid, remoteId }: OwnedObject): boolean {
  const made = truth.sent.flatMap((sent) => (sent.uid === uid ? sent.installs : []));
  const taken = remoteId === null ? made : [...made, remoteId];
  return taken.length > 0 && taken.every((id) => byHand.installs.has(id));
}

/** Rules of ours that git no longer names are deleted where that is allowed and possible. */
function leftovers(world: World, held: ReadonlySet<string>, plan: ScopePlan): string[] {
  if (!world.wishes.prune || world.dialect === 'documented') return [];
  const wanted = new Set(
    [...world.wishes.rules.values()].map(
      (spec) => `rule/${world.truth.serviceOf(spec.component, world.wishes)}/${spec.port}/${nameOf(spec)}`,
    ),
  );
  return [...world.books.objects.values()]
    .filter((object) => object.kind === 'HttpGatewayRule' && object.origin !== 'observed')
    .filter((object) => !wanted.has(object.naturalKey) && !held.has(object.resource) && !stays(world, object.resource))
    .filter((object) => !isUnidentified(world, object.resource) && !isElsewhere(world, object, plan))
    .map((object) => `${object.naturalKey} is no longer named and still on record as ${object.state}`);
}

/** Its component belongs to another application now, and Portolan says so. */
function isElsewhere({ server }: World, { resource, remoteId }: OwnedObject, { notes }: ScopePlan): boolean {
  const row = server.state.rules.get(remoteId ?? '');
  const isSaid = notes.some((note) => note.code === 'rule/elsewhere' && note.resource === resource);
  return isSaid && row !== undefined && row.appId !== ADDRESS.appId;
}

/** Its manifest said that it is never deleted, or may have. */
function stays({ truth }: World, rule: string): boolean {
  return truth.marks.of(rule, 'keep') !== 'no';
}

/** Rules that Portolan created are deleted when git no longer names them, whatever the ledger says of them. */
function leftRules(world: World, held: ReadonlySet<string>): string[] {
  const { wishes, dialect, truth, books, byHand, server } = world;
  if (!wishes.prune || dialect === 'documented') return [];
  const wanted = new Set(
    [...wishes.rules.values()].map((spec) =>
      placeOf({ ...spec, serviceId: truth.serviceOf(spec.component, wishes) ?? '' }),
    ),
  );
  const resources = new Map(truth.sent.map(({ uid, action }) => [uid, action.resource]));
  return [...server.state.rules.all()].flatMap((row) => {
    const uid = truth.makerOf(`rule ${row.id}`);
    const place = placeOf(row);
    if (uid === undefined || wanted.has(place) || byHand.rules.has(place) || byHand.moved.has(row.id)) return [];
    if (byHand.movedMs.has(row.serviceId)) return [];
    const resource = books.objects.get(uid)?.resource ?? resources.get(uid) ?? '';
    if (held.has(resource) || isUnidentified(world, resource) || stays(world, resource)) return [];
    return [`rule ${place} (${row.id}) of ${resource} is no longer named, was made by us, and is still there`];
  });
}

/** Ports that Portolan made and that git no longer lists are deleted where that is allowed and possible. */
function leftPorts(world: World, held: ReadonlySet<string>, plan: ScopePlan): string[] {
  if (!world.wishes.prune || world.dialect === 'documented') return [];
  const wanted = new Set(
    [...world.wishes.components].flatMap(([name, { ports }]) =>
      ports.map(({ port }) => `port/${world.truth.serviceOf(name, world.wishes)}/${port}`),
    ),
  );
  const rows = new Map([...world.books.objects.values()].map((row) => [row.naturalKey, row]));
  const onRecord = [...rows.values()].filter(
    ({ kind, origin, remoteAux }) => kind === 'Component' && origin === 'created' && remoteAux['listed'] !== undefined,
  );
  // With its component, a port goes to another application, and Portolan says so.
  const there = [...world.truth.made].filter(
    (place) =>
      world.server.state.ports.get(place) !== undefined &&
      !world.byHand.given.has(place) &&
      !world.byHand.movedMs.has(place.split('/')[0] as string),
  );
  const keys = new Set([...onRecord.map(({ naturalKey }) => naturalKey), ...there.map((place) => `port/${place}`)]);
  return [...keys].flatMap((key) => {
    const row = rows.get(key);
    if (wanted.has(key)) return [];
    const listed = row?.remoteAux['listed'] as { readonly prune?: string } | undefined;
    if (row !== undefined && (held.has(row.resource) || listed?.prune === 'keep' || isKept(world, row.resource)))
      return [];
    // It comes with another install now, and which component that is shows only when it runs.
    if (row !== undefined && isDeferred(plan, row.resource)) return [];
    return [`${key} is no longer listed, was made by us, and is still ${row === undefined ? 'there' : 'on record'}`];
  });
}

/** Ports and components that git no longer names have their former values again. */
function unrestored(world: World, held: ReadonlySet<string>, plan: ScopePlan): string[] {
  const { wishes, truth, byHand, server } = world;
  const names = [...wishes.components].map(([name, spec]) => ({ spec, serviceId: truth.serviceOf(name, wishes) }));
  if (!wishes.prune || world.dialect === 'documented' || names.some(({ serviceId }) => serviceId === undefined))
    return [];
  const wanted = new Set(
    names.flatMap(({ spec, serviceId = '' }) => [serviceId, ...spec.ports.map(({ port }) => `${serviceId}/${port}`)]),
  );
  return truth.former.owed(wanted).flatMap(({ serviceId, port, resource, field, value }) => {
    if (held.has(resource) || isDeferred(plan, resource) || byHand.movedMs.has(serviceId)) return [];
    return server.state.ports.in('component', serviceId).flatMap((row) => {
      const place = `${serviceId}/${row.port}`;
      const isOther = port !== undefined && row.port !== port;
      const isNamedByHand = field === 'serviceName' && byHand.named.has(serviceId);
      const isByHand = byHand.ports.has(place) || isNamedByHand || (field === 'outer' && hadRule(world, place));
      if (isOther || isByHand || row[field] === value) return [];
      return [`${resource} has gone, and ${field} of port ${row.port} is ${row[field]} and not ${value} again`];
    });
  });
}

/** Adopted rules that git no longer names have their former values again. */
function unrestoredRules({ wishes, truth, byHand, server, dialect }: World, held: ReadonlySet<string>): string[] {
  if (!wishes.prune || dialect === 'documented') return [];
  return truth.formerRules.owed(wishes, truth.marks).flatMap(({ ruleId, resource, field, value }) => {
    const row = server.state.rules.get(ruleId);
    if (row === undefined || held.has(resource) || byHand.moved.has(ruleId) || byHand.movedMs.has(row.serviceId))
      return [];
    if (byHand.rules.has(placeOf(row)) || row[field] === value) return [];
    return [`${resource} has gone, and ${field} of rule ${ruleId} is ${row[field]} and not ${value} again`];
  });
}

/** A rule opened the port, or needs it. */
function hadRule({ truth, byHand, server }: World, place: string): boolean {
  const isOnIt = (rule: string): boolean => rule.startsWith(`${place}/`);
  return (
    truth.sent.some(({ action: { object } }) => isOnIt(object.slice('rule/'.length))) ||
    [...byHand.rules, ...[...server.state.rules.all()].map(placeOf)].some(isOnIt)
  );
}

/** Its manifest says that it stays, or names a component that is not known yet. */
function isKept({ wishes, truth }: World, resource: string): boolean {
  const name = resource.slice('Component/'.length);
  const isUnknown = wishes.components.has(name) && truth.serviceOf(name, wishes) === undefined;
  return isUnknown || wishes.annotations.get(resource)?.['portolan/prune'] === 'keep';
}

/** Git names the rule, and its component comes with an install that is not there yet: nobody knows where the rule belongs. */
function isUnidentified({ wishes, truth }: World, resource: string): boolean {
  const component = wishes.rules.get(resource.slice('HttpGatewayRule/'.length))?.component;
  return component !== undefined && truth.serviceOf(component, wishes) === undefined;
}

function objectOf(world: World, kind: string, naturalKey: string): OwnedObject | undefined {
  for (const object of world.books.objects.values()) {
    if (object.kind === kind && object.naturalKey === naturalKey) return object;
  }
  return undefined;
}
