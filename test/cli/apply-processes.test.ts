import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { type Run, startProgram } from './running.ts';
import { install, PORTS, type Scene, setScene, shop, until, web } from './scene.ts';

/** Windows of a second: the tests wait for them in real time. */
const SETTLE = '{ settle: { targetState: 1s, creation: 1s, install: 1s } }';

function start(scene: Scene, args: readonly string[] = ['apply', '--yes']) {
  return startProgram([...args, ...scene.options, '--ledger', scene.ledgerFile], { env: scene.env });
}

const WRITES = ['install', 'updatePort', 'addPort', 'createRule'];

/** How long the platform keeps a write to itself: enough to be killed in. */
const HELD_MS = 250;

/** What the examples want, as the platform has it. */
function reached({ sandbox, port }: Scene): void {
  expect([...sandbox.state.installs.all()].map((row) => `${row.appId} ${row.modelId}`).sort()).toEqual([
    `42 ${demo.mysqlModelId}`,
    `43 ${demo.redisModelId}`,
  ]);
  const made = [...sandbox.state.rules.all()].filter((row) => row.type === 1);
  expect(made.map((row) => row.domain).sort()).toEqual(['api.shop.example.com', 'www.shop.example.com']);
  expect(port(demo.webServiceId, 8080)).toMatchObject({ alias: 'WEB', outer: true, serviceName: 'shop-web' });
  expect(port(demo.webServiceId, 9000)).toMatchObject({ alias: 'RPC' });
  expect(port(demo.apiServiceId, 8000)).toMatchObject({ alias: 'API', outer: true });
}

/** What a person reads in the console and writes into the manifests. */
function writeComponentIds({ sandbox, folder }: Scene): void {
  for (const [file, appId, key] of [
    ['shop/database.yaml', 42, 'mysql'],
    ['blog/blog.yaml', 43, 'redis'],
  ] as const) {
    const component = [...sandbox.state.components.all()].find((row) => row.appId === appId && row.key === key);
    const path = join(folder, 'manifests', file);
    const yaml = readFileSync(path, 'utf8');
    if (component !== undefined) writeFileSync(path, yaml.replace(/from: \{.*\}/, `serviceId: ${component.id}`));
  }
}

/** Applies in this process until all is done: what a person or a CI job would do after a crash. */
async function goOn(scene: Scene, dialect: 'extended' | 'documented'): Promise<void> {
  let run: Run = await scene.run('apply');
  for (let attempt = 0; run.code === 4 && attempt < 8; attempt += 1) {
    expect(run.out).toMatch(/\(intent \w+\)|component\/ambiguous-install-component|appeared during the run/);
    const [, command, intent] = /portolan (ledger resolve) (\w+) /.exec(run.out) ?? [];
    if (command !== undefined && intent !== undefined) {
      // Only an install, and only where nothing can be listed, is left to a person.
      expect(dialect).toBe('documented');
      const [, name] = new RegExp(`install for StoreInstall/(\\S+) \\(intent ${intent}\\)`).exec(run.out) ?? [];
      const appId = { 'shop-db': 42, 'blog-cache': 43 }[name ?? ''];
      expect(appId, run.out).toBeDefined();
      const isThere = [...scene.sandbox.state.installs.all()].some((row) => row.appId === appId);
      const answer = isThere ? '--applied' : '--not-applied';
      const resolved = await scene.portolan(['ledger', 'resolve', intent, answer, '--reason', 'seen in the console']);
      expect(resolved.code, resolved.err).toBe(0);
    } else if (/Write the component's id/.test(run.out)) {
      // Nor can such a server say which components an install has made.
      writeComponentIds(scene);
    } else scene.clock.push(1_000);
    run = await scene.run('apply');
  }
  expect(run.code, run.out + run.err).toBe(0);
}

/** The n-th write is with the platform, which acts on it late (`before`) or has done so and not answered yet (`after`). */
type Death = { readonly write: number; readonly when: 'before' | 'after' } | { readonly afterMs: number };

/** Each with its share: reconcile/examples.test.ts, in memory, dies before and after every one. */
const deaths: readonly (readonly ['extended' | 'documented', Death])[] = [
  ['extended', { write: 1, when: 'after' }],
  ['extended', { write: 2, when: 'before' }],
  ['extended', { write: 3, when: 'after' }],
  ['extended', { write: 5, when: 'after' }],
  ['extended', { write: 7, when: 'before' }],
  ['documented', { write: 1, when: 'after' }],
  ['documented', { write: 2, when: 'before' }],
  ['documented', { write: 6, when: 'after' }],
  ['documented', { write: 9, when: 'after' }],
  ['extended', { afterMs: randomInt(300, 900) }],
  ['documented', { afterMs: randomInt(300, 900) }],
];

