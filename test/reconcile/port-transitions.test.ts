import { expect, test } from 'vitest';
import type { PortSpec } from '../../src/kinds/component/spec.ts';
import type { PortProtocol } from '../../src/kinds/component/wire.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { manifest, ScopeWorld, workOf } from '../support/scope-world.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';

const PROTOCOLS: readonly PortProtocol[] = ['tcp', 'http', 'mysql', 'grpc', 'udp'];
const BOOLEANS = [false, true] as const;
const DIALECTS: readonly Dialect[] = ['documented', 'extended'];

interface Present {
  readonly protocol: PortProtocol;
  readonly inner: boolean;
  readonly outer: boolean;
}

type Wanted = Omit<PortSpec, 'port' | 'alias'>;

const presents: readonly Present[] = PROTOCOLS.flatMap((protocol) =>
  BOOLEANS.flatMap((inner) => BOOLEANS.map((outer) => ({ protocol, inner, outer }))),
);

/** Every combination of values, each field also absent; outer open beside inner closed is refused offline. */
const wishes: readonly Wanted[] = [undefined, ...PROTOCOLS].flatMap((protocol) =>
  [undefined, ...BOOLEANS].flatMap((inner) =>
    [undefined, ...BOOLEANS].flatMap((outer) =>
      inner === false && outer === true
        ? []
        : [
            {
              ...(protocol === undefined ? {} : { protocol }),
              ...(inner === undefined ? {} : { inner }),
              ...(outer === undefined ? {} : { outer }),
            },
          ],
    ),
  ),
);

function seedWith(ports: readonly object[]): Seed {
  return smallShop({ ports: ports as never });
}

function wanting(ports: readonly PortSpec[], extra: object = {}) {
  return workOf(ADDRESS, [
    manifest('Component', 'web', { application: 'shop', serviceId: SERVICE, ports, unlistedPorts: 'keep', ...extra }),
  ]);
}

/** Stated from the documents, not from the planner: what cannot be reached without touching an unmanaged field. */
function mustHold(present: Present, wanted: Wanted): boolean {
  if (wanted.inner === false && wanted.outer === undefined && present.outer) return true;
  const innerStaysClosed = (wanted.inner ?? present.inner) === false;
  if (!innerStaysClosed) return false;
  if (wanted.outer === true && !present.outer) return true;
  // Outer is closed for every change of protocol, and could not be opened again.
  const changes = wanted.protocol !== undefined && wanted.protocol !== present.protocol;
  return changes && present.outer && wanted.outer !== false;
}

function goalOf(present: Present, wanted: Wanted): Present {
  return {
    protocol: wanted.protocol ?? present.protocol,
    inner: wanted.inner ?? present.inner,
    outer: wanted.outer ?? present.outer,
  };
}

function portNow(world: ScopeWorld, port: number) {
  const rows = [...world.state.ports.all()].filter((row) => row.serviceId === SERVICE && row.port === port);
  const [row] = rows;
  expect(rows).toHaveLength(1);
  if (row === undefined) throw new Error('port vanished');
  return { protocol: row.protocol, inner: row.inner, outer: row.outer };
}

/** A change of protocol while outer is open is refused, or leaves a broken port behind. */
function watchProtocolChanges(world: ScopeWorld): void {
  world.answer = ({ body }) => {
    if (body?.['action'] === 'change_protocol') expect(portNow(world, 8080)).toMatchObject({ outer: false });
    return undefined;
  };
}

function expectNothingRefused(world: ScopeWorld): void {
  const refused = world.writes().filter(({ response }) => response.status >= 300);
  expect(
    refused.map(({ request, response }) => [
      request.method,
      request.path,
      request.body,
      response.status,
      response.body,
    ]),
  ).toEqual([]);
}

/** A crash at any write of each pair takes half a minute: the suite takes one pair in five, `npm run test:long` all. */
const CRASHED_EACH = process.env['PORTOLAN_TEST_LONG'] === '1' ? 1 : 5;

for (const [offset, dialect] of DIALECTS.entries()) {
  test(`${dialect}: every state of a port reaches every wish, or is held as designed`, async () => {
    let pairs = 0;
    for (const present of presents) {
      for (const wanted of wishes) {
        pairs += 1;
        const about = JSON.stringify({ present, wanted });
        const world = new ScopeWorld(seedWith([{ port: 8080, ...present }]), dialect);
        const work = wanting([{ port: 8080, ...wanted }]);
        watchProtocolChanges(world);
        const outcome = await world.pass(work);
        if (outcome === 'died' || outcome.type !== 'ended') throw new Error(`${about}: ${JSON.stringify(outcome)}`);
        expectNothingRefused(world);
        const held = mustHold(present, wanted);
        expect(outcome.plan.holds.length > 0, about).toBe(held);
        expect(portNow(world, 8080), about).toEqual(held ? present : goalOf(present, wanted));
        const writes = world.writes().length;
        const second = await world.pass(work);
        if (second === 'died' || second.type !== 'ended') throw new Error(about);
        expect(second.plan.actions, about).toEqual([]);
        expect(world.writes().length, about).toBe(writes);
      }
    }
    expect(pairs).toBe(20 * 48);
  });

  test(`${dialect}: a crash before or after any write of it leads to the same end`, async () => {
    let crashes = 0;
    let pairs = offset;
    for (const present of presents) {
      for (const wanted of wishes) {
        pairs += 1;
        if (pairs % CRASHED_EACH !== 0 || mustHold(present, wanted)) continue;
        for (let atWrite = 1, died = true; died; atWrite += 1) {
          for (const when of ['before', 'after'] as const) {
            const about = JSON.stringify({ present, wanted, atWrite, when });
            const world = new ScopeWorld(seedWith([{ port: 8080, ...present }]), dialect);
            const work = wanting([{ port: 8080, ...wanted }]);
            watchProtocolChanges(world);
            world.crash = { atWrite, when };
            died = (await world.pass(work)) === 'died';
            if (!died) break;
            crashes += 1;
            await world.settle(work);
            expectNothingRefused(world);
            expect(portNow(world, 8080), about).toEqual(goalOf(present, wanted));
          }
        }
      }
    }
    expect(crashes).toBeGreaterThan(2000 / CRASHED_EACH);
  });
}

test('outer closed for a moment is owed until it is open again, even if a hold comes between', async () => {
  const world = new ScopeWorld(seedWith([{ port: 8080, protocol: 'http', inner: true, outer: true }]), 'extended');
  const work = wanting([{ port: 8080, protocol: 'tcp' }]);
  world.crash = { atWrite: 2, when: 'after' };
  expect(await world.pass(work)).toBe('died');
  expect(portNow(world, 8080)).toMatchObject({ outer: false });
  world.crash = undefined;
  const setInner = (inner: boolean): void => {
    for (const row of world.state.ports.all()) world.state.ports.put({ ...row, inner });
  };
  setInner(false);
  await world.settle(work);
  world.clock.advance(3_600_000);
  const held = await world.pass(work);
  if (held === 'died' || held.type !== 'ended') throw new Error(JSON.stringify(held));
  expect(held.plan.holds.map((hold) => hold.code)).toEqual(['component/inner-unmanaged']);
  setInner(true);
  await world.settle(work);
  expect(portNow(world, 8080)).toEqual({ protocol: 'tcp', inner: true, outer: true });
});
