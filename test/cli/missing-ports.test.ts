import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import type { Run } from './running.ts';
import { PORTS, type Scene, setScene, shop, web } from './scene.ts';

const ADDED = '\n  - { port: 9005, protocol: tcp, inner: true }';

/** A shop whose port 9005 Portolan has added, and whose manifest no longer lists it. */
async function unlisted(): Promise<Scene> {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web(PORTS + ADDED)));
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web(PORTS)));
  return scene;
}

/** Applies, and the first listing of ports is that from before port 9005 was added. */
function applyUnseen(scene: Scene, args: readonly string[] = []): Promise<Run> {
  scene.sandbox.setFaults([{ operation: 'listPorts', times: 1, fault: { type: 'stale', versions: 1 } }]);
  return scene.run('apply', args);
}

const isThere = (scene: Scene): boolean => scene.port(demo.webServiceId, 9005) !== undefined;

test.for([
  ['its entry', shop(web(PORTS))],
  ['its component', shop()],
] as const)(
  'one reading without a port, after %s was removed from git, does not prove that it is gone',
  async ([, manifest]) => {
    const scene = await unlisted();
    scene.write('a.yaml', manifest);
    const first = await applyUnseen(scene);
    expect(first.err + first.out).toContain(
      'port 9005 of Component/shop-web is not listed; a second reading confirms that',
    );
    for (const unseen of [false, true, false]) {
      if (unseen) await applyUnseen(scene);
      const held = await scene.run('apply', ['--prune']);
      expect(held.code).toBe(4);
      expect(held.out).toContain('the platform did not list it for some time');
      expect(held.out).toContain('portolan ledger forget default:default/team-a/region-1/42:Component:port/');
    }
    expect(isThere(scene)).toBe(true);
    scene.write('a.yaml', shop(web(PORTS + ADDED)));
    expect((await scene.run('apply')).code).toBe(0);
    scene.write('a.yaml', shop(web(PORTS)));
    expect((await scene.run('apply', ['--prune'])).out).toContain('delete unlisted port 9005');
    expect(isThere(scene)).toBe(false);
  },
);

test('a port that a person deleted leaves the ledger when a second reading does not show it either', async () => {
  const scene = await unlisted();
  scene.sandbox.state.ports.delete(`${demo.webServiceId}/9005`);
  const isOnRecord = async (): Promise<boolean> => (await scene.portolan(['ledger', 'list'])).out.includes('/9005');
  await scene.run('plan');
  expect(await isOnRecord()).toBe(true);
  expect((await scene.run('apply')).code).toBe(0);
  expect(await isOnRecord()).toBe(false);
});
