import type { Hold } from '../../src/model/plan.ts';
import { nameOf } from './actors.ts';
import { isInstall, isPending } from './books.ts';
import type { World } from './world.ts';

/**
 * Why a hold is right, from what the simulator knows and the controller does not; undefined: nothing explains it, and
 * it is a bug to hold there.
 */
export function explanationOf(world: World, hold: Hold): string | undefined {
  const cause = causes[hold.code];
  return cause?.(world, hold);
}

type Cause = (world: World, hold: Hold) => string | undefined;

const when = (holds: boolean, because: string): string | undefined => (holds ? because : undefined);

const causes: Readonly<Record<string, Cause>> = {
  'intent/in-doubt': (world, hold) => {
    const doubtful = [...world.books.intents.values()].find(
      (intent) => intent.state === 'unknown' && hold.message.includes(intent.id),
    );
    if (doubtful === undefined) return undefined;
    if (doubtful.operation === 'upgrade') return 'nothing proves an upgrade';
    if (doubtful.operation === 'install' && world.dialect === 'documented') return 'no listing proves an install';
    return when(world.byHand.count > 0, 'somebody else did the same');
  },
  'component/not-found': (world, hold) => {
    const service = serviceOf(world, hold);
    return when(service === undefined || world.server.state.components.get(service) === undefined, 'it is not there');
  },
  'component/alias-taken': (world, hold) => {
    const ports = world.server.state.ports.in('component', serviceOf(world, hold) ?? '');
    const wanted = wishOf(world, hold)?.ports ?? [];
    const taken = wanted.some((wish) => ports.some((row) => row.alias === wish.alias && row.port !== wish.port));
    const shared = new Set(ports.map((row) => row.alias)).size < ports.length;
    return when(taken || shared, 'a port that keeps it has the alias');
  },
  'component/protocol-needed': (world, hold) =>
    when(wishOf(world, hold)?.ports.some((port) => port.protocol === undefined) === true, 'no manifest says it'),
  'component/outer-unmanaged': (world, hold) =>
    when(
      wishOf(world, hold)?.ports.some((port) => port.inner === false && port.outer === undefined) === true,
      'unmanaged',
    ),
  'component/inner-unmanaged': (world, hold) =>
    when(wishOf(world, hold)?.ports.some((port) => port.inner !== true) === true, 'unmanaged'),
  'component/outer-owed': (world, hold) =>
    when(wishOf(world, hold)?.ports.some((port) => port.inner === false && port.outer === undefined) === true, 'owed'),
  'component/cannot-delete': (world) => when(world.dialect === 'documented', 'the dialect has no such call'),
  'component/ambiguous-install-component': (world, hold) =>
    when(
      world.byHand.count > 0 || world.resolvedByHand > 0 || world.truth.adoptionAllowed,
      'its components are not on record',
    ) ?? when(installIsOfAnotherModel(world, hold), 'the install on record is of another model than git says now'),
  'prune/in-doubt': (world) => when([...world.books.intents.values()].some(isPending), 'something is in doubt'),
  'component/opening-rule-held': (world, hold) => dependsOnHeld(world, hold),
  'plan/blocked': (world, hold) => dependsOnHeld(world, hold),
  'rule/port-missing': () => 'its component says so',
  'rule/port-closed': () => 'its component says so',
  'rule/inner-closed': (world, hold) => {
    const rule = ruleOf(world, hold);
    const component = world.wishes.components.get(rule?.component ?? '');
    const port = component?.ports.find((wish) => wish.port === rule?.port);
    return when(port?.inner !== true, 'no manifest opens it') ?? dependsOnHeld(world, hold);
  },
  'rule/not-ours': (world, hold) => {
    const spec = ruleOf(world, hold);
    if (spec === undefined) return undefined;
    const rows = [...world.server.state.rules.all()].filter((row) => nameOf(row) === nameOf(spec));
    return (
      when(
        rows.some((row) => world.truth.makerOf(`rule ${row.id}`) === undefined),
        'somebody else made it',
      ) ?? when(wasShownAway(world, hold), 'the platform showed twice that it was not there, when it was')
    );
  },
  'rule/exists-not-ours': (world, hold) => {
    const spec = ruleOf(world, hold);
    if (spec === undefined) return undefined;
    const rows = [...world.server.state.rules.all()].filter((row) => nameOf(row) === nameOf(spec));
    const foreign = rows.some((row) => world.truth.makerOf(`rule ${row.id}`) === undefined);
    return when(foreign || world.byHand.rules.has(nameOf(spec)), 'somebody else made it');
  },
  'rule/duplicate': (world) => when(world.byHand.count > 0, 'somebody else made the other'),
  'rule/cannot-update': (world) => when(world.dialect === 'documented', 'the dialect has no such call'),
  'rule/header-lost': () => 'an update drops the header',
  'rule/hidden-values': (world) => when(world.truth.adoptionAllowed, 'nobody can read them'),
  'install/not-ours': (world, hold) => {
    const model = world.wishes.installs.get(nameOfResource(hold))?.model.id ?? '';
    const doubtful = [...world.books.intents.values()].some((intent) => isPending(intent) && isInstall(intent));
    return when(world.byHand.models.has(model) || doubtful, 'somebody else installed it, or it is in doubt');
  },
  'install/ambiguous-adoption': (world) => when(world.byHand.models.size > 0, 'somebody else installed several'),
  'install/other-in-doubt': (world) =>
    when(
      [...world.books.intents.values()].some((intent) => isPending(intent) && isInstall(intent)),
      'an install is in doubt',
    ),
  'install/second-copy': (world, hold) => {
    const wish = world.wishes.installs.get(nameOfResource(hold));
    return when(wish?.allowSecondCopy === false, 'the ledger has it under another name');
  },
  'install/other-model': () => 'the name is taken by another model',
  'install/cannot-upgrade': (world) => when(world.dialect === 'documented', 'the dialect has no such call'),
  'install/two-copies': (world) => {
    const rows = [...world.server.state.installs.all()];
    const known = [...world.books.objects.values()].filter((object) => object.kind === 'StoreInstall');
    return when(rows.length > 1 || known.length > 1, 'there are two');
  },
  'install/not-running': (world) => {
    const rows = [...world.server.state.components.all()];
    return when(rows.length === 0 || rows.some((row) => row.life.type === 'steady'), 'not all of it runs');
  },
  'install/first-into-unknown': (world) => when(!world.firstInstall && world.dialect === 'documented', 'not confirmed'),
  'effect/not-taken': (world, hold) => {
    const failed = [...world.books.objects.values()].filter((object) => object.failures >= 3);
    const uid = failed.find((object) => object.resource === hold.resource)?.uid;
    return when(uid !== undefined && world.refusedObjects.has(uid), 'it was refused');
  },
};

