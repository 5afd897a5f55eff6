import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { routes } from '../../src/server/routes/table.ts';
import { expectAsDescribed } from '../server/serving.ts';
import { daemonScene, SECRETS } from './daemon-scene.ts';
import type { Run } from './running.ts';
import { PORTS, rule, shop, web } from './scene.ts';

test('a real daemon: its plan of what is sent is the plan of here, to the letter and the code', async () => {
  const { scene, daemon } = await daemonScene();
  const same = async (args: readonly string[]): Promise<Run> => {
    const here = await scene.run('plan', args);
    const there = await daemon.ask(['plan', ...scene.options, ...args], SECRETS.CI);
    expect({ code: there.code, out: there.out, err: there.err }).toEqual({ ...here });
    return here;
  };
  expect((await same(['--detailed-exitcode'])).code).toBe(0);
  expect((await daemon.ask(['suspend', 'shop', '--reason', 'a test'])).code).toBe(0);
  scene.write('a.yaml', shop(web(PORTS), rule('api', 'api.example.com', 'weight: 7')));
  const changed = await same(['--detailed-exitcode']);
  expect(changed.code).toBe(2);
  expect(changed.out).toContain('api.example.com');
  expect((await same(['--prune'])).out).toContain('www.example.com');
  await same(['--target', 'HttpGatewayRule/api', '-o', 'json']);
  scene.write('a.yaml', shop(web(PORTS)).replace('appId: 42', 'appId: forty'));
  expect((await same([])).code).toBe(3);
  await daemon.stop();
});

/** They need a commit, an orphan, a resource that is held, a stream or a provider. */
const WITH_MORE = /^(?:streamEvents|planOrphans|planAdoption|getCommit|finishOidcSession)$/;

test('a real daemon: every answer is what its document says, commands do what they say, apply beside it is sent there', async () => {
  const { scene, daemon } = await daemonScene();
  const headers = { authorization: `Bearer ${SECRETS.OPS}` };
  for (const { method, path, operationId } of routes) {
    if (method !== 'GET' || WITH_MORE.test(operationId)) continue;
    const named = path.replace('{name}', 'shop').replace('{kind}/{resource}', 'Component/shop-web');
    const response = await fetch(daemon.url + named, { headers });
    const body: unknown = operationId === 'getMetrics' ? await response.text() : await response.json();
    expect(response.status, named).toBe(200);
    expectAsDescribed(method, named, response, body);
  }
  expect((await daemon.ask(['suspend', 'shop', '--reason', 'a move'])).code).toBe(0);
  expect((await daemon.ask(['status'], SECRETS.CI)).out).toContain('suspended by ops: a move');
  expect((await daemon.ask(['resume', 'shop'], SECRETS.CI)).code).toBe(5);
  expect((await daemon.ask(['resume', 'shop'])).code).toBe(0);
  expect((await daemon.ask(['sync', '--all'])).code).toBe(0);
  const past = await daemon.ask(['history', 'shop'], SECRETS.CI);
  expect(past.out).toMatch(/resumed by ops\n[^]*suspended by ops: [^]*files@[0-9a-f]{12} {2}run 1\.[0-9]+\n/);
  expect(past.out).toContain('+ HttpGatewayRule/www: create rule www.example.com/ on port 8080');
  expect((await daemon.ask(['approve', 'shop', 'abcdef0123'])).code).toBe(4);
  const events = await daemon.ask(['events', '--application', 'shop'], SECRETS.CI);
  expect(events.out).toMatch(/application\.suspended +Application\/shop .*ops: a move/);
  expect(events.out).toContain('application.resumed');

  const beside = await scene.run('apply');
  expect(beside.code).toBe(6);
  expect(beside.err).toContain('portolan plan --server ');
  expect(beside.err).toContain('portolan sync --all --server ');
  const undo = await scene.run('apply', ['--undo', '1.1']);
  expect(undo.code).toBe(6);
  expect(undo.err.replace(/\s+/g, ' ')).toContain(
    'Undo the commit instead: portolan history APPLICATION --revert COMMIT.',
  );

  const body = '{"ref":"refs/heads/main"}';
  const signature = `sha256=${createHmac('sha256', SECRETS.HOOK).update(body).digest('hex')}`;
  const post = (signed: string) =>
    fetch(`${daemon.url}/webhooks/hub`, { method: 'POST', body, headers: { 'x-hub-signature-256': signed } });
  expect((await post(signature)).status).toBe(202);
  expect((await post(signature.replace(/.$/, 'x'))).status).toBe(401);

  const stream = await fetch(`${daemon.url}/api/v1/events/stream`, { headers });
  expect(await daemon.stop()).toBe(0);
  expect(await stream.text()).toContain('controller.draining');
  for (const secret of Object.values(SECRETS)) expect(daemon.log()).not.toContain(secret);

  const [, run = ''] = / {2}run (1\.[0-9]+)\n/.exec(past.out) ?? [];
  const undone = await scene.run('apply', ['--undo', run, '--prune']);
  expect(undone.out).toContain('- delete rule www.example.com/  (undoes an earlier run)');
  expect(undone.out).toMatch(/Applied: [0-9]+ done, 0 failed, 0 skipped\.\n$/);
});
