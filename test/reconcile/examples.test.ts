import { expect, test } from 'vitest';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { exampleWork } from '../support/example-work.ts';
import { allowEverything, ScopeWorld } from '../support/scope-world.ts';

const DIALECTS: readonly Dialect[] = ['documented', 'extended'];
const work = exampleWork();

/** Passes until the install runs and what hangs on it is done, as `apply` does. */
async function applyFully(world: ScopeWorld) {
  for (let round = 0; round < 10; round += 1) {
    const outcome = await world.pass(work);
    if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
    if (outcome.waits.length === 0) return outcome;
    world.clock.advance(5_000);
  }
  throw new Error('still waiting');
}

function refusedWrites(world: ScopeWorld) {
  return world
    .writes()
    .filter(({ response }) => response.status >= 300)
    .map(({ request, response }) => [request.method, request.path, response.status, response.body]);
}

/** What the platform holds, without what differs from run to run. */
function platformOf(world: ScopeWorld) {
  const { state } = world;
  const components = new Map(
    [...state.components.all()].filter((row) => row.appId === demo.appId).map((row) => [row.id, row.name]),
  );
  return {
    components: [...components.values()].sort(),
    ports: [...state.ports.all()]
      .filter((row) => components.has(row.serviceId))
      .map(({ serviceId, port, protocol, alias, inner, outer, serviceName }) => ({
        component: components.get(serviceId),
        port,
        protocol,
        alias,
        inner,
        outer,
        serviceName,
      }))
      .sort((left, right) => left.port - right.port),
    rules: [...state.rules.all()]
      .filter((row) => row.appId === demo.appId)
      .map((row) => `${row.domain}${row.path} ${row.port} ${row.type}`)
      .sort(),
    installs: [...state.installs.all()].filter((row) => row.appId === demo.appId).map((row) => row.modelId),
  };
}

for (const dialect of DIALECTS) {
  test(`${dialect}: the examples are applied, and a second apply writes nothing and reads each thing once`, async () => {
    const world = new ScopeWorld(demoSeed, dialect);
    const outcome = await applyFully(world);
    expect(outcome.plan.holds).toEqual([]);
    expect(outcome.plan.actions).toEqual([]);
    expect(refusedWrites(world)).toEqual([]);
    const after = platformOf(world);
    expect(after.installs).toEqual([demo.mysqlModelId]);
    expect(after.rules).toContain('www.shop.example.com/ 8080 1');
    expect(after.ports.find((port) => port.port === 8080)).toMatchObject({
      alias: 'WEB',
      inner: true,
      outer: true,
      serviceName: 'shop-web',
    });
    expect(after.ports.find((port) => port.port === 3306)).toMatchObject({ alias: 'DB', serviceName: 'shop-db' });

    const { serial } = world.store;
    world.exchanges.length = 0;
    const second = await world.pass(work);
    if (second === 'died' || second.type !== 'ended') throw new Error(JSON.stringify(second));
    expect(second.plan.actions).toEqual([]);
    expect(world.store.serial, 'the ledger was told nothing either').toBe(serial);
    const reads = world.exchanges.map(({ request }) => request.operation).sort();
    expect(reads).toEqual([
      'getApplication',
      'listPorts',
      'listPorts',
      'listPorts',
      ...(dialect === 'extended' ? ['listRules'] : []),
    ]);
  });

  test(`${dialect}: killed before or after any write, the same apply reaches the same end or names the intent, and nothing is made twice`, async () => {
    const reference = new ScopeWorld(demoSeed, dialect);
    await applyFully(reference);
    const goal = platformOf(reference);
    const count = reference.writes().length;
    expect(count).toBeGreaterThan(6);
    for (let atWrite = 1; atWrite <= count; atWrite += 1) {
      for (const when of ['before', 'after'] as const) {
        const world = new ScopeWorld(demoSeed, dialect);
        world.crash = { atWrite, when };
        const first = await world.pass(work);
        if (first !== 'died') {
          // The write comes in a later pass, after a wait.
          world.clock.advance(5_000);
          world.crash = { atWrite: atWrite - world.writes().length, when };
          expect(await world.pass(work), `${atWrite} ${when}`).toBe('died');
        }
        world.crash = undefined;
        const next = await world.pass(work);
        if (next === 'died' || next.type !== 'ended') throw new Error(JSON.stringify(next));
        expect(next.plan.holds.some((hold) => hold.code.startsWith('intent/'))).toBe(true);
        const last = await world.settle(work);
        if (last.type !== 'ended') throw new Error(JSON.stringify(last));
        const doubtful = last.plan.holds.filter((hold) => hold.code === 'intent/in-doubt');
        if (doubtful.length > 0) {
          // Only an install, and only where nothing can be listed, is left to a person.
          expect(dialect).toBe('documented');
          expect(doubtful.map((hold) => hold.resource)).toEqual(['StoreInstall/shop-db']);
          expect(doubtful[0]?.remedy).toContain('portolan ledger resolve');
          expect(platformOf(world).installs.length).toBeLessThanOrEqual(1);
          continue;
        }
        expect(platformOf(world), `${atWrite} ${when}`).toEqual(goal);
        expect(refusedWrites(world).filter(([, , , body]) => !String(body).includes('策略已存在'))).toEqual([]);
      }
    }
  });

  test(`${dialect}: drift is seen as drift, and healed`, async () => {
    const world = new ScopeWorld(demoSeed, dialect);
    await applyFully(world);
    const rows = [...world.state.ports.all()].filter((row) => row.port === 8080 && row.serviceId === demo.webServiceId);
    for (const row of rows) world.state.ports.put({ ...row, outer: false, alias: 'HAND' });
    const seen = await world.pass(work, { ...allowEverything, readOnly: true });
    if (seen === 'died' || seen.type !== 'ended') throw new Error(JSON.stringify(seen));
    expect(seen.plan.actions.map((action) => [action.step.type, action.cause])).toEqual([
      ['change_port_alias', 'drift'],
      ['open_outer', 'drift'],
    ]);
    expect(
      seen.plan.actions.flatMap((action) =>
        action.changes.map((change) => [change.path, change.before, change.after, change.lastApplied]),
      ),
    ).toEqual([
      ['ports[8080].alias', 'HAND', 'WEB', 'WEB'],
      ['ports[8080].outer', false, true, true],
    ]);
    const goal = await world.pass(work);
    if (goal === 'died' || goal.type !== 'ended') throw new Error(JSON.stringify(goal));
    expect(goal.plan.actions).toEqual([]);
  });
}
