import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import type { Run } from './running.ts';
import { PORTS, type Scene, SETTLED_MS, setScene, shop, web } from './scene.ts';

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

/** Applies, and the first listing of ports is that from before the last port was added. */
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

test('a port that is to get its former values back is never said to be deleted, if it was not listed meanwhile', async () => {
  const restored = 'annotations: { portolan/on-removal: restore }';
  const opened = shop(web('ports:\n  - { port: 8080, protocol: http, outer: true }', restored));
  const scene = await setScene({ manifests: { 'a.yaml': opened } });
  expect((await scene.run('apply')).code).toBe(0);
  const { ports } = scene.sandbox.state;
  const port = scene.port(demo.webServiceId, 8080) ?? expect.fail('there is no port 8080');
  scene.write('a.yaml', shop(web('ports: []', restored)));
  ports.delete(`${demo.webServiceId}/8080`);
  scene.sandbox.setFaults([
    { operation: 'listPorts', skip: 1, times: 9, fault: { type: 'status', when: 'before', status: 503 } },
  ]);
  await scene.run('apply');
  scene.sandbox.setFaults([]);
  ports.put(port);
  const held = await scene.run('apply', ['--prune']);
  expect(held.code).toBe(4);
  expect(held.out).toContain('If it is the same port, give it back its former values (');
  expect(held.out).not.toContain('delete');
  expect(scene.port(demo.webServiceId, 8080)?.outer).toBe(true);
});

/** Somebody moves the component to another application; the result moves it back. */
function moveAway(scene: Scene): () => void {
  const { components } = scene.sandbox.state;
  const component = components.get(demo.webServiceId) ?? expect.fail('there is no component');
  components.put({ ...component, appId: component.appId + 1 });
  return () => components.put(component);
}

test('one reading without a component does not prove that it has left the application, however often that happens', async () => {
  const scene = await unlisted();
  scene.write('a.yaml', shop());
  const unreadable = { type: 'status', when: 'before', status: 503 } as const;
  for (let time = 0; time < 2; time += 1) {
    const moveBack = moveAway(scene);
    scene.sandbox.setFaults([{ operation: 'getApplication', skip: 1, times: 9, fault: unreadable }]);
    const unseen = await scene.run('apply', ['--prune']);
    expect(unseen.err + unseen.out).toContain(
      `component ${demo.webServiceId} of Component/shop-web is not in this application; a second reading confirms that`,
    );
    scene.sandbox.setFaults([]);
    moveBack();
    expect((await scene.run('apply')).out).toContain('apply --prune would delete it');
    scene.clock.push(SETTLED_MS);
  }
  expect((await scene.run('apply', ['--prune'])).out).toContain('delete unlisted port 9005');
  expect(isThere(scene)).toBe(false);
});

test('a component that has left the application is let go of after a second reading', async () => {
  const scene = await unlisted();
  scene.write('a.yaml', shop());
  moveAway(scene);
  const gone = await scene.run('apply', ['--prune']);
  expect(gone.code).toBe(0);
  expect(gone.err + gone.out).toContain('is not in this application; a second reading confirms that');
  expect((await scene.portolan(['ledger', 'list'])).out).not.toContain(demo.webServiceId);
  expect(isThere(scene)).toBe(true);
});
