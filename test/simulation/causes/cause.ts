import type { Hold } from '../../../src/model/plan.ts';
import type { Intent, OwnedObject } from '../../../src/model/owned.ts';
import type { InstallRow, RuleRow } from '../../../src/sandbox/state.ts';
import { placeOf } from '../places.ts';
import { ADDRESS } from '../shop.ts';
import { isPending } from '../books.ts';
import type { Sent } from '../truth.ts';
import type { World } from '../world.ts';

/**
 * Why a hold is right: what happened in this schedule, or stands on the platform now, to the very object that is held.
 * What happened to others, or might have happened, explains nothing.
 */
export type Cause = (world: World, hold: Hold, isHeld: IsHeld) => string | undefined;

/** Whether a resource is held itself, for a cause of its own. */
export type IsHeld = (resource: string) => boolean;

/** A world, as far as what became of a rule has to do with it. */
export type RulesWitness = Pick<World, 'server'> & {
  readonly byHand: Pick<World['byHand'], 'rules'>;
  readonly truth: Pick<World['truth'], 'makerOf'>;
};

export type Causes = Readonly<Record<string, Cause>>;

export const when = (holds: boolean, because: string): string | undefined => (holds ? because : undefined);

export function nameOfResource({ resource }: Hold): string {
  return resource.slice(resource.indexOf('/') + 1);
}

/** The component that is held, or whose rule is held because of it. */
function componentNameOf(world: World, hold: Hold): string {
  const name = nameOfResource(hold);
  return hold.resource.startsWith('Component/') ? name : (world.wishes.rules.get(name)?.component ?? '');
}

export function wishOf(world: World, hold: Hold) {
  return world.wishes.components.get(componentNameOf(world, hold));
}

export function installWishOf(world: World, hold: Hold) {
  return world.wishes.installs.get(nameOfResource(hold));
}

export function ruleWishOf(world: World, hold: Hold) {
  return world.wishes.rules.get(nameOfResource(hold));
}

export function serviceOf(world: World, hold: Hold): string {
  return world.truth.serviceOf(componentNameOf(world, hold), world.wishes) ?? '';
}

export function isInApplication({ server }: World, serviceId: string): boolean {
  return server.state.components.get(serviceId)?.appId === ADDRESS.appId;
}

/** Where a rule's manifest wants it; see `placeOf`. */
export function placeOfWish(world: World, hold: Hold): string | undefined {
  const spec = ruleWishOf(world, hold);
  const serviceId = spec === undefined ? undefined : world.truth.serviceOf(spec.component, world.wishes);
  return spec === undefined || serviceId === undefined ? undefined : placeOf({ ...spec, serviceId });
}

/** The rules that stand where a manifest wants one. */
export function rulesAt(world: RulesWitness, place: string | undefined): readonly RuleRow[] {
  return [...world.server.state.rules.all()].filter((row) => placeOf(row) === place);
}

export function isForeign(world: RulesWitness, row: RuleRow): boolean {
  return world.truth.makerOf(`rule ${row.id}`) === undefined;
}

export function foreignInstalls(world: World): readonly InstallRow[] {
  return [...world.server.state.installs.all()].filter(({ id }) => world.truth.makerOf(`install ${id}`) === undefined);
}

export function onRecord(world: World, naturalKey: string): OwnedObject | undefined {
  for (const object of world.books.objects.values()) if (object.naturalKey === naturalKey) return object;
  return undefined;
}

export function sentFor(world: World, naturalKey: string): readonly Sent[] {
  const uid = onRecord(world, naturalKey)?.uid;
  return world.truth.sent.filter((sent) => sent.action.object === naturalKey || sent.uid === uid);
}

/** The intent that a hold names, if it is in doubt. */
export function doubtNamedBy(world: World, hold: Hold): Intent | undefined {
  for (const intent of world.books.intents.values()) {
    if (isPending(intent) && hold.message.includes(intent.id)) return intent;
  }
  return undefined;
}
