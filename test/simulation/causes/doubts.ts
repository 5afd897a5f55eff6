import type { Intent } from '../../../src/model/owned.ts';
import type { Action } from '../../../src/model/plan.ts';
import { FAILURES_MAX } from '../../../src/plan/doubts.ts';
import { isInstall } from '../books.ts';
import type { World } from '../world.ts';
import {
  type Causes,
  doubtNamedBy,
  foreignInstalls,
  isForeign,
  placeOfWish,
  rulesAt,
  type RulesWitness,
  sentFor,
  when,
} from './cause.ts';

/** Holds of any kind: for an intent in doubt, for something that is held itself, for what the platform refuses again and again. */
export const causesOfDoubts: Causes = {
  'intent/in-doubt': (world, hold) => {
    const intent = doubtNamedBy(world, hold);
    if (intent === undefined || wasHeard(world, intent)) return undefined;
    // One install at a time: another one waits for it as well.
    const { object } = intent.action as unknown as Action;
    const isConcerned =
      intent.resource === hold.resource ||
      object === `rule/${placeOfWish(world, hold)}` ||
      (isInstall(intent) && hold.resource.startsWith('StoreInstall/'));
    return isConcerned ? undecidable(world, intent) : undefined;
  },
  'prune/in-doubt': (world, hold) => when(doubtNamedBy(world, hold) !== undefined, 'an intent is in doubt'),
  'plan/blocked': (_, hold, isHeld) => when(isHeld(awaited(hold.message)), 'what it waits for is held'),
  'effect/not-taken': (world, hold) => {
    const failed = [...world.books.objects.values()].filter(
      ({ resource, failures }) => resource === hold.resource && failures >= FAILURES_MAX,
    );
    const isTried = failed.some(({ naturalKey }) => {
      const sent = sentFor(world, naturalKey);
      const refused = sent.filter(({ isRefused, intent }) => isRefused || world.books.doubtedBy.has(intent.id)).length;
      return sent.length >= FAILURES_MAX && refused + unseenOf(world, naturalKey) >= FAILURES_MAX;
    });
    return when(isTried, 'three times it was refused, in doubt, or not shown where it was done');
  },
};

/** How often what was done could not be seen: a listing of its component's ports was not true, or somebody undid it. */
function unseenOf(world: World, naturalKey: string): number {
  const [kind, serviceId = '', port] = naturalKey.split('/');
  if (kind !== 'port' && kind !== 'component') return 0;
  // The name of a component is that of all its ports.
  const isConcerned = (place: string): boolean =>
    kind === 'port' ? place === `${serviceId}/${port}` : place.startsWith(`${serviceId}/`);
  const lies = [...world.server.misled].filter(([path]) => path.includes(`/${serviceId}/ports`));
  const edits = [...world.byHand.ports].filter(([place]) => isConcerned(place));
  return [...lies, ...edits].reduce((sum, [, times]) => sum + times, 0);
}

/** A process that heard a plain yes, and could write it down, knows how its request ended. */
function wasHeard(world: World, { id, epoch }: Intent): boolean {
  const sent = world.truth.of(id);
  const doubtedBySender = world.books.doubtedBy.get(id) === epoch;
  return sent?.isConfirmed === true && !sent.isOutcomeLost && doubtedBySender;
}

function undecidable(world: World, intent: Intent): string | undefined {
  switch (intent.operation) {
    case 'upgrade':
      return 'nothing proves an upgrade';
    case 'install':
      if (world.dialect === 'documented') return 'no listing proves an install';
      return (
        when(foreignInstalls(world).length > 0, 'somebody else installed something too') ??
        when(isOfUnknownGroup(world), 'another install on record may be the one that is seen')
      );
    case 'createRule':
      return undecidableRule(world, intent);
    default:
      return undefined;
  }
}

/** Why nobody can tell whether a request has created its rule. */
export function undecidableRule(world: RulesWitness, intent: Intent): string | undefined {
  const { object } = intent.action as unknown as Action;
  const place = object.slice('rule/'.length);
  const isTouched = world.byHand.rules.has(place) || rulesAt(world, place).some((row) => isForeign(world, row));
  return (
    when(isTouched, 'somebody else made or changed a rule in its place') ??
    when(hasStranger(world, place), 'somebody else made a rule of its port, which may be the one that was sent') ??
    when(isElsewhere(world, intent, place), 'somebody moved its component, with its rules, to another application')
  );
}

function hasStranger(world: RulesWitness, place: string): boolean {
  const [serviceId, port] = place.split('/');
  const rows = world.server.state.rules.in('port', `${serviceId}/${port}`);
  return rows.some((row) => isForeign(world, row));
}

/** A rule that belongs to another application is no proof: it may have been there before the component came. */
function isElsewhere(world: RulesWitness, { scope }: Intent, place: string): boolean {
  const [serviceId] = place.split('/');
  const component = [...world.server.state.components.all()].find(({ id }) => id === serviceId);
  return component !== undefined && component.appId !== Number(scope.split('/').at(-1));
}

/** Somebody else installed while one of ours was: which group is whose nobody could tell. */
function isOfUnknownGroup({ books }: World): boolean {
  return [...books.objects.values()].some(({ kind, remoteId }) => kind === 'StoreInstall' && remoteId === null);
}

/** The resource that a blocked one names as what it waits for. */
function awaited(message: string): string {
  const [, resource = ''] = /(?:cannot be done before |" of )([A-Z][A-Za-z]+\/[a-z0-9-]+)/.exec(message) ?? [];
  return resource;
}

/** Whether an install is in doubt, by the intent that a hold names. */
export function isInstallInDoubt(intent: Intent | undefined): boolean {
  return intent !== undefined && isInstall(intent);
}
