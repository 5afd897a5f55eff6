import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { collectingTerminal, runHere } from './running.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

const manifests = { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) };

function setRegionStatus(scene: Scene, status: string): void {
  scene.sandbox.alter((state) => {
    const region = state.regions.get(demo.region);
    if (region !== undefined) state.regions.put({ ...region, status });
  });
}

test('a platform that cannot be reached: 5, what was tried, and that nothing was done', async () => {
  const scene = await setScene({ manifests });
  scene.configure({ url: 'http://127.0.0.1:1' });
  for (const command of ['plan', 'apply', 'status'] as const) {
    const run = await scene.run(command);
    expect(run.code).toBe(5);
    expect(run.out).toContain('GET http://127.0.0.1:1/openapi/v1/teams/team-a/regions/region-1/apps/42');
    expect(run.out).toContain('ECONNREFUSED');
    expect(run.out).toContain('Check that the platform runs');
    expect(run.out).not.toContain('Everything');
    if (command === 'status') continue;
    expect(run.out).toContain('Application/shop could not be observed, so nothing is planned for it');
    expect(run.out).toContain('No changes known, 1 application not observed.');
    // Once is enough at three in the morning.
    expect(run.out.split('ECONNREFUSED 127.0.0.1:1')).toHaveLength(2);
  }
  expect((await scene.run('apply')).out).toMatch(/\nNothing was sent: 1 application not observed\.\n$/);
});

test('a token that is refused: 5, and how to renew it; one that is missing: 3, before anything is sent', async () => {
  const scene = await setScene({ manifests });
  const refused = await scene.run('apply', [], { env: { ...scene.env, PORTOLAN_TOKEN: 'wrong' } });
  expect(refused.code).toBe(5);
  expect(refused.out).toContain('HTTP 401');
  expect(refused.out).toContain('Renew the token that spec.auth.value of the Platform refers to');
  expect(refused.out).toMatch(/\nNothing was sent: 1 application not observed\.\n$/);
  expect(scene.traffic().writes).toEqual([]);
  const { PORTOLAN_TOKEN: _gone, ...rest } = scene.env;
  const missing = await scene.run('apply', [], { env: rest });
  expect(missing).toMatchObject({ code: 3, err: '' });
  expect(missing.out).toContain('environment variable PORTOLAN_TOKEN, which is not set');
  expect(scene.traffic()).toEqual({ writes: [], reads: [] });
});

test('a token that expires in the middle stops the application with 5, and the next run goes on', async () => {
  const scene = await setScene({ manifests });
  const body = { code: 10405, msg: 'token expired', msg_show: 'token expired' };
  scene.sandbox.setFaults([
    { operation: 'addPort', times: 1, fault: { type: 'status', when: 'before', status: 401, body } },
  ]);
  const run = await scene.run('apply');
  expect(run.code).toBe(5);
  expect(run.out).toContain('✗ failed Component/shop-web: add port 9000');
  expect(run.out).toMatch(/\n {4}POST \S+\/ports answered status 401, code 10405: token expired\n/);
  expect(run.out).toContain("Renew the platform's token");
  expect(run.out).toMatch(/- skipped HttpGatewayRule\/www: .*nothing more was sent for this application/);
  expect(run.out).toMatch(/\nApplied: 1 done, 1 failed, 1 skipped\. The next run continues with 2 changes\.\n$/);
  expect(scene.traffic().writes).toEqual(['updatePort', 'addPort']);
  expect((await scene.run('apply')).code).toBe(0);
  expect(scene.traffic().writes).toEqual(['addPort', 'createRule']);
});

for (const dialect of ['extended', 'documented'] as const) {
  test(`${dialect}: a region under maintenance is refused with 4, whatever its applications want; the others go on`, async () => {
    const scene = await setScene({ dialect, manifests });
    setRegionStatus(scene, '3');
    const run = await scene.run('apply');
    expect(run.code).toBe(4);
    expect(run.out).toContain('region region-1 is under maintenance');
    expect(run.out).toContain('nothing was sent for Application/shop');
    expect(run.out).toContain('Run the same command again when the region is enabled');
    expect(scene.traffic().writes).toEqual([]);
    setRegionStatus(scene, '1');
    expect((await scene.run('apply')).code).toBe(0);
  });
}

test('a region that is not enabled is not written to, even where the platform would still show its applications', async () => {
  const scene = await setScene({ manifests });
  const region = {
    region_name: demo.region,
    region_alias: 'x',
    url: 'https://x.example.com',
    status: '3',
    desc: '',
  };
  scene.sandbox.setFaults([
    { operation: 'listRegions', fault: { type: 'status', when: 'before', status: 200, body: [region] } },
  ]);
  const run = await scene.run('apply');
  expect(run.code).toBe(4);
  expect(run.out).toContain('refused by a guard (guard/region)');
  expect(run.out).toContain('region region-1 is under maintenance; only an enabled region (status 1) is written to');
  expect(run.out).toMatch(/Plan: 2 to create, 1 to change, 0 to delete, refused by a guard\./);
  expect(run.out).toMatch(/\nNothing was sent: 1 application refused by a guard\.\n$/);
  expect(scene.traffic().writes).toEqual([]);
});