/** The name stays with the model that was installed under it; another one has other components. */
function installIsOfAnotherModel(world: World, hold: Hold): boolean {
  const install = wishOf(world, hold)?.from?.install ?? '';
  const onRecord = [...world.books.objects.values()].find((object) => object.naturalKey === `install/${install}`);
  const model = world.wishes.installs.get(install)?.model.id;
  return onRecord !== undefined && onRecord.lastApplied['modelId'] !== model;
}

/** A creation in doubt was taken for not done because listings lied, and for once they were two. */
function wasShownAway(world: World, { resource }: Hold): boolean {
  const hasLied = (world.counts.get('read-empty') ?? 0) + (world.counts.get('read-stale') ?? 0) > 0;
  const concluded = [...world.books.intents.values()].filter(
    (intent) => intent.resource === resource && intent.operation === 'createRule' && intent.state === 'rejected',
  );
  return hasLied && concluded.some((intent) => world.truth.of(intent.id)?.fate === 'applied');
}

function nameOfResource({ resource }: Hold): string {
  return resource.slice(resource.indexOf('/') + 1);
}

function wishOf(world: World, hold: Hold) {
  return world.wishes.components.get(nameOfResource(hold));
}

function ruleOf(world: World, hold: Hold) {
  return world.wishes.rules.get(nameOfResource(hold));
}

function serviceOf(world: World, hold: Hold): string | undefined {
  return world.truth.serviceOf(nameOfResource(hold), world.wishes);
}

/** Something that it needs is held itself, and has its own cause. */
function dependsOnHeld(world: World, hold: Hold): string | undefined {
  const others = world.lastPlan?.holds.filter((other) => other.resource !== hold.resource || other.code !== hold.code);
  return others?.some((other) => explanationOf(world, other) !== undefined) === true
    ? 'what it waits for is held'
    : undefined;
}
