import { listComponents } from '../../src/kinds/component/readings.ts';
import { getRule, listAllRules, listRules } from '../../src/kinds/http-gateway-rule/readings.ts';
import { listApplications } from '../../src/platform/readings.ts';
import { listInstalled } from '../../src/kinds/store-install/readings.ts';
import { portsIn, extendedListings } from './client-support.ts';
import { createApplication } from '../../src/kinds/application/requests.ts';
import { addPort, deletePort, updatePort } from '../../src/kinds/component/requests.ts';
import { createRule, deleteRule, shownRule, updateRule } from '../../src/kinds/http-gateway-rule/requests.ts';
import { install, upgrade } from '../../src/kinds/store-install/requests.ts';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/model/secret.ts';
import { createRequestBudget } from '../../src/platform/budget.ts';
import type { PlatformClient } from '../../src/platform/client.ts';
import { createHttpTransport } from '../../src/platform/http.ts';
import { createPlatformClient } from '../../src/platform/platform-client.ts';
import type { Verdict } from '../../src/platform/verdict.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { startTestSandbox } from '../sandbox/support.ts';

const app = { team: demo.team, region: demo.region, appId: demo.appId };
const serviceId = demo.webServiceId;

/** The whole client, over real sockets, to a server of that dialect; what it can do is found out by reading. */
async function clientFor(dialect: Dialect, token = SANDBOX_TOKEN): Promise<PlatformClient> {
  const sandbox = await startTestSandbox({ dialect });
  const http = createHttpTransport({
    url: sandbox.url,
    auth: { header: 'Authorization', value: () => new Secret(token, 'test') },
    connections: 4,
    clock: systemClock,
  });
  onTestFinished(async () => {
    await http.close();
    await sandbox.close();
  });
  return createPlatformClient({
    name: 'default',
    url: sandbox.url,
    transport: http.send,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    dialect: 'auto',
    budget: createRequestBudget({ concurrency: 4, requestsPerSecond: 1000 }, systemClock),
    limits: { timeoutMs: 5_000 },
  });
}

function wordOf(verdict: Verdict): string {
  return verdict.verdict === 'rejected' ? `rejected: ${verdict.reason}` : verdict.verdict;
}

test('a server of the documented dialect is recognised by reading, and everything documented works', async () => {
  const client = await clientFor('documented');
  for (const listing of extendedListings) {
    expect([listing.operation, await client.probe(listing, app)]).toEqual([listing.operation, 'no']);
  }
  expect(Object.values(client.capabilities())).toEqual(Array(6).fill('no'));
  expect((await client.regions()).map(({ name }) => name)).toContain(demo.region);
  expect((await client.application(app))?.appId).toBe(demo.appId);
  expect(await client.application({ ...app, appId: 999_999 })).toBeUndefined();
  expect(await portsIn(client, app, '0'.repeat(32))).toBeUndefined();
  const added = await client.send(
    addPort({ app, serviceId, port: { port: 7001, protocol: 'http', alias: 'EXTRA', inner: true } }),
  );
  expect(added).toMatchObject({ verdict: 'applied' });
  expect(await portsIn(client, app, serviceId)).toContainEqual(
    expect.objectContaining({ port: 7001, alias: 'EXTRA', inner: true, outer: false }),
  );
  const rule = { serviceId, port: 7001, domain: 'extra.shop.example.com', path: '/', open: true } as const;
  expect(await client.send(createRule({ app, rule }))).toMatchObject({
    verdict: 'applied',
    evidence: { type: 'rule', rule: { domain: 'extra.shop.example.com' } },
  });
  expect(wordOf(await client.send(createRule({ app, rule })))).toBe('exists');
});

