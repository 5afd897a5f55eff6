import { transaction } from '../apply/journal.ts';
import type { ApplyWorld } from '../apply/world.ts';
import { makesCopies, type ReconciledKinds } from '../../kinds/define.ts';
import { type Binding, changeBinding } from '../../ledger/binding.ts';
import { awaitsConfirmation, confirmScope, forgetSince, knownSince } from '../../ledger/confirmation.ts';
import type { LedgerOperation, ObjectFilter } from '../../ledger/ledger.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import { parseScopeKey, type Scope, type ScopeKey, scopeKey } from '../../model/ids.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { installsFact } from '../ledger-view.ts';

/** A ledger, and who speaks to it. */
type ManualWorld = Pick<ApplyWorld, 'ledger' | 'clock' | 'actor'>;

export interface Confirmed {
  /** `already`: it was confirmed before, and nothing was written. */
  readonly type: 'now' | 'already';
  /** Whether the ledger had ever recorded anything of the scope. */
  readonly known: boolean;
}

/** A person says that installing into a scope is safe: what the ledger does not know there is no copy of what it would install. */
export async function confirmInstalls(world: ManualWorld, scope: Scope): Promise<Confirmed> {
  const { ledger } = world;
  const key = scopeKey(scope);
  const fact = await ledger.fact(installsFact(scope));
  const known = fact !== undefined || (await ledger.scopes()).includes(key);
  const since = await knownSince(ledger, key);
  const isOpen = since.total !== undefined || since.besides !== undefined || (await awaitsConfirmation(ledger, key));
  if (fact === 'confirmed' && !isOpen) return { type: 'already', known };
  await ledger.commit(
    transaction(world, scope, [
      { op: 'set-fact', key: installsFact(scope), value: 'confirmed' },
      confirmScope(key, ledger.epoch),
      ...forgetSince(key),
      { op: 'record', event: 'installs.confirmed', detail: { epoch: ledger.epoch } },
    ]),
  );
  return { type: 'now', known };
}

/** Limits the objects that a name may mean; without it, all of the ledger. */
export type ObjectsIn = Pick<ObjectFilter, 'source' | 'scope'>;

/**
 * The objects that a person named, by uid or as a resource with all its objects, ordered by uid.
 * @throws PortolanError `invalid` when there are none, or a resource is of several sources and none was named.
 */
export async function objectsNamed(
  { ledger }: Pick<ManualWorld, 'ledger'>,
  name: string,
  { source, scope }: ObjectsIn,
): Promise<readonly OwnedObject[]> {
  const all = await ledger.objects({ source, scope });
  const named = all.filter((object) => object.uid === name || object.resource === name);
  const sources = [...new Set(named.map((object) => object.source))];
  if (sources.length > 1) {
    throw invalidInput(
      'ledger/several-sources',
      `${name} is on record for the sources ${sources.join(' and ')}. Nothing was recorded.`,
      'Say which one with --source NAME, or name one object by its uid (portolan ledger show prints it).',
    );
  }
  if (named.length > 0) return named;
  const where = `${source === undefined ? '' : ` of source ${source}`}${scope === undefined ? '' : ` in ${scope}`}`;
  throw invalidInput(
    'ledger/no-object',
    `The ledger ${ledger.location} has no object or resource ${name}${where}. Nothing was recorded.`,
    'List what it has: portolan ledger list. A resource is written Kind/name.',
  );
}

/** Resets the counts of failed writes, so that they are tried again. @returns the objects that were held. */
export async function retryObjects(
  world: ManualWorld,
  objects: readonly OwnedObject[],
): Promise<readonly OwnedObject[]> {
  const failed = objects.filter((object) => object.failures > 0);
  await commitPerScope(world, failed, (object) => [
    { op: 'put-object', object: { ...object, failures: 0 } },
    { op: 'record', event: 'retry', uid: object.uid, detail: { resource: object.resource, failures: object.failures } },
  ]);
  return failed;
}

/**
 * Drops objects from the ledger. Nothing is sent to the platform: what they stand for stays there, and is not ours any
 * more. After an install was dropped, the next one into its scope waits until a person has confirmed it.
 * @throws PortolanError `ask-human` while an intent for one of them has no outcome.
 */
export async function forgetObjects(
  world: ManualWorld & Pick<ApplyWorld, 'kinds'>,
  objects: readonly OwnedObject[],
  reason: string,
): Promise<void> {
  const uids = new Set(objects.map((object) => object.uid));
  const pending = (await world.ledger.intents({ states: ['open', 'unknown'] })).filter(({ uid }) => uids.has(uid));
  const [first] = pending;
  if (first !== undefined) {
    throw new PortolanError({
      code: 'ledger/intent-pending',
      disposition: 'ask-human',
      message: `Nothing was dropped: ${first.operation} of ${first.resource} (intent ${first.id}) was sent and its outcome is not known. Without the object, its effect could not be found out.`,
      remedy: `Apply again, which resolves it by observation; or say what happened: portolan ledger resolve ${first.id} --applied|--not-applied --reason "…".`,
    });
  }
  await commitPerScope(world, objects, (object, scope) => [
    { op: 'drop-object', uid: object.uid },
    ...(makesCopies(world.kinds, object.kind)
      ? [{ op: 'set-fact', key: installsFact(scope), value: 'forgotten' } as const]
      : []),
    {
      op: 'record',
      event: 'forgotten',
      uid: object.uid,
      // Enough to know later what it was: nothing else remembers it.
      detail: {
        resource: object.resource,
        reason,
        origin: object.origin,
        remoteId: object.remoteId,
        lastApplied: object.lastApplied,
        obligation: object.obligation,
      },
    },
  ]);
}

