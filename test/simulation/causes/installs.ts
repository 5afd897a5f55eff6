import type { Step } from '../../../src/kinds/reconciled.ts';
import type { Action, Hold } from '../../../src/model/plan.ts';
import type { InstallRow } from '../../../src/sandbox/state.ts';
import { componentStatus } from '../../../src/sandbox/records.ts';
import { ADDRESS } from '../shop.ts';
import { EPOCH_MS } from '../server.ts';
import type { World } from '../world.ts';
import {
  type Causes,
  doubtNamedBy,
  foreignInstalls,
  installWishOf,
  isInApplication,
  nameOfResource,
  onRecord,
  when,
} from './cause.ts';
import { isInstallInDoubt } from './doubts.ts';

/** Holds of installs: each has its cause in what is installed of its own model, or in what is on record under its own name. */
export const causesOfInstalls: Causes = {
  'install/components-elsewhere': (world) =>
    when(
      [...world.wishes.components.values()].some(
        ({ serviceId }) => serviceId !== undefined && !isInApplication(world, serviceId),
      ),
      'a component of the source is not in the application',
    ),
  'install/not-ours': (world, hold) => when(foreignCopies(world, hold).length > 0, 'somebody else installed it'),
  // No listing says which group of components is of which model.
  'install/ambiguous-adoption': (world, hold) =>
    when(
      foreignCopies(world, hold).length > 0 && foreignInstalls(world).length > 1,
      'somebody else installed it, and something else too',
    ),
  'install/other-in-doubt': (world, hold) =>
    when(isInstallInDoubt(doubtNamedBy(world, hold)), 'an install is in doubt'),
  'install/second-copy': (world, hold) => {
    const wish = installWishOf(world, hold);
    const own = `install/${nameOfResource(hold)}`;
    const others = recordsOf(world, wish?.model.id).filter(({ naturalKey }) => naturalKey !== own);
    return when(wish?.allowSecondCopy === false && others.length > 0, 'the ledger has it under another name');
  },
  'install/other-model': (world, hold) => {
    const object = onRecord(world, `install/${nameOfResource(hold)}`);
    const wanted = installWishOf(world, hold)?.model.id;
    const isOther = object !== undefined && wanted !== undefined && object.lastApplied['modelId'] !== wanted;
    return when(isOther && wasInstalled(world, object.uid, wanted), 'the name is taken by another model');
  },
  'install/cannot-upgrade': (world, hold) => {
    const recorded = onRecord(world, `install/${nameOfResource(hold)}`)?.lastApplied['modelVersion'];
    const wanted = installWishOf(world, hold)?.model.version;
    const isOther = recorded !== undefined && wanted !== undefined && recorded !== wanted;
    return when(isOther && world.dialect === 'documented', 'the dialect has no such call');
  },
  'install/two-copies': (world, hold) => {
    const model = installWishOf(world, hold)?.model.id;
    return when(copiesOf(world, model).length > 1 || recordsOf(world, model).length > 1, 'there are two of its model');
  },
  'install/not-running': (world, hold) => {
    const rows = world.server.state.components.in('application', String(ADDRESS.appId));
    const nowMs = EPOCH_MS + world.timeline.nowMs;
    const isRunning = rows.length > 0 && rows.every((row) => componentStatus(row, true, nowMs) === 'running');
    return when(
      onRecord(world, `install/${nameOfResource(hold)}`) !== undefined && awaits(world, hold) && !isRunning,
      'not all of it runs',
    );
  },
  'install/store-key-refused': (world) => {
    const refused = ['store-key-403-before', 'store-key-403-after'].some((fault) => world.counts.has(fault));
    return when(refused, 'the store refused the key');
  },
  // Somebody installed between the last look and the answer.
  'install/not-alone': (world) => {
    const deleted = [...world.byHand.installs].filter((id) => world.truth.makerOf(`install ${id}`) === undefined);
    return (
      when(foreignInstalls(world).length + deleted.length > 0, 'somebody else installed at the same time') ??
      when(world.byHand.movedHere.size > 0, 'somebody moved a component into the application at the same time') ??
      when(hidesOurs(world), 'two old readings in succession hid another install of ours')
    );
  },
  'install/unknown-components': (world) =>
    when(!world.firstInstall && world.dialect === 'documented', 'others have added components, and nobody confirmed'),
  'install/first-into-unknown': (world) => {
    const isUnknown = !world.firstInstall && world.dialect === 'documented';
    const components = world.server.state.components.in('application', String(ADDRESS.appId));
    const recorded = [...world.books.objects.values()].filter(({ kind }) => kind === 'StoreInstall');
    return when(isUnknown && components.length > 0 && recorded.length === 0, 'not confirmed');
  },
};

/** Only the number of components shows an install, and two readings were older than another install. */
function hidesOurs({ counts, truth, dialect }: World): boolean {
  const ours = truth.sent.filter(({ installs }) => installs.length > 0);
  return dialect === 'documented' && ours.length > 1 && (counts.get('read-stale') ?? 0) > 1;
}

/** It was installed to come to run first. */
function awaits(world: World, hold: Hold): boolean {
  const uid = onRecord(world, `install/${nameOfResource(hold)}`)?.uid;
  return stepsFor(world, uid).some((step) => step['waitMs'] !== undefined);
}

function copiesOf(world: World, model: string | undefined): readonly InstallRow[] {
  return [...world.server.state.installs.all()].filter(({ modelId }) => modelId === model);
}

function foreignCopies(world: World, hold: Hold): readonly InstallRow[] {
  const model = installWishOf(world, hold)?.model.id;
  return foreignInstalls(world).filter(({ modelId }) => modelId === model);
}

function recordsOf(world: World, model: string | undefined) {
  return [...world.books.objects.values()].filter(
    ({ kind, lastApplied }) => kind === 'StoreInstall' && lastApplied['modelId'] === model,
  );
}

/** Another model than the wanted one was sent under this name, or adopted. */
function wasInstalled(world: World, uid: string, wanted: string): boolean {
  const isAdopted = world.books.objects.get(uid)?.origin === 'adopted';
  return isAdopted || stepsFor(world, uid).some((step) => step['modelId'] !== wanted);
}

/** What was to be done for an object, sent or not: what somebody else did in the meantime may be taken for it. */
function stepsFor(world: World, uid: string | undefined): readonly Step[] {
  const intents = [...world.books.intents.values()].filter((intent) => intent.uid === uid);
  const sent = world.truth.sent.filter((other) => other.uid === uid);
  return [...intents, ...sent.map(({ intent }) => intent)].map(({ action }) => (action as unknown as Action).step);
}
