import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { BLOG } from '../controller/shop.ts';
import { daemonScene, SECRETS } from './daemon-scene.ts';
import { PORTS, rule, type Scene, shop, web } from './scene.ts';

const SCOPE = `default/${demo.team}/${demo.region}/${demo.appId}`;
const RULE = 'HttpGatewayRule/www';

const domains = ({ sandbox }: Scene): readonly string[] =>
  [...sandbox.state.rules.all()]
    .map(({ domain }) => domain)
    .filter((domain) => domain.endsWith('example.com'))
    .sort();

/** A controller whose source has lost the shop. */
async function orphaned() {
  const { scene, daemon } = await daemonScene({ 'b.yaml': BLOG });
  scene.write('a.yaml', undefined);
  await expect.poll(async () => (await daemon.ask(['orphans'])).out).toContain('2 resources orphaned');
  return { scene, daemon };
}

test('orphans prune --server shows the plan, asks, and removes exactly that; ledger forget lets go of the rest', async () => {
  const { scene, daemon } = await orphaned();
  const remedy = await daemon.ask(['orphans'], SECRETS.CI);
  expect(remedy.out.replace(/\s+/g, ' ')).toContain(
    `portolan orphans prune ${SCOPE} --server ${daemon.url} --reason "…"`,
  );
  const prune = (args: readonly string[], token: string = SECRETS.ADMIN) =>
    daemon.ask(['orphans', 'prune', ...args], token);
  const reason = ['--reason', 'the shop is closed'];
  const dry = await prune([SCOPE, '--dry-run', '--detailed-exitcode'], SECRETS.CI);
  expect(dry.code, dry.err).toBe(2);
  expect(dry.out).toContain('delete rule www.example.com/');
  for (const [args, code, said] of [
    [[SCOPE, '--yes'], 3, 'cli/no-reason'],
    [[SCOPE, ...reason], 3, 'Pass --yes, or --expect DIGEST,'],
    [[SCOPE, ...reason, '--yes', '--max-prunes', '1'], 3, 'cli/flag-of-the-server'],
    [[SCOPE, ...reason, '--yes', '-o', 'sarif'], 3, 'cli/format-of-plan'],
    [[SCOPE, ...reason, '--expect', 'f'.repeat(64)], 4, 'plan/not-expected'],
    [[SCOPE, SCOPE, ...reason, '--yes'], 3, 'cli/no-scope'],
    [['shop', ...reason, '--yes'], 3, 'cli/no-scope'],
    [[SCOPE.replace(/\d+$/, '43'), ...reason, '--yes'], 3, 'controller/not-orphaned'],
  ] as const) {
    const run = await prune(args);
    expect(run.code, run.out + run.err).toBe(code);
    expect(run.out + run.err).toContain(said);
  }
  expect((await prune([SCOPE, ...reason, '--yes'], SECRETS.CI)).code).toBe(5);
  expect(domains(scene)).toEqual(['www.example.com']);

  const forgot = await daemon.ask(['ledger', 'forget', 'Component/shop-web', ...reason], SECRETS.ADMIN);
  expect(forgot).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was sent to the platform.') });
  const pruned = await prune([SCOPE, ...reason, '--yes']);
  expect(pruned.code, pruned.err).toBe(0);
  expect(pruned.out).toMatch(/^ +- delete rule www\.example\.com\/ /m);
  expect(pruned.out).toMatch(/^done {2}delete rule www\.example\.com\/$/m);
  expect(pruned.out).toContain(` done in ${SCOPE}, 0 left.`);
  expect(domains(scene)).toEqual([]);
  expect((await daemon.ask(['orphans'])).out).toBe('0 resources orphaned in 0 applications.\n');
  const headers = { authorization: `Bearer ${SECRETS.ADMIN}` };
  const history = await (await fetch(`${daemon.url}/api/v1/history?limit=200`, { headers })).text();
  expect(history).toMatch(/"prune-orphan"[^]*"the shop is closed"/);
  await daemon.stop();
  expect((await scene.portolan(['ledger', 'list', '-o', 'json'])).out).not.toContain('shop-web');
});