test.for(deaths)(
  '%s, killed with -9 at %j: the same apply reaches the same end, and nothing is made twice',
  async ([dialect, death]) => {
    const scene = await setScene({ dialect, settings: SETTLE, sandbox: { latencyMs: 5 } });
    if ('write' in death)
      scene.sandbox.setFaults([
        {
          operation: WRITES,
          skip: death.write - 1,
          times: 1,
          fault: { type: 'delay', when: death.when, ms: HELD_MS },
        },
      ]);
    const { child, ended } = start(scene);
    if ('write' in death) await until(() => scene.sandbox.faults()[0]?.struck === 1);
    else await pause(death.afterMs);
    child.kill('SIGKILL');
    await ended;
    // A server finishes what it has begun, whoever asked for it.
    await pause(HELD_MS + 20);
    await goOn(scene, dialect);
    reached(scene);
  },
);

test('Ctrl-C: the write in flight is finished and recorded, nothing new is begun, and the next apply goes on', async () => {
  const scene = await setScene();
  scene.sandbox.setFaults([{ operation: 'updatePort', times: 1, fault: { type: 'delay', ms: HELD_MS } }]);
  const { child, ended } = start(scene);
  await until(() => scene.sandbox.faults()[0]?.struck === 1);
  const before = scene.sandbox.requests().length;
  child.kill('SIGINT');
  const run = await ended;
  expect(run.code, run.err).toBe(130);
  // Of each application, at most what was under way.
  const later = scene.sandbox.requests().slice(before);
  expect(later.filter((entry) => entry.isWrite).length).toBeLessThanOrEqual(2);
  expect(later.find((entry) => entry.operation === 'updatePort')).toMatchObject({ status: 200, effectApplied: true });
  expect(run.out).toContain('(interrupted before it was begun)');
  expect(run.out).toMatch(
    /\nApplied: \d+ done, 0 failed, \d+ skipped\. Interrupted: the next run continues with \d+ changes\.\n$/,
  );
  const resumed = await scene.run('apply');
  expect(resumed.code, resumed.out).toBe(0);
  // Nothing was left in doubt, so nothing had to settle.
  expect(resumed.err).not.toContain('of an earlier run');
  reached(scene);
});

test('Ctrl-C during the last write: it is done, and nothing is announced for the next run', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  const first = await scene.run('apply');
  expect(first.code, first.err).toBe(0);
  scene.write('a.yaml', shop(web(PORTS.replace('alias: WEB', 'alias: SHOP'))));
  scene.sandbox.setFaults([{ operation: 'updatePort', times: 1, fault: { type: 'delay', ms: HELD_MS } }]);
  const { child, ended } = start(scene);
  await until(() => scene.sandbox.faults()[0]?.struck === 1);
  child.kill('SIGINT');
  const run = await ended;
  expect(run.code, run.err).toBe(130);
  expect(run.out).toMatch(/\nApplied: 1 done, 0 failed, 0 skipped\.\n/);
  expect((await scene.run('plan')).out).toContain('No changes');
});

test('Ctrl-C while only reading: 130, and nothing was sent', async () => {
  const scene = await setScene();
  scene.sandbox.setFaults([{ operation: 'getApplication', fault: { type: 'delay', ms: 2_000 } }]);
  const { child, ended } = start(scene);
  await until(() => scene.sandbox.faults()[0]?.struck !== 0);
  child.kill('SIGINT');
  const run = await ended;
  expect(run.code).toBe(130);
  expect(run.err).toMatch(/^interrupted/);
  expect(run.out).toBe('');
  expect(scene.traffic().writes).toEqual([]);
});

test('two applies on one ledger: one works, the other ends with 6 at once and names who holds it; plans go on', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), install('db')) } });
  scene.sandbox.setFaults([{ operation: 'install', times: 1, fault: { type: 'delay', ms: 1_000 } }]);
  const first = start(scene);
  await until(() => scene.sandbox.faults()[0]?.struck === 1);
  const second = await scene.run('apply');
  expect(second).toMatchObject({ code: 6, out: '' });
  expect(second.err).toContain(`pid ${first.child.pid}`);
  expect(second.err).toContain('is held by portolan apply');
  expect((await scene.run('plan')).code).not.toBe(6);
  expect(first.child.exitCode).toBeNull();
  expect((await first.ended).code).toBe(0);
});
