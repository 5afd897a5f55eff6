import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { collectingTerminal } from './running.ts';
import { PORTS, rule, setScene, shop, web } from './scene.ts';

test('a line per resource: in sync, moved, held with its remedy, reported, suspended', async () => {
  const scene = await setScene({
    manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com', 'weight: 50'), rule('b', 'b.example.com')) },
  });
  await scene.run('apply');
  expect((await scene.run('status')).out).toBe(`RESOURCE                STATE    REASON
Application/shop        InSync   team-a/region-1/42
  Component/shop-web    InSync   -
  HttpGatewayRule/b     InSync   -
  HttpGatewayRule/www   InSync   -

Ledger bound to Platform/default: ${scene.sandbox.url}, region ${demo.region}.
1 application, 3 resources: 3 in sync.
`);

  scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
  const drifted = await scene.run('status');
  expect(drifted.code).toBe(0);
  expect(drifted.out).toMatch(/Application\/shop +OutOfSync/);
  expect(drifted.out).toMatch(/Component\/shop-web +OutOfSync +drift: change alias of port 8080 to WEB\n/);

  scene.write(
    'a.yaml',
    shop(
      web(PORTS, 'annotations: { portolan/reconcile: report }'),
      rule('www', 'www.example.com', 'weight: 50', 'annotations: { portolan/reconcile: suspend }'),
      rule('b', 'b.example.com'),
    ),
  );
  const aside = await scene.run('status');
  expect(aside.code).toBe(0);
  expect(aside.out).toMatch(/Application\/shop +Reported/);
  expect(aside.out).toMatch(/Component\/shop-web +Reported +.*ports\[8080\]\.alias/);
  expect(aside.out).toMatch(/HttpGatewayRule\/www +Suspended/);
  expect(aside.out).toMatch(/HttpGatewayRule\/b +InSync/);
  expect(aside.out).toMatch(/\n1 application, 3 resources: 1 only reported, 1 suspended, 1 in sync\.\n$/);
});

test('what is held says how to release it, and the code is 4', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) } });
  await scene.run('apply', ['--ledger', `${scene.folder}/another.db`]);
  const run = await scene.run('status');
  expect(run.code).toBe(4);
  expect(run.out).toMatch(/HttpGatewayRule\/www +Held +rule\/not-ours: /);
  expect(run.out).toContain('\n→ HttpGatewayRule/www: Run apply --adopt HttpGatewayRule/www');
});

test('an application that cannot be read is Unknown, says what to do, and hides no other', async () => {
  const scene = await setScene();
  await scene.run('apply');
  const fault = { type: 'status', when: 'before', status: 403, body: { msg: 'no' } } as const;
  scene.sandbox.setFaults(['**/apps/43', '**/apps/43/**'].map((path) => ({ path, fault })));
  const run = await scene.run('status');
  expect(run.code).toBe(5);
  expect(run.out).toMatch(/Application\/blog +Unknown +GET .*\/apps\/43\/.*: HTTP 403/);
  expect(run.out).toMatch(/\n→ Application\/blog: Give the token/);
  expect(run.out).toMatch(/Application\/shop +InSync/);
  const json = JSON.parse((await scene.run('status', ['-o', 'json'])).out) as {
    resources: { resource: string; state: string }[];
  };
  expect(json.resources.find(({ resource }) => resource === 'Application/blog')?.state).toBe('Unknown');
  expect(json.resources.find(({ resource }) => resource === 'Component/shop-web')?.state).toBe('InSync');
});

test('--watch without a server reads manifests and platform anew, and survives manifests at fault', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web(PORTS)) } });
  await scene.run('apply');
  const stop = new AbortController();
  const { terminal, text } = collectingTerminal();
  // A moment between two looks, so that each change is seen by one.
  const clock = { ...systemClock, sleep: (_: number, signal?: AbortSignal) => systemClock.sleep(50, signal) };
  const watching = scene.run('status', ['--watch', '2s'], { terminal, clock, signal: stop.signal });
  await expect.poll(() => text.out).toContain('1 resource: 1 in sync.\n');
  scene.alterPort(demo.webServiceId, 8080, { alias: 'HAND' });
  await expect.poll(() => text.out).toContain('1 resource: 1 out of sync.\n');
  scene.write('a.yaml', shop(web('ports: 7')));
  await expect
    .poll(() => text.err)
    .toMatch(/note: The manifests now have 1 fault: .*a\.yaml:\d+: .*[^.]\. Retrying\.\n/);
  scene.write('a.yaml', shop(web(PORTS), rule('www', 'www.example.com')));
  await expect.poll(() => text.out).toContain('2 resources: 2 out of sync.\n');
  stop.abort();
  expect((await watching).code).toBe(130);
  expect(text.out).not.toContain('\u001b');
});