/** Returns the consequences of forgetting an object: a repeated install, and values that are no longer restored. */
export function forgetWarnings(
  kinds: ReconciledKinds,
  { kind, resource, scope, obligation }: OwnedObject,
): readonly string[] {
  const owed = Object.entries(obligation ?? {}).map(([field, value]) => `${field} = ${JSON.stringify(value)}`);
  return [
    ...(makesCopies(kinds, kind)
      ? [
          `while a manifest names ${resource}, an apply would install it a second time; the install is held until you confirm that it is safe: portolan ledger confirm ${scope}`,
        ]
      : []),
    ...(owed.length === 0
      ? []
      : [`${resource} was changed temporarily and is no longer restored automatically: restore ${owed.join(', ')}`]),
  ];
}

async function commitPerScope(
  world: ManualWorld,
  objects: readonly OwnedObject[],
  operationsOf: (object: OwnedObject, scope: Scope) => readonly LedgerOperation[],
): Promise<void> {
  for (const [key, ofScope] of Map.groupBy(objects, (object) => object.scope)) {
    const scope = knownScope(key);
    await world.ledger.commit(
      transaction(
        world,
        scope,
        ofScope.flatMap((object) => operationsOf(object, scope)),
      ),
    );
  }
}

function knownScope(key: ScopeKey): Scope {
  const scope = parseScopeKey(key);
  if (scope === undefined) throw new Error(`the ledger has objects of ${key}, which is not a scope`);
  return scope;
}

/** An id of the platform, as every decoder of its answers wants it. */
const PLATFORM_ID = /^[\w-]{1,64}$/;

/**
 * A person says that an object on record is ours, of a kind whose objects are adopted by their id.
 * @param remoteId the platform's id of it; absent keeps what is on record.
 * @throws PortolanError `invalid` when it is not one such object, or is ours already under that id.
 */
export async function adoptObject(
  world: ManualWorld & Pick<ApplyWorld, 'kinds'>,
  objects: readonly OwnedObject[],
  remoteId: string | undefined,
  reason: string,
): Promise<OwnedObject> {
  const [object, another] = objects;
  const kind = object && world.kinds.get(object.kind);
  if (object === undefined || another !== undefined || kind?.adoptsById === undefined) {
    const names = objects.map(({ uid }) => uid).join(', ');
    const kinds = [...world.kinds.values()];
    const nouns = kinds.flatMap(({ adoptsById, view }) => (adoptsById === undefined ? [] : [view.noun])).join(' or ');
    const others = kinds.flatMap(({ adoption }) => adoption ?? []).join(' ');
    throw refusedAdoption(
      `${names} ${another === undefined ? `is not a ${nouns}` : 'are several objects'}`,
      `Name one ${nouns} by its uid (portolan ledger list). ${others}`,
    );
  }
  if (remoteId !== undefined && !PLATFORM_ID.test(remoteId)) {
    throw refusedAdoption(
      `"${remoteId}" is not an id of the platform`,
      `Pass the ${kind.adoptsById}: up to 64 letters, digits, _ and -.`,
    );
  }
  const id = remoteId ?? object.remoteId;
  if (object.origin !== 'observed' && object.remoteId === id) {
    throw refusedAdoption(
      `${object.uid} is ours already${id === null ? ', and no --id was given' : ` as ${id}`}`,
      `Pass --id to say which ${kind.view.noun} it is.`,
    );
  }
  const adopted: OwnedObject = {
    ...object,
    remoteId: id,
    origin: object.origin === 'observed' ? 'adopted' : object.origin,
    state: id === null ? 'unverified' : 'present',
    failures: 0,
  };
  await commitPerScope(world, [object], () => [
    { op: 'put-object', object: adopted },
    {
      op: 'record',
      event: 'adopted',
      uid: object.uid,
      detail: { resource: object.resource, reason, remoteId: id, before: object.remoteId },
    },
  ]);
  return adopted;
}

function refusedAdoption(what: string, remedy: string): PortolanError {
  return invalidInput('ledger/cannot-adopt', `Nothing was adopted: ${what}.`, remedy);
}

/**
 * A person says that a platform is the one that the ledger was written for, although its URL or the ids of its regions
 * have changed. The ids are bound again at their next use.
 * @param url of the platform now, in the spelling of `canonicalUrl`.
 * @param by who says so.
 * @returns the former binding; undefined where the ledger had none.
 */
export async function rebindPlatform(
  { ledger, clock, actor }: ManualWorld,
  platform: string,
  url: string,
  { reason, by = actor }: { readonly reason: string; readonly by?: string },
): Promise<Binding | undefined> {
  let former: Binding | undefined;
  await changeBinding(ledger, {
    platform,
    actor,
    atMs: clock.now(),
    next: (known) => {
      former = known;
      const before = known === undefined ? null : { url: known.url, regions: Object.fromEntries(known.regions) };
      return {
        binding: { url, regions: new Map() },
        event: 'platform.rebound',
        detail: { url, before, reason, by },
      };
    },
  });
  return former;
}