test('an application that Settings do not allow: 4 with the line to add, which lets it through; others go on', async () => {
  const scene = await setScene({ settings: '{ scopes: { allow: ["team-a/*/43"] } }' });
  const run = await scene.run('apply');
  expect(run.code).toBe(4);
  expect(run.out).toContain(
    "Application/shop refers to team-a/region-1/42, which the operator's Settings do not allow (team-a/*/43); nothing was sent",
  );
  expect(run.out).toContain('add "team-a/region-1/42" to spec.scopes.allow of Settings');
  const paths = scene.sandbox.requests().filter((entry) => entry.isWrite);
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.every((entry) => entry.path.includes('/apps/43/'))).toBe(true);
  expect(run.out).toMatch(/\nApplied: 2 done, 0 failed, 0 skipped, 1 application refused by a guard\.\n$/);
  scene.configure({ settings: '{ scopes: { allow: ["team-a/*/43", "team-a/region-1/42"] } }' });
  expect((await scene.run('apply')).code).toBe(0);
});

/** What a refusal says to pass, as arguments. */
function override(out: string): string[] {
  return [...out.matchAll(/→ to allow it: (--.+)$/gm)].flatMap((match) => (match[1] ?? '').split(' '));
}

test('a change of too large a share, and too many removals: 4, and the flags it prints let it through', async () => {
  const rules = (weight: number, amount = 12): string[] =>
    Array.from({ length: amount }, (_, n) => rule(`r${n}`, `r${n}.example.com`, `weight: ${weight}`));
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), ...rules(50)) } });
  expect((await scene.run('apply')).code).toBe(0);
  scene.traffic();

  scene.write('a.yaml', shop(web(PORTS), ...rules(60)));
  const share = await scene.run('apply');
  expect(share.code).toBe(4);
  expect(share.out).toContain(
    'would change or remove 12 objects, with 15 on record (80 %), more than the limit of 30 %',
  );
  expect(share.out).toMatch(/\nNothing was sent: 1 application refused by a guard\.\n$/);
  expect(scene.traffic().writes).toEqual([]);
  expect(override(share.out)).toEqual(['--max-share', '0.8']);
  expect((await scene.run('apply', override(share.out))).code).toBe(0);
  expect(scene.traffic().writes).toHaveLength(12);

  scene.write('a.yaml', shop(web(PORTS), ...rules(60, 1)));
  const prunes = await scene.run('apply', ['--prune', '--max-share', '1', '--allow-shrunk']);
  expect(prunes.code).toBe(4);
  expect(prunes.out).toContain('would remove or close 11 objects removed from git, more than the limit of 10');
  expect(scene.traffic().writes).toEqual([]);
  expect(override(prunes.out)).toEqual(['--max-prunes', '11']);
  const all = ['--prune', '--max-share', '1', '--allow-shrunk', ...override(prunes.out)];
  expect((await scene.run('apply', all)).code).toBe(0);
  expect(scene.traffic().writes).toEqual(Array.from({ length: 11 }, () => 'deleteRule'));
});

test('a first apply that failed halfway goes on: objects that are still new do not count', async () => {
  const ports = (outer: boolean): string =>
    `ports: [${Array.from({ length: 14 }, (_, n) => `{ port: ${7000 + n}, protocol: http, inner: true, outer: ${outer} }`).join(', ')}]`;
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(ports(true))) } });
  const body = { code: 10405, msg: 'token expired', msg_show: 'token expired' };
  const expired = { type: 'status', when: 'before', status: 401, body } as const;
  scene.sandbox.setFaults([{ operation: 'updatePort', skip: 2, times: 1, fault: expired }]);
  expect((await scene.run('apply')).code).toBe(5);
  const next = await scene.run('apply');
  expect(next.out).not.toContain('guard/share');
  expect(next.code).toBe(0);
  // From now on they are ours: closing all of them is refused.
  scene.write('a.yaml', shop(web(ports(false))));
  const closing = await scene.run('apply');
  expect(closing.code).toBe(4);
  expect(closing.out).toContain('guard/share');
});

