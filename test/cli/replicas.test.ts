import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import type { ReplicaGroup, UnitState } from '../../src/model/replicas.ts';
import type { Json } from '../../src/model/json.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { temporaryDirectory, real } from '../ledger/fixtures.ts';
import { serve, TOKENS } from '../server/serving.ts';
import { freshSchema, querySharedServer, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { collectingTerminal, type Run, runHere } from './running.ts';

const NOON_MS = Date.UTC(2026, 10, 20, 12);
/** Two hours after the scene of the server. */
const clock = { ...systemClock, now: () => NOON_MS + 7_200_000 };
const env = { PORTOLAN_SERVER_TOKEN: TOKENS.viewer };

async function shown(change: (group: ReplicaGroup) => ReplicaGroup, columns = 0): Promise<Run> {
  const { url, api } = await serve();
  api.group = change(api.group);
  const { terminal, text } = collectingTerminal({ isTerminal: columns > 0, columns: columns || 80 });
  const code = (await runHere(['replicas', '--server', url], { terminal, env, clock })).code;
  return { code, ...text };
}

const led = (group: ReplicaGroup): ReplicaGroup => ({
  ...group,
  units: group.units.map((unit) => ({ ...unit, leader: unit.leader ?? 'portolan-0', leaseLeftMs: 9_000 })),
});

test.for([0, 60, 120])('replicas, and the leader of each platform and source, in %i columns', async (columns) => {
  const { code, out, err } = await shown((group) => group, columns);
  expect([code, err]).toEqual([0, '']);
  if (columns > 0) expect(out.split('\n').filter((line) => line.length > columns)).toEqual([]);
  await expect(out).toMatchFileSnapshot(`golden/replicas-${columns === 0 ? 'pipe' : columns}.txt`);
});

test('the last line says whether every unit has a leader, and what to do if not', async () => {
  expect((await shown(led)).out).toMatch(/\n\nEvery platform and source has a leader\.\n$/);
  const waiting = await shown((group) => group);
  expect(waiting.out).toMatch(/\n1 unit has no leader: platform:other\.\n {2}→ A live replica takes it once its lease/);
  const silent = await shown((group) => ({
    ...group,
    replicas: group.replicas.map((replica) => ({ ...replica, seenAgoMs: 600_000 })),
    units: group.units.map((unit) => ({ ...unit, leader: null, leaseLeftMs: null })),
  }));
  expect(silent.out).toMatch(/\n3 units have no leader: .*\n {2}→ Start a replica: portolan run --ledger/);
  expect(silent.out).toMatch(/^portolan-0 .* 10m ago +2 +silent/m);
  const old = await shown((group) => ({ ...led(group), isCurrent: false, asOfMs: NOON_MS + 7_140_000 }));
  expect(old.out).toContain(
    'This replica cannot read the database; this is its state of 1m ago.\n  → Its log names the reason',
  );
  const alone = await shown((group) => ({ ...group, isShared: false }));
  expect(alone.out).toMatch(
    /\nThe ledger belongs to this process alone\. Several controllers need one in PostgreSQL\.\n$/,
  );
});

test('a unit that no configuration has any more is shown last, and apart from those that need a leader', async () => {
  const left = (group: ReplicaGroup): ReplicaGroup => ({
    ...group,
    units: group.units.map((unit) => ({ ...unit, isConfigured: unit.leader !== null })),
  });
  const { out } = await shown(left);
  expect(out).toMatch(/\nplatform default .*\nsource default .*\nplatform other .*\n\n/);
  expect(out).toContain(
    '\n\nEvery configured platform and source has a leader.\n' +
      'No live replica has this unit in its configuration any more: platform:other.\n  → This requires an action only if',
  );
  const earlier = await shown((group) => ({
    ...group,
    units: group.units.map(({ isConfigured: _, ...unit }) => unit as UnitState),
  }));
  expect(earlier.out).toContain('\n1 unit has no leader: platform:other.\n');
});

test('-o json and -o yaml are the answer of the API', async () => {
  const { url, api } = await serve();
  const [json, yaml] = await Promise.all(
    ['json', 'yaml'].map((output) => runHere(['replicas', '--server', url, '-o', output], { env })),
  );
  expect(JSON.parse(json?.out ?? '')).toEqual({ formatVersion: 1, ...api.group });
  expect(parse(yaml?.out ?? '')).toEqual({ formatVersion: 1, ...api.group });
});

test('without a server, the command needs a ledger in PostgreSQL', async () => {
  const none = await runHere(['replicas']);
  expect([none.code, none.err]).toEqual([3, expect.stringContaining('requires a server or a ledger in PostgreSQL')]);
  const file = await runHere(['replicas', '--ledger', 'portolan.db']);
  expect([file.code, file.err]).toEqual([3, expect.stringContaining('A ledger in a file has one controller')]);
  const away = await runHere(['replicas', '--server', 'http://127.0.0.1:9']);
  expect([away.code, away.err]).toEqual([5, expect.stringContaining('cannot be reached')]);
});

test('if no controller answers, the command reads the ledger, and becomes no replica', async () => {
  const schema = freshSchema();
  const url = await sharedUrl(schema);
  const ledger = ['--server', 'http://127.0.0.1:9', '--ledger', url];
  const missing = await runHere(['replicas', ...ledger]);
  expect([missing.code, missing.err]).toEqual([3, expect.stringContaining('ledger/missing')]);
  const shared = await openSharedLedger(trusting(url), { ...real, actor: 'portolan run on host-1', replica: 'host-1' });
  onTestFinished(() => shared.close());
  const report = { name: 'host-1', version: '0.1.0', address: 'http://host-1:7780', startedMs: NOON_MS, facts: null };
  await shared.beat(report, false);
  const [east] = await Promise.all((['platform:east', 'source:default'] as const).map((unit) => shared.lead(unit)));
  await (await shared.lead('platform:west'))?.ledger.close();

  const { code, out, err } = await runHere(['replicas', ...ledger], { clock });
  expect(code, err).toBe(0);
  expect(err).toMatch(
    /^note: The server at http:\/\/127\.0\.0\.1:9 cannot be reached: .* This is read from the ledger\.$/m,
  );
  expect(out).toMatch(/^host-1 +0\.1\.0 +2h ago +0s ago +2 +active +http:\/\/host-1:7780$/m);
  expect(out).toMatch(new RegExp(`^platform east +host-1 .* ${east?.ledger.epoch} +\\d+s$`, 'm'));
  expect(out).toMatch(/^platform west +- .* \d+ +-$/m);
  const group = JSON.parse((await runHere(['replicas', ...ledger, '-o', 'json'])).out) as ReplicaGroup;
  expect(group.replicas).toMatchObject([{ name: 'host-1', isSelf: false, isDraining: false, leads: 2 }]);
  expect(group.units.map(({ unit, leader }) => [unit, leader])).toEqual([
    ['platform:east', 'host-1'],
    ['platform:west', null],
    ['source:default', 'host-1'],
  ]);

  // The clock of the database was set back a little, and the other replica died long before.
  await querySharedServer(
    `UPDATE ${schema}.replica SET seen_ms = seen_ms + 900; INSERT INTO ${schema}.replica SELECT 'dead', 'dead', version, address, started_ms, facts, draining, seen_ms + 3600000 FROM ${schema}.replica`,
  );
  const setBack = JSON.parse((await runHere(['replicas', ...ledger, '-o', 'json'])).out) as ReplicaGroup;
  expect(setBack.replicas.map(({ name, seenAgoMs }) => [name, seenAgoMs])).toEqual([
    ['host-1', expect.toSatisfy((ms: number) => ms >= 0)],
  ]);

  // A replica that ends removes its heartbeat.
  await shared.leave();
  await shared.close();
  expect((await runHere(['replicas', ...ledger])).out).toMatch(
    /^No replica runs\.\n\n[^]*\n3 units have no leader: .*\n {2}→ Start a replica: /,
  );
});

test('a process that was killed is silent, and does not have the units of one with its name', async () => {
  const schema = freshSchema();
  const url = await sharedUrl(schema);
  const open = () => openSharedLedger(trusting(url), { ...real, actor: 'portolan run', replica: 'r1' });
  const report = { name: 'r1', version: '0.1.0', address: null, startedMs: NOON_MS, facts: null };
  const killed = await open();
  onTestFinished(() => killed.close());
  await killed.beat(report, false);
  await killed.lead('platform:east');
  await querySharedServer(`UPDATE ${schema}.replica SET seen_ms = seen_ms - 420000`);
  const restarted = await open();
  onTestFinished(() => restarted.close());
  await restarted.beat({ ...report, startedMs: NOON_MS + 60_000 }, false);
  await restarted.lead('platform:west');
  await restarted.lead('source:default');
  const { out } = await runHere(['replicas', '--ledger', url], { clock });
  expect(out).toMatch(/^r1 +0\.1\.0 +2h ago +7m ago +1 +silent/m);
  expect(out).toMatch(/^r1 +0\.1\.0 +1h59m ago +0s ago +2 +active/m);
});

test('in a ledger that was copied, no replica is expected to take a unit', async () => {
  const url = await sharedUrl();
  const shared = await openSharedLedger(trusting(url), { ...real, actor: 'portolan run', replica: 'r1' });
  onTestFinished(() => shared.close());
  await shared.beat({ name: 'r1', version: '0.1.0', address: null, startedMs: NOON_MS, facts: null }, false);
  await (await shared.lead('platform:east'))?.ledger.close();
  using folder = temporaryDirectory();
  const copy = join(folder.path, 'moved.db');
  expect(await runHere(['ledger', 'copy', url, copy])).toMatchObject({ code: 0 });
  const { code, out, err } = await runHere(['replicas', '--ledger', url]);
  expect(code).toBe(0);
  expect(err).toMatch(/^warning: the ledger postgres:.* was copied to .*moved\.db at 20.*Z, and does not know/);
  expect(out).toContain(
    `1 unit has no leader: platform:east.\n  → No replica can lead in a ledger that was copied. Use ${copy}.\n`,
  );
});

test('the ledger knows from the live replicas which units a configuration has', async () => {
  const schema = freshSchema();
  const url = await sharedUrl(schema);
  const open = (replica: string) => openSharedLedger(trusting(url), { ...real, actor: 'portolan run', replica });
  const report = (name: string, facts: Json) => ({ name, version: '0.1.0', address: null, startedMs: NOON_MS, facts });
  const [r1, r2] = [await open('r1'), await open('r2')];
  onTestFinished(() => r1.close());
  onTestFinished(() => r2.close());
  await r1.beat(report('r1', { units: ['platform:east', 'source:default'] }), false);
  await r1.lead('source:default');
  await r2.beat(report('r2', { units: ['platform:third', 'source:default'] }), false);
  for (const unit of ['platform:east', 'platform:third'] as const) await (await r2.lead(unit))?.ledger.close();
  const idle = async (): Promise<string> =>
    /\n\n(?=[^\n]*: platform:).*$/s.exec((await runHere(['replicas', '--ledger', url])).out)?.[0] ?? '';
  expect(await idle()).toContain('2 units have no leader: platform:east, platform:third.');
  await r2.leave();
  expect(await idle()).toMatch(
    /1 unit has no leader: platform:east\.\n.*\nNo live replica has this unit .*: platform:third\.\n/,
  );
  await r1.beat(report('r1', { platforms: [] }), false);
  expect(await idle(), 'an earlier version').toContain('2 units have no leader: platform:east, platform:third.');
  await r1.leave();
  expect(await idle(), 'no live replica').toContain('2 units have no leader: platform:east, platform:third.');
});

test('a command that has the whole ledger is named', async () => {
  const url = await sharedUrl();
  const writer = await openPostgresLedger(trusting(url), { ...real, actor: 'portolan apply by ann' });
  onTestFinished(() => writer.close());
  const { out, err } = await runHere(['replicas', '--ledger', url]);
  expect(err).toBe('note: portolan apply by ann has the whole ledger; no replica can lead until it ends.\n');
  expect(out).toBe('No replica runs.\n\nNo platform and no source was led yet.\n');
});
