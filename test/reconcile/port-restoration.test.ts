import { expect, test } from 'vitest';
import type { PortSpec } from '../../src/kinds/component/spec.ts';
import type { PortProtocol } from '../../src/kinds/component/wire.ts';
import type { PassOptions, Work } from '../../src/reconcile/reconcile.ts';
import type { SeedPort } from '../../src/sandbox/seed.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';

// Every port that Portolan made, in every state, is removed; every port that was there before gets its state back from every
// other one: whatever write a crash comes at.

const PROTOCOLS: readonly PortProtocol[] = ['tcp', 'http', 'mysql'];
const ACCESS = [
  { inner: false, outer: false },
  { inner: true, outer: false },
  { inner: true, outer: true },
] as const;

const states = PROTOCOLS.flatMap((protocol) => ACCESS.map((access) => ({ protocol, ...access })));

const pruning: PassOptions = { ...allowEverything, permissions: { ...allowEverything.permissions, prune: true } };

function listing(ports: readonly PortSpec[]): Work {
  const spec = { application: 'shop', serviceId: SERVICE, ports, unlistedPorts: 'keep' };
  return workOf(ADDRESS, [manifest('Component', 'web', spec, { 'portolan/on-removal': 'restore' })]);
}

const removals: readonly (readonly [string, Work])[] = [
  ['entry', listing([])],
  ['document', workOf(ADDRESS, [])],
];

function portNow(world: ScopeWorld) {
  const row = world.state.ports.get(`${SERVICE}/8080`);
  return row === undefined ? undefined : { protocol: row.protocol, inner: row.inner, outer: row.outer };
}

/** No endpoint of a former protocol serves, and that of the present one does where the port is open. */
function expectEndpoints(world: ScopeWorld, about: string): void {
  const port = portNow(world);
  const served = [...world.state.tcpRules.all()].filter((row) => row.serviceId === SERVICE && row.outer);
  expect(served.length > 0, about).toBe(port?.outer === true && port.protocol !== 'http');
}

async function removedAfterEveryCrash(
  present: readonly SeedPort[],
  wanted: PortSpec,
  expectation: (world: ScopeWorld, about: string) => void,
): Promise<number> {
  let crashes = 0;
  for (const [what, removal] of removals) {
    for (let atWrite = 0, died = true; died; atWrite += 1) {
      for (const when of ['before', 'after'] as const) {
        const about = JSON.stringify({ present, wanted, what, atWrite, when });
        const world = new ScopeWorld(smallShop({ ports: present }), 'extended');
        await world.settle(listing([wanted]));
        if (atWrite > 0) {
          world.crash = { atWrite, when };
          died = (await world.pass(removal, pruning)) === 'died';
          if (!died) break;
          crashes += 1;
        }
        const last = await world.settle(removal, pruning);
        if (last.type !== 'ended') throw new Error(`${about}: ${JSON.stringify(last)}`);
        expect(last.plan.holds, about).toEqual([]);
        expect(
          world.writes().filter(({ response }) => response.status >= 300),
          about,
        ).toEqual([]);
        expectation(world, about);
        if (atWrite === 0) break;
      }
    }
  }
  return crashes;
}

test('a port that Portolan made in any state is removed, whatever write a crash comes at', async () => {
  let crashes = 0;
  for (const wanted of states) {
    crashes += await removedAfterEveryCrash([], { port: 8080, ...wanted }, (world, about) => {
      expect(portNow(world), about).toBeUndefined();
      expectEndpoints(world, about);
      expect([...world.store.objects.values()].filter(({ naturalKey }) => naturalKey.startsWith('port/'))).toEqual([]);
    });
  }
  expect(crashes).toBeGreaterThan(40);
});

test('a port in any state gets its state back from any other one, whatever write a crash comes at', async () => {
  let crashes = 0;
  for (const present of states) {
    for (const wanted of states) {
      if (present.protocol === wanted.protocol && present.protocol !== 'http') continue;
      crashes += await removedAfterEveryCrash(
        [{ port: 8080, ...present }],
        { port: 8080, ...wanted },
        (world, about) => {
          expect(portNow(world), about).toEqual(present);
          expectEndpoints(world, about);
        },
      );
    }
  }
  expect(crashes).toBeGreaterThan(300);
});

test('a port that the platform leaves broken after a protocol change is held until it is whole again', async () => {
  const world = new ScopeWorld(
    smallShop({ ports: [{ port: 8080, protocol: 'tcp', inner: true, outer: true }] }),
    'extended',
  );
  const work = listing([{ port: 8080, protocol: 'http', inner: true, outer: true }]);
  const revive = (outer: boolean): void => {
    for (const row of world.state.tcpRules.all()) world.state.tcpRules.put({ ...row, outer });
  };
  world.answer = ({ body }) => {
    if (body?.['action'] === 'open_outer') revive(true);
    return undefined;
  };
  const outcome = await world.pass(work);
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  expect(outcome.plan.holds).toMatchObject([
    { code: 'component/endpoint-broken', message: expect.stringContaining('TCP endpoint') },
  ]);
  revive(false);
  const after = await world.settle(work);
  expect(after).toMatchObject({ type: 'ended', plan: { holds: [], actions: [] } });
  const asked = world.exchanges.filter(({ request }) => request.operation === 'listEndpoints').length;
  await world.pass(work);
  expect(
    world.exchanges.filter(({ request }) => request.operation === 'listEndpoints'),
    'it is compared only until it is right',
  ).toHaveLength(asked);
});