test('a server of the extended dialect is recognised by reading, and a port and a rule live and die there', async () => {
  const client = await clientFor('extended');
  const seen: string[] = [];
  const send: PlatformClient['send'] = async (write) => {
    const verdict = await client.send(write);
    seen.push(`${write.operation} ${wordOf(verdict)}`);
    return verdict;
  };
  await client.read(listRules, app);
  await client.read(listComponents, app);
  await client.read(listInstalled, app);
  await client.read(listApplications, { team: app.team, region: app.region });
  await client.read(listAllRules, {});
  expect(Object.values(client.capabilities())).toEqual(Array(5).fill('yes'));

  const port = 7001;
  const extensions = [{ key: 'httptohttps', value: 'true' }];
  const rule = { serviceId, port, domain: 'extra.shop.example.com', path: '/', extensions } as const;
  await send(addPort({ app, serviceId, port: { port, protocol: 'http', alias: 'EXTRA', inner: false } }));
  await send(addPort({ app, serviceId, port: { port, protocol: 'http', inner: false } }));
  await send(updatePort({ app, serviceId, port, change: { action: 'open_outer' } }));
  await send(createRule({ app, rule }));
  const created = await send(createRule({ app, rule: { ...rule, open: true } }));
  const ruleId = created.verdict === 'applied' ? (shownRule(created.evidence)?.ruleId ?? '') : '';
  await send(updateRule({ app, ruleId, rule: { ...rule, weight: 30 } }));
  expect(await client.read(getRule(ruleId), app)).toMatchObject({ readable: true, value: { ruleId, weight: 30 } });
  await send(deletePort({ app, serviceId, port }));
  await send(deleteRule({ app, ruleId }));
  expect(await client.read(getRule(ruleId), app)).toEqual({ readable: true, value: undefined });
  await send(deleteRule({ app, ruleId }));
  await send(updatePort({ app, serviceId, port, change: { action: 'close_outer' } }));
  await send(updatePort({ app, serviceId, port, change: { action: 'close_inner' } }));
  await send(deletePort({ app, serviceId, port }));
  await send(deletePort({ app, serviceId, port }));
  expect(seen).toEqual([
    'addPort applied',
    'addPort rejected: exists',
    'updatePort rejected: precondition',
    'createRule rejected: precondition',
    'createRule applied',
    'updateRule applied',
    // An open port is refused with a 409 that no row knows: nothing is concluded from it.
    'deletePort unknown',
    'deleteRule applied',
    'deleteRule applied',
    'updatePort applied',
    'updatePort applied',
    'deletePort applied',
    'deletePort applied',
  ]);
});

test('an install and an upgrade prove themselves, and the listing shows what an upgrade must repeat', async () => {
  const client = await clientFor('extended');
  const [from, to] = demo.mysqlVersions;
  const accessKey = new Secret('store-access-key', 'test');
  const installed = await client.send(
    install({
      app,
      build: true,
      store: { url: demo.storeUrl, domain: demo.storeDomain, type: demo.storeType, accessKey },
      modelId: demo.mysqlModelId,
      modelVersion: from,
    }),
  );
  expect(installed).toMatchObject({ verdict: 'applied', evidence: { install: { appId: demo.appId } } });
  const components = await client.read(listComponents, app);
  expect(components.readable && components.value.map(({ serviceKey }) => serviceKey)).toContain('mysql');
  const models = await client.read(listInstalled, app);
  const model = models.readable ? models.value[0] : undefined;
  expect(model).toMatchObject({ modelId: demo.mysqlModelId, reportedVersion: from, marketName: 'main' });
  const upgraded = await client.send(
    upgrade({ app, modelId: demo.mysqlModelId, modelVersion: to, marketName: model?.marketName ?? null }),
  );
  expect(wordOf(upgraded)).toBe('applied');
});

test('an application is created, and what is under maintenance says so', async () => {
  const client = await clientFor('extended');
  const { team, region } = app;
  const made = await client.send(createApplication({ team, region, name: 'new', k8sApp: 'new' }));
  expect(wordOf(made)).toBe('applied');
  const listed = await client.read(listApplications, { team, region });
  expect(listed.readable && listed.value.map(({ name }) => name)).toContain('new');
  const resting = { ...app, region: demo.maintenanceRegion };
  await expect(client.application(resting)).rejects.toMatchObject({ code: 'platform/region-not-ready' });
  const verdict = await client.send(deletePort({ app: resting, serviceId, port: 8080 }));
  expect(wordOf(verdict)).toBe('rejected: region-not-ready');
});

test('a refused token is unreachable for reads and a definitive rejection for writes', async () => {
  const client = await clientFor('extended', 'wrong-token');
  await expect(client.regions()).rejects.toMatchObject({ code: 'platform/credentials', disposition: 'unreachable' });
  const verdict = await client.send(deletePort({ app, serviceId, port: 80 }));
  expect(wordOf(verdict)).toBe('rejected: credentials');
});