test('ledger forget and retry --server change the ledger between two passes; without the role they change nothing', async () => {
  const { scene, daemon } = await daemonScene();
  expect((await daemon.ask(['suspend', 'shop', '--reason', 'a test'])).code).toBe(0);
  const forget = ['ledger', 'forget', RULE, '--reason', 'it is of others'];
  expect((await daemon.ask(forget, SECRETS.CI)).code).toBe(5);
  const unknown = await daemon.ask(['ledger', 'forget', 'HttpGatewayRule/none', '--reason', 'x'], SECRETS.ADMIN);
  expect(unknown).toMatchObject({ code: 3, err: expect.stringContaining('No manifest of the source has') });
  expect((await daemon.ask(['ledger', 'forget', 'no-kind', '--reason', 'x'], SECRETS.ADMIN)).code).toBe(3);
  const none = await daemon.ask(['ledger', 'retry', RULE], SECRETS.ADMIN);
  expect(none).toMatchObject({ code: 0, out: expect.stringContaining('no recorded failure') });
  const known = ['ledger', 'adopt', RULE, '--id', 'another', '--reason', 'x'];
  expect((await daemon.ask(known, SECRETS.CI)).code).toBe(5);
  const forgot = await daemon.ask(forget, SECRETS.ADMIN);
  expect(forgot.code, forgot.err).toBe(0);
  expect(forgot.out).toContain('Nothing was sent to the platform.');
  expect(domains(scene)).toEqual(['www.example.com']);
  await daemon.stop();
  const ledger = await scene.portolan(['ledger', 'list', '-o', 'json']);
  expect(ledger.out).not.toContain(RULE);
  expect(ledger.out).toContain('Component/shop-web');
});

test('ledger resolve --server records what became of a request whose answer was lost', async () => {
  const { scene, daemon } = await daemonScene();
  scene.sandbox.setFaults([{ method: 'POST', path: '**/httpdomains', fault: { type: 'drop', when: 'after' } }]);
  scene.write('a.yaml', shop(web(PORTS), rule('www', 'www.example.com', 'weight: 50'), rule('api', 'api.example.com')));
  const headers = { authorization: `Bearer ${SECRETS.ADMIN}` };
  const doubts = async (): Promise<readonly string[]> => {
    const response = await fetch(`${daemon.url}/api/v1/applications/shop/doubts`, { headers });
    return ((await response.json()) as { items: { id: string }[] }).items.map(({ id }) => id);
  };
  await expect.poll(doubts).toHaveLength(1);
  scene.sandbox.setFaults([]);
  const [id = ''] = await doubts();
  const resolve = (intent: string, token: string = SECRETS.ADMIN, ...flags: readonly string[]) =>
    daemon.ask(['ledger', 'resolve', intent, '--applied', '--reason', 'the console shows it', ...flags], token);
  expect((await resolve(id, SECRETS.CI, '--force')).code).toBe(5);
  const unknown = await resolve('0123456789ab');
  expect(unknown).toMatchObject({ code: 3, err: expect.stringContaining('ledger/no-intent') });
  expect((await resolve(id)).code, 'it may still arrive').toBe(4);
  expect(await doubts()).toEqual([id]);
  const resolved = await resolve(id, SECRETS.ADMIN, '--force');
  expect(resolved.code, resolved.err).toBe(0);
  expect(resolved.out).toContain(`resolved ${id}: it was applied`);
  expect((await resolve(id)).code).toBe(3);
  await daemon.stop();
  expect((await scene.portolan(['ledger', 'show', id])).out).toMatch(/by admin, through /);
  expect(domains(scene)).toEqual(['api.example.com', 'www.example.com']);
});
