import { expect, test } from 'vitest';
import type { ServerFault } from '../../src/sandbox/faults.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { install, PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

const answers: Readonly<Record<string, ServerFault>> = {
  'done, and the connection lost': { type: 'drop', when: 'after' },
  'not done, and the connection lost': { type: 'drop', when: 'before' },
  'done, and a proxy says 502': { type: 'status', when: 'after', status: 502, body: '<html>bad gateway</html>' },
  'done, and the answer cut off': { type: 'truncate' },
  'a busy server that has done it': { type: 'status', when: 'after', status: 500, body: { code: 10401, msg: 'x' } },
};

interface Case {
  readonly operation: 'createRule' | 'addPort' | 'updatePort' | 'install';
  readonly resource: string;
  readonly settleMs: number;
  readonly manifest: string;
  /** How often the platform holds what was asked for. */
  copies(scene: Scene): number;
}

const cases: readonly Case[] = [
  {
    operation: 'createRule',
    resource: 'HttpGatewayRule/www',
    settleMs: 5 * 60_000,
    manifest: rule('www', 'www.example.com'),
    copies: ({ sandbox }) => [...sandbox.state.rules.all()].filter((row) => row.domain === 'www.example.com').length,
  },
  {
    operation: 'addPort',
    resource: 'Component/shop-web',
    settleMs: 5 * 60_000,
    manifest: '',
    copies: ({ sandbox }) => [...sandbox.state.ports.all()].filter((row) => row.port === 9000).length,
  },
  {
    operation: 'updatePort',
    resource: 'Component/shop-web',
    settleMs: 90_000,
    manifest: '',
    copies: ({ sandbox }) => [...sandbox.state.ports.all()].filter((row) => row.alias === 'WEB').length,
  },
  {
    operation: 'install',
    resource: 'StoreInstall/db',
    settleMs: 20 * 60_000,
    manifest: install('db'),
    copies: ({ sandbox }) => [...sandbox.state.installs.all()].length,
  },
];

for (const dialect of ['extended', 'documented'] as const) {
  for (const [what, fault] of Object.entries(answers)) {
    test.for(cases.filter((one) => !(dialect === 'documented' && one.operation === 'install')))(
      `${dialect}, ${what}: $operation is in doubt, waited for, and then in sync with nothing made twice`,
      async ({ operation, resource, settleMs, manifest, copies }) => {
        const scene = await setScene({ dialect, manifests: { 'a.yaml': shop(web(PORTS), manifest) } });
        scene.sandbox.setFaults([{ operation, times: 1, fault }]);
        const startMs = scene.clock.now();
        const first = await scene.run('apply');
        expect(first.code, first.out).toBe(4);
        expect(first.out).toContain(`? in doubt ${resource}: `);
        const [, until = ''] = /Run the same command again after (\S+Z), or now with --wait/.exec(first.out) ?? [];
        expect(Date.parse(until) - startMs).toBeGreaterThanOrEqual(settleMs);
        expect(Date.parse(until) - startMs).toBeLessThan(settleMs + 10_000);
        // What else is left may follow earlier; this one is decided then.
        expect(first.out.trimEnd().split('\n').at(-1)).toContain(until);
        expect(scene.traffic().writes.at(-1)).toBe(operation);

        const early = await scene.run('apply');
        expect(early.code).toBe(4);
        expect(early.out).toMatch(/was sent and its outcome is not known \(.+\); it may still arrive/);
        expect(early.out).toContain(until.slice(0, -3));
        // No advice to adopt or to delete what may well be our own.
        expect(early.out).not.toMatch(/adopt|allowSecondCopy|console/);
        expect(early.out).toMatch(/\nNothing was sent: .*held.*\n$/);
        expect((await scene.run('plan')).out).toContain('(intent/settling)');
        expect(scene.traffic().writes).toEqual([]);

        scene.clock.push(settleMs);
        expect((await scene.run('plan')).out).toContain('(intent/due)');
        const settled = await scene.run('apply');
        expect(settled.code, settled.out).toBe(0);
        expect(settled.err).toMatch(new RegExp(`^i ${resource}: intent \\w+ of an earlier run: `));
        const last = await scene.run('apply');
        expect(last.out).toContain('Nothing to do. Everything is in sync.');
        expect(copies(scene)).toBe(1);
        expect(scene.port(demo.webServiceId, 8080)).toMatchObject({ alias: 'WEB', outer: true });
      },
    );
  }

  test(`${dialect}: --wait sits the doubt out in one command`, async () => {
    const scene = await setScene({
      dialect,
      settings: '{ settle: { creation: 3s, targetState: 2s } }',
      manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) },
    });
    scene.sandbox.setFaults([{ operation: 'createRule', times: 1, fault: { type: 'drop', when: 'after' } }]);
    const run = await scene.run('apply', ['--wait']);
    expect(run.code, run.out).toBe(0);
    expect(run.err).toContain('wait  a write in doubt may still arrive (until ');
    expect(run.out).toContain('Everything is in sync.');
    expect([...scene.sandbox.state.rules.all()].filter((row) => row.domain === 'www.example.com')).toHaveLength(1);
  });
}

test('a creation in doubt keeps its application quiet only as long as a server can be at work on a request', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(install('db')) } });
  scene.sandbox.setFaults([{ operation: 'install', times: 1, fault: { type: 'drop', when: 'after' } }]);
  expect((await scene.run('apply')).code).toBe(4);
  scene.write('a.yaml', shop(install('db'), web(PORTS)));
  scene.traffic();
  const early = await scene.run('apply');
  expect(early.code).toBe(4);
  expect(early.out).toContain('nothing else is sent for this application before');
  expect(scene.traffic().writes).toEqual([]);
  scene.clock.push(90_000);
  const later = await scene.run('apply');
  expect(later.code).toBe(4);
  expect(later.out).toMatch(
    /\nApplied: 3 done, 0 failed, 0 skipped, 1 held\. Run the same command again after \S+, or with --wait\.\n$/,
  );
  expect(scene.traffic().writes).toEqual(['updatePort', 'addPort', 'updatePort']);
  scene.clock.push(20 * 60_000);
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.traffic().writes).toEqual([]);
});

test('documented: an install in doubt is left to a person, with the exact command, which settles it', async () => {
  const scene = await setScene({ dialect: 'documented', manifests: { 'a.yaml': shop(web(PORTS), install('db')) } });
  scene.sandbox.setFaults([{ operation: 'install', times: 1, fault: { type: 'drop', when: 'after' } }]);
  expect((await scene.run('apply')).code).toBe(4);
  scene.clock.push(20 * 60_000);
  const held = await scene.run('apply');
  expect(held.code).toBe(4);
  // The evidence is still there after everything else was done.
  expect(held.out.split('the application had 3 components before and has 4 now')).toHaveLength(3);
  const [, intent = ''] = /portolan ledger resolve (\w+) --applied\|--not-applied --reason/.exec(held.out) ?? [];
  expect(intent).not.toBe('');
  expect(held.out).toMatch(/\nApplied: 3 done, 0 failed, 0 skipped, 1 held\.\n$/);
  scene.traffic();
  expect((await scene.run('apply')).code).toBe(4);
  expect(scene.traffic().writes).toEqual([]);

  const resolved = await scene.portolan(['ledger', 'resolve', intent, '--applied', '--reason', 'seen in the console']);
  expect(resolved.code, resolved.err + resolved.out).toBe(0);
  const last = await scene.run('apply');
  expect(last.code, last.out).toBe(0);
  expect(scene.traffic().writes).toEqual([]);
  expect([...scene.sandbox.state.installs.all()]).toHaveLength(1);
});
