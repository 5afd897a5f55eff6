import {
  DEMO_APPLICATIONS,
  FAILING_REGION,
  firstVariant,
  fleetSeed,
  manifestsOf,
  type Variant,
} from '../../src/cli/commands/demo/fleet.ts';
import type { ControllerStatus } from '../../src/model/status.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { openWorld, type World } from './world.ts';

/** Settings under which a fleet shows everything within seconds. */
const SETTINGS = `  prune: { enabled: true, maxObjects: 3 }
  settle: { targetState: 5s }
  source: { interval: 1s }
  controller: { resyncInterval: 5s, pruneAfter: 1s }`;

const FILE = (name: string): string => `${name}.yaml`;

function manifests(name: string, changes: Partial<Variant> = {}): string {
  return manifestsOf(name, { ...firstVariant(name), ...changes });
}

/**
 * Opens a world with the applications of the demo and one of every state: drifted (catalog), an approval (shop), suspended (mail), a
 * lost answer (billing), a region under maintenance (wiki), a region that fails (media, reports, …), and a rejected commit.
 */
export async function openFleet(): Promise<World> {
  const texts = Object.fromEntries(DEMO_APPLICATIONS.map(({ name }) => [FILE(name), manifests(name)]));
  const reported = (text: string): string =>
    text.replace(
      'metadata: { name: catalog-web }',
      'metadata: { name: catalog-web, annotations: { portolan/reconcile: report } }',
    );
  const world = await openWorld({
    sandbox: { seed: fleetSeed },
    manifests: texts,
    settings: SETTINGS,
  });
  await until(world, ({ ready }) => ready >= 10);
  world.commit(
    { [FILE('search')]: manifests('search', { weight: 80 }) },
    'Send a fifth of the searches to the new cluster',
  );
  await world.settled();
  // Reported, so that Portolan does not correct it while somebody looks.
  world.commit({ [FILE('catalog')]: reported(manifests('catalog')) }, 'Only report the drift of catalog');
  await world.settled();
  world.sandbox.alter(({ ports }) => {
    const { components } = fleetSeed.applications?.find(({ name }) => name === 'catalog') ?? {};
    const port = [...ports.all()].find(({ serviceId }) => serviceId === components?.[0]?.id);
    if (port !== undefined) ports.put({ ...port, alias: 'EDITED' });
  });
  await world.portolan(['suspend', 'mail', '--reason', 'The provider moves our mailboxes until Thursday']);
  world.sandbox.setFaults([
    { name: 'lost', path: '**/ports/*', method: 'PUT', times: 1, fault: { type: 'drop', when: 'after' } },
  ]);
  world.commit({ [FILE('billing')]: manifests('billing', { alias: 'INVOICES' }) }, 'Rename the port of billing');
  await world.settled();
  world.commit(
    { [FILE('shop')]: manifests('shop', { domains: ['www.shop.example.com'] }) },
    'Remove the old domains of the shop',
  );
  await until(world, ({ held }) => held > 0);
  world.sandbox.setFaults([
    {
      name: 'region',
      path: `**/regions/${FAILING_REGION}/**`,
      fault: { type: 'status', when: 'before', status: 502, body: { msg: 'bad gateway' } },
    },
  ]);
  await until(world, ({ failing, drifted }) => failing > 0 && drifted > 0);
  const faulty = `${manifests('reviews')}---\nkind: Component\nmetadata: { name: [broken\n`;
  world.commit({ [FILE('reviews')]: faulty }, 'Add another component of reviews');
  await untilStatus(world, ({ source }) => source.error !== null);
  return world;
}

const until = (world: World, isSo: (counts: ControllerStatus['counts']) => boolean): Promise<void> =>
  untilStatus(world, ({ counts }) => isSo(counts));

async function untilStatus(world: World, isSo: (status: ControllerStatus) => boolean): Promise<void> {
  while (!isSo(await world.api<ControllerStatus>('/api/v1/status'))) await systemClock.sleep(100);
}