test('a source that names nothing any more, or much less than before, is taken for a mistake', async () => {
  const rules = Array.from({ length: 10 }, (_, n) => rule(`r${n}`, `r${n}.example.com`));
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), ...rules) } });
  expect((await scene.run('apply')).code).toBe(0);
  scene.traffic();

  scene.write('a.yaml', shop(web(PORTS), ...rules.slice(0, 2)));
  expect((await scene.run('apply')).code, 'without --prune nothing is removed, and the bar stays where it was').toBe(0);
  const shrunk = await scene.run('apply', ['--prune', '--max-share', '1']);
  expect(shrunk.code).toBe(4);
  expect(shrunk.out).toContain('named 12 resources since it last removed anything and names 4 now');
  expect(override(shrunk.out)).toEqual(['--allow-shrunk']);
  expect(shrunk.out).toMatch(/\nNothing was sent\.\n$/);
  expect(scene.traffic().writes).toEqual([]);
  expect((await scene.run('apply', ['--prune', '--max-share', '1', '--allow-shrunk'])).code).toBe(0);
  expect(scene.traffic().writes).toHaveLength(8);

  scene.write('a.yaml', '# nothing is left\n');
  const empty = await scene.run('apply', ['--prune']);
  expect(empty.code).toBe(4);
  expect(empty.out).toContain('the source "default" names nothing, and the ledger holds 5 objects of it');
  expect(override(empty.out)).toEqual(['--allow-empty']);
  expect(empty.out).toMatch(/\nNothing was sent\.\n$/);
  const allowed = await scene.run('apply', ['--prune', '--allow-empty']);
  expect(allowed.code).toBe(0);
  expect(allowed.out).toContain('no Application of this source refers to default/team-a/region-1/42 any more');
  expect(scene.traffic().writes).toEqual([]);
});

test('a removal that failed does not lower what the source is measured by', async () => {
  const rules = Array.from({ length: 10 }, (_, n) => rule(`r${n}`, `r${n}.example.com`));
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), ...rules) } });
  const prune = ['--prune', '--max-share', '1'];
  expect((await scene.run('apply')).code).toBe(0);
  scene.write('a.yaml', shop(web(PORTS), ...rules.slice(0, 7)));
  scene.sandbox.setFaults([
    {
      operation: 'deleteRule',
      fault: { type: 'status', when: 'before', status: 401, body: { code: 10405, msg: 'no' } },
    },
  ]);
  expect((await scene.run('apply', prune)).code).not.toBe(0);
  scene.sandbox.setFaults([]);
  scene.clock.push(600_000);
  scene.write('a.yaml', shop(web(PORTS), ...rules.slice(0, 3)));
  const shrunk = await scene.run('apply', prune);
  expect(shrunk.code).toBe(4);
  expect(shrunk.out).toContain('named 12 resources since it last removed anything and names 5 now');
  expect((await scene.run('apply', [...prune, '--allow-shrunk'])).code).toBe(0);
  scene.write('a.yaml', shop(web(PORTS), ...rules.slice(0, 1)));
  expect((await scene.run('apply', prune)).code).toBe(0);
});

test('without a terminal and without --yes nothing is sent, and the flag to pass is named', async () => {
  const scene = await setScene({ manifests });
  const args = ['apply', ...scene.options, '--ledger', scene.ledgerFile];
  const run = await runHere(args, { env: scene.env, clock: scene.clock });
  expect(run.code).toBe(3);
  expect(run.out).toContain('Plan: 2 to create, 1 to change');
  expect(run.err).toContain('--yes');
  expect(scene.traffic().writes).toEqual([]);

  const no = collectingTerminal({ isTerminal: true, answers: ['n'] });
  expect((await runHere(args, { env: scene.env, clock: scene.clock, terminal: no.terminal })).code).toBe(0);
  expect(no.text.err).toContain('Apply 3 changes? [y/N]');
  expect(no.text.err).toContain('Nothing was changed.');
  expect(scene.traffic().writes).toEqual([]);

  const yes = collectingTerminal({ isTerminal: true, answers: ['y'] });
  expect((await runHere(args, { env: scene.env, clock: scene.clock, terminal: yes.terminal })).code).toBe(0);
  expect(scene.traffic().writes).toHaveLength(3);
});

const few = (count: number, weight = 50): string =>
  shop(web(PORTS), ...Array.from({ length: count }, (_, n) => rule(`r${n}`, `r${n}.example.com`, `weight: ${weight}`)));

test.for([
  ['nobody gives a share', '{}', [], 0],
  ['a flag gives one', '{}', ['--max-share', '0.1'], 4],
  ['a flag gives a share that allows it', '{}', ['--max-share', '0.2'], 0],
  ['Settings give one', '{ prune: { maxShare: 0.1 } }', [], 4],
  ['a flag gives another one than Settings', '{ prune: { maxShare: 0.1 } }', ['--max-share', '1'], 0],
] as const)('one of fewer than ten objects is removed as follows where %s', async ([, settings, args, code]) => {
  const scene = await setScene({ settings, manifests: { 'a.yaml': few(3) } });
  expect((await scene.run('apply', ['--max-share', '1'])).code).toBe(0);
  scene.write('a.yaml', few(2));
  const run = await scene.run('apply', ['--prune', ...args]);
  expect(run.code).toBe(code);
  if (code === 0) return;
  expect(run.out).toContain('would change or remove 1 object, with 6 on record (16.7 %), more than the limit of 10 %');
  expect(override(run.out)).toEqual(['--max-share', '0.17']);
  expect((await scene.run('apply', ['--prune', ...override(run.out)])).code).toBe(0);
});
