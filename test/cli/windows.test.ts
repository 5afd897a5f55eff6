import { expect, test } from 'vitest';
import { savePlan } from './saved.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

/** A window that begins anew before it ends. */
const always = (kind: string, facts = ''): string =>
  `{ windows: [{ name: freeze, kind: ${kind}, schedule: "0 * * * *", duration: 2h${facts} }] }`;
const manifests = { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) };

async function history(scene: Scene): Promise<string> {
  return (await scene.portolan(['ledger', 'history'])).out;
}

test('a deny window holds plan and apply with 4; --ignore-windows goes on, says why, and is on record', async () => {
  const scene = await setScene({ settings: always('deny'), manifests });
  for (const command of ['plan', 'apply'] as const) {
    const run = await scene.run(command);
    expect(run.code).toBe(4);
    expect(run.out).toContain('refused by a guard (guard/window)');
    expect(run.out).toContain('the window "freeze" keeps Application/shop from being changed; nothing was sent');
    expect(run.out).toContain('→ to allow it: --ignore-windows --reason "…"');
  }
  expect(scene.traffic().writes).toEqual([]);
  const silent = await scene.run('apply', ['--ignore-windows']);
  expect(silent.code).toBe(3);
  expect(silent.err).toContain('No reason was given');
  expect(scene.traffic().writes).toEqual([]);

  const run = await scene.run('apply', ['--ignore-windows', '--reason', 'the shop is down, OPS-17']);
  expect(run.code).toBe(0);
  expect(scene.traffic().writes.length).toBeGreaterThan(0);
  expect(await history(scene)).toContain('window-ignored');
  // What is as it should be is looked at in any window.
  expect((await scene.run('apply')).code).toBe(0);
});

test('outside of an allow window nothing is changed either, and the one that comes next is named', async () => {
  const settings = '{ windows: [{ name: nights, kind: allow, schedule: "0 0 29 2 *", duration: 1m }] }';
  const scene = await setScene({ settings, manifests });
  const run = await scene.run('apply');
  expect(run.code).toBe(4);
  expect(run.out).toMatch(/is changed only within its windows, of which "nights" comes next, until \d{4}-02-29T00:00/);
  expect(scene.traffic().writes).toEqual([]);
});

test('a window that begins in the middle of an apply stops it before its next write, with 4', async () => {
  const startsMs = Date.UTC(2026, 10, 22, 12);
  const scene = await setScene({
    settings: '{ windows: [{ name: freeze, kind: deny, schedule: "0 12 * * *", duration: 2h }] }',
    manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com'), rule('ww2', 'ww2.example.com')) },
  });
  const writes = () => scene.sandbox.requests().filter(({ isWrite }) => isWrite).length;
  // The window begins when the platform has received the first write.
  const clock = {
    now: () => (writes() === 0 ? startsMs - 60_000 : startsMs),
    monotonic: () => scene.clock.monotonic(),
    sinceBoot: () => scene.clock.sinceBoot(),
    sleep: (ms: number, signal?: AbortSignal) => scene.clock.sleep(ms, signal),
  };
  const run = await scene.run('apply', [], { clock });
  expect(run.code).toBe(4);
  expect(run.out).toContain('skipped HttpGatewayRule/ww2');
  expect(run.out).toContain('not begun: the window "freeze" allows no change now');
  expect(scene.traffic().writes).toHaveLength(1);
  expect(await history(scene)).not.toContain('window-ignored');
  const ignoring = await scene.run('apply', ['--ignore-windows', '--reason', 'OPS-18'], { clock });
  expect(ignoring.code).toBe(0);
  expect(scene.traffic().writes.length).toBeGreaterThan(1);
});

test('a window that is meant for others holds nothing, and one that is open neither', async () => {
  for (const settings of [always('deny', ', scopes: ["other/*/*"]'), always('allow')]) {
    const scene = await setScene({ settings, manifests });
    expect((await scene.run('apply')).code).toBe(0);
    expect(await history(scene)).not.toContain('window-ignored');
  }
});

test('a plan may be saved in a window that holds it, and is held when it is carried out', async () => {
  const scene = await setScene({ settings: always('deny'), manifests });
  const saved = await savePlan(scene);
  expect(saved.planned.code).toBe(4);
  const held = await saved.apply();
  expect(held.code).toBe(4);
  expect(held.out).toContain('guard/window');
  expect(scene.traffic().writes).toEqual([]);
  expect((await saved.apply(['--ignore-windows', '--reason', 'agreed'])).code).toBe(0);
  expect(scene.traffic().writes.length).toBeGreaterThan(0);
});
