import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LedgerOperation } from '../../src/ledger/ledger.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { awaitsConfirmation } from '../../src/ledger/confirmation.ts';
import type { OwnedObject } from '../../src/model/owned.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { blog, intent, object, real, record, shop, snapshot } from '../ledger/fixtures.ts';
import { temporaryFolder } from './platform.ts';
import { runHere, runProcess } from './running.ts';

const port = object({
  kind: 'Component',
  resource: 'Component/web',
  naturalKey: 'port/6f3c/8080',
  remoteId: null,
  lastApplied: { outer: true, alias: 'WEB' },
  failures: 3,
});
const otherPort = object({
  kind: 'Component',
  resource: 'Component/web',
  naturalKey: 'port/6f3c/9000',
  remoteId: null,
  lastApplied: { outer: false },
});
const rule = object();

/** A ledger file with what operations put into the scope `shop`. @returns its path. */
async function ledgerWith(operations: readonly LedgerOperation[], scope = shop): Promise<string> {
  const path = join(temporaryFolder(), 'ledger.db');
  const ledger = await openSqliteLedger(path, real);
  const accepted: LedgerOperation = { op: 'accept-snapshot', snapshot: snapshot() };
  await ledger.commit({ scope, actor: 'test', atMs: 1_000, operations: [accepted, ...operations] });
  await ledger.close();
  return path;
}

function put(...objects: readonly OwnedObject[]): readonly LedgerOperation[] {
  return objects.map((one) => ({ op: 'put-object', object: one }));
}

async function inLedger<Result>(
  path: string,
  look: (ledger: Awaited<ReturnType<typeof openSqliteLedger>>) => Promise<Result>,
): Promise<Result> {
  const ledger = await openSqliteLedger(path, { ...real, readOnly: true });
  try {
    return await look(ledger);
  } finally {
    await ledger.close();
  }
}

/** The window of a request is over by the time since this machine started, as production records it. */
const { boot } = systemClock.sinceBoot();
const unknownRule: readonly LedgerOperation[] = [
  {
    op: 'open-intent',
    intent: intent({ id: 'abc123', action: { summary: 'create rule www', step: { type: 'create' } } }),
  },
  {
    op: 'move-intent',
    id: 'abc123',
    state: 'unknown',
    settleMs: 5_000,
    settleMark: boot === '' ? '' : `${boot} 0`,
    outcome: { message: 'connection lost' },
  },
];

test('list shows objects, and for each request without an outcome how long to wait and how to settle it', async () => {
  const path = await ledgerWith([...put(port, otherPort), ...unknownRule]);
  const run = await runHere(['ledger', 'list', '--ledger', path]);
  expect(run).toMatchObject({ code: 0, err: '' });
  expect(run.out).toMatch(/^RESOURCE +KIND +OBJECT +ORIGIN +STATE +FAILURES +LAST APPLIED$/m);
  expect(run.out).toMatch(/^Component\/web +Component +port\/6f3c\/8080 +created +present +3 +alias=WEB outer=true$/m);
  expect(run.out).toContain('1 request without a known outcome:\n  abc123  createRule for HttpGatewayRule/www');
  expect(run.out).toContain('create rule www');
  expect(run.out).toContain('over since 1970-01-01T00:00:05Z: the next apply observes the platform');
  expect(run.out).toContain(`portolan ledger resolve abc123 --not-applied --reason "…" --ledger ${path}\n`);
});

test('list for programs carries the commands, narrows by scope and source, and says which scopes there are', async () => {
  const path = await ledgerWith([...put(port, object({ source: 'other' })), ...unknownRule]);
  const list = async (...args: string[]) => {
    const run = await runHere(['ledger', 'list', '--ledger', path, '-o', 'json', ...args]);
    return JSON.parse(run.out) as { objects: OwnedObject[]; intents: Record<string, unknown>[] };
  };
  const all = await list();
  expect(all.objects.map(({ source }) => source)).toEqual(['default', 'other']);
  expect(all.intents).toEqual([
    expect.objectContaining({
      id: 'abc123',
      state: 'unknown',
      settles: { isOver: true, at: '1970-01-01T00:00:05.000Z' },
      resolve: {
        applied: `portolan ledger resolve abc123 --applied --reason "…" --ledger ${path}`,
        notApplied: `portolan ledger resolve abc123 --not-applied --reason "…" --ledger ${path}`,
      },
    }),
  ]);
  expect(await list('--source', 'other')).toMatchObject({ objects: [{ source: 'other' }], intents: [] });
  expect(await list('--scope', blog)).toMatchObject({ objects: [], intents: [] });
  const text = await runHere(['ledger', 'list', '--ledger', path, '--scope', blog]);
  expect(text).toMatchObject({ code: 0, out: 'The ledger has no object.\n' });
  expect(text.err).toContain(`it has: ${shop}`);
});

test('show finds an object by uid, a resource with all of it, and an intent, each with its history', async () => {
  const path = await ledgerWith([...put(port, otherPort), ...unknownRule, record('applied', port.uid)]);
  const show = (name: string) => runHere(['ledger', 'show', name, '--ledger', path]);
  const one = await show(port.uid);
  expect(one).toMatchObject({ code: 0, err: '' });
  expect(one.out).toMatch(/^ {2}uid +default:default\/team-a\/region-1\/42:Component:port\/6f3c\/8080$/m);
  expect(one.out).toMatch(/^ {2}last applied +alias=WEB outer=true$/m);
  expect(one.out).toMatch(/History, newest first\nAT[^]*applied +default:Component:port\/6f3c\/8080 +test +n=1/);
  expect(one.out).not.toContain('9000');
  const whole = await show('Component/web');
  expect([whole.out.includes('port/6f3c/8080'), whole.out.includes('port/6f3c/9000')]).toEqual([true, true]);
  const doubt = await show('abc123');
  expect(doubt.out).toContain('answer         message="connection lost"');
  expect(doubt.out).toContain('portolan ledger resolve abc123 --applied');
  // There is no object yet: the intent is all there is of the resource.
  expect((await show('HttpGatewayRule/www')).out).toContain('createRule for HttpGatewayRule/www');
  expect(await show('Component/wbe')).toMatchObject({
    code: 3,
    err: expect.stringMatching(/no object, resource or intent Component\/wbe[^]*Did you mean[^]*Component\/web/i),
  });
});

test('history is newest first, bounded, and says when there is more', async () => {
  const path = await ledgerWith([record('first', port.uid), record('second', rule.uid), record('third')]);
  const run = await runHere(['ledger', 'history', '--ledger', path, '--limit', '2']);
  expect(run.code).toBe(0);
  expect(
    run.out
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split(/ {2,}/)[2]),
  ).toEqual(['third', 'second']);
  expect(run.err).toContain('the newest 2 lines.');
  const json = await runHere(['ledger', 'history', '--ledger', path, '--uid', port.uid, '-o', 'json']);
  expect(JSON.parse(json.out)).toMatchObject({ hasMore: false, history: [{ event: 'first', actor: 'test' }] });
});

test('confirm lets installs into a scope go on, says who said so, and is no news the second time', async () => {
  const path = await ledgerWith([record('seen')]);
  const confirm = (scope: string) => runHere(['ledger', 'confirm', scope, '--ledger', path]);
  expect(await confirm(shop)).toMatchObject({ code: 0, out: expect.stringContaining('are confirmed'), err: '' });
  expect(await confirm(shop)).toMatchObject({ code: 0, out: expect.stringContaining('already confirmed'), err: '' });
  expect(await confirm('default/team-a/region-1/77')).toMatchObject({
    code: 0,
    err: expect.stringContaining('has no record of'),
  });
  expect(await confirm('team-a/region-1/42')).toMatchObject({
    code: 3,
    err: expect.stringContaining('is not a scope'),
  });
  await inLedger(path, async (ledger) => {
    expect(await ledger.fact(`installs ${shop}`)).toBe('confirmed');
    const events = (await ledger.history({ scope: shop, limit: 9 })).map(({ event, actor }) => [event, actor]);
    expect(events[0]).toEqual(['installs.confirmed', 'portolan ledger confirm by somebody on a test, pid 1']);
    expect(events).toHaveLength(2);
  });
});

test('retry forgives the failures of an object, or of all objects of a resource, and names them', async () => {
  const path = await ledgerWith(put(port, otherPort));
  const run = await runHere(['ledger', 'retry', 'Component/web', '--ledger', path]);
  expect(run).toEqual({ code: 0, out: `${port.uid}: 3 failures cleared\nThe next apply retries.\n`, err: '' });
  expect(await runHere(['ledger', 'retry', port.uid, '--ledger', path])).toMatchObject({
    code: 0,
    out: `${port.uid} has no recorded failure; nothing was changed\n`,
  });
  await inLedger(path, async (ledger) => {
    expect(await ledger.objects({})).toEqual([{ ...port, failures: 0 }, otherPort]);
    expect(await ledger.history({ uid: port.uid, limit: 9 })).toEqual([
      expect.objectContaining({ event: 'retry', detail: { resource: 'Component/web', failures: 3 } }),
    ]);
  });
});

test('forget drops all of a resource, keeps the history of it, and says what follows', async () => {
  const install = object({
    kind: 'StoreInstall',
    resource: 'StoreInstall/db',
    naturalKey: 'install/db',
    obligation: { outer: true },
  });
  const path = await ledgerWith(put(port, otherPort, install));
  const forget = (...args: string[]) => runHere(['ledger', 'forget', ...args, '--ledger', path]);
  expect(await forget('Component/web')).toMatchObject({ code: 3, err: expect.stringContaining('--reason') });
  expect(await forget('Component/web', '--reason', ' ')).toMatchObject({ code: 3 });
  expect(await forget('Component/web', '--reason', 'moved')).toEqual({
    code: 0,
    out: `forgot ${port.uid}\nforgot ${otherPort.uid}\nNothing was sent to the platform.\n`,
    err: '',
  });
  const dropped = await forget(install.uid, '--reason', 'gone', '-o', 'json');
  expect(JSON.parse(dropped.out)).toMatchObject({
    forgotten: [{ uid: install.uid }],
    warnings: [expect.stringContaining('a second time'), expect.stringContaining('restore outer = true')],
  });
  expect(await forget('Component/web', '--reason', 'again')).toMatchObject({
    code: 3,
    err: expect.stringContaining('no object'),
  });
  await inLedger(path, async (ledger) => {
    expect(await ledger.objects({})).toEqual([]);
    expect(await ledger.fact(`installs ${shop}`)).toBe('forgotten');
  });
  const shown = await runHere(['ledger', 'show', port.uid, '--ledger', path]);
  expect(shown.out).toMatch(/was removed from the ledger[^]*forgotten[^]*reason=moved/);
});

test('forget is refused while a request on the object has no outcome', async () => {
  const path = await ledgerWith([...put(rule), ...unknownRule]);
  const run = await runHere(['ledger', 'forget', rule.resource, '--reason', 'x', '--ledger', path]);
  expect(run).toMatchObject({ code: 4, out: '' });
  expect(run.err).toContain('portolan ledger resolve abc123 --applied|--not-applied --reason');
  await inLedger(path, async (ledger) => expect(await ledger.objects({})).toHaveLength(1));
});

test('a resource of two sources is not touched before one is named', async () => {
  const path = await ledgerWith(
    put({ ...port, origin: 'observed' }, { ...port, uid: `b:${shop}:Component:x`, source: 'b', origin: 'observed' }),
  );
  const retry = (...args: string[]) => runHere(['ledger', 'retry', 'Component/web', '--ledger', path, ...args]);
  expect(await retry()).toMatchObject({ code: 3, err: expect.stringContaining('b and default') });
  expect(await retry('--source', 'b')).toMatchObject({
    code: 0,
    out: expect.stringContaining(`b:${shop}:Component:x`),
  });
});

test.for([
  ['list'],
  ['show', 'x'],
  ['history'],
  ['resolve', 'x', '--applied', '--reason', 'y'],
  ['confirm', shop],
  ['retry', 'x'],
  ['forget', 'x', '--reason', 'y'],
  ['verify'],
  ['backup', 'there.db'],
  ['compact'],
  ['export'],
] as const)('ledger %j never makes a ledger where there is none', async (args) => {
  const path = join(temporaryFolder(), 'typo.db');
  const run = await runHere(['ledger', ...args, '--ledger', path]);
  expect(run).toMatchObject({ code: 3, out: '', err: expect.stringContaining(`no ledger at ${path}`) });
  expect(await runHere(['ledger', ...args, '--ledger', 'none'])).toMatchObject({ code: 3, out: '' });
  expect(await runHere(['ledger', 'list', '--ledger', path])).toMatchObject({ code: 3 });
});

test('beside a process that holds the ledger the readers work, and the writers end with 6', async () => {
  const path = await ledgerWith([...put(port), ...unknownRule]);
  const holder = await openSqliteLedger(path, { ...real, actor: 'portolan run on host-1' });
  try {
    for (const args of [['list'], ['show', port.uid], ['history'], ['verify'], ['export'], ['backup', `${path}.copy`]])
      expect(await runHere(['ledger', ...args, '--ledger', path])).toMatchObject({ code: 0, err: '' });
    for (const args of [
      ['resolve', 'abc123', '--applied', '--reason', 'y'],
      ['confirm', shop],
      ['retry', port.uid],
      ['forget', port.uid, '--reason', 'y'],
      ['compact'],
      ['restore', `${path}.copy`, '--yes'],
    ])
      expect(await runHere(['ledger', ...args, '--ledger', path])).toMatchObject({
        code: 6,
        out: '',
        err: expect.stringContaining('portolan run on host-1'),
      });
  } finally {
    await holder.close();
  }
});

test('verify tells a whole ledger from one whose history was changed', async () => {
  const path = await ledgerWith([record('first'), record('second')]);
  expect(await runProcess(['ledger', 'verify', '--ledger', path])).toEqual({
    code: 0,
    out: `${path} is intact, and its history is unchanged\n`,
    err: '',
  });
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(path);
  database.exec("UPDATE history SET actor = 'somebody else' WHERE line = 1");
  database.close();
  const text = await runProcess(['ledger', 'verify', '--ledger', path]);
  expect(text).toMatchObject({ code: 1, err: expect.stringContaining('portolan ledger restore BACKUP') });
  expect(text.out).toContain(`chain of ${shop}: line 1`);
  const json = await runHere(['ledger', 'verify', '--ledger', path, '-o', 'json']);
  expect(JSON.parse(json.out)).toMatchObject({ findings: [{ area: 'chain', scope: shop }] });
});

test('a backup is never written over something by mistake, and restoring it holds installs until confirmed', async () => {
  const path = await ledgerWith(put(port));
  const copy = `${path}.copy`;
  const backup = (...args: string[]) => runHere(['ledger', 'backup', ...args, '--ledger', path]);
  expect(await backup(path)).toMatchObject({ code: 3, err: expect.stringContaining('the ledger itself') });
  expect(await backup(path, '--overwrite')).toMatchObject({ code: 3 });
  expect(await backup(copy)).toMatchObject({ code: 0, out: expect.stringContaining(copy) });
  expect(await backup(copy)).toMatchObject({ code: 3, err: expect.stringContaining('--overwrite') });
  expect(await backup(copy, '--overwrite')).toMatchObject({ code: 0 });
  await runHere(['ledger', 'forget', port.uid, '--reason', 'x', '--ledger', path]);

  const restore = (...args: string[]) => runHere(['ledger', 'restore', copy, ...args, '--ledger', path]);
  expect(await restore()).toMatchObject({ code: 3, out: '', err: expect.stringContaining('--yes') });
  const restored = await restore('--yes');
  expect(restored).toMatchObject({ code: 0, err: '' });
  expect(restored.out).toContain(`portolan ledger confirm SCOPE --ledger ${path}`);
  expect(restored.out).toMatch(/the former ledger is kept as .*ledger\.db\.replaced-\d+/);
  await inLedger(path, async (ledger) => {
    expect(await ledger.objects({})).toEqual([port]);
    expect(await awaitsConfirmation(ledger, shop)).toBe(true);
  });
  expect(await runHere(['ledger', 'confirm', shop, '--ledger', path])).toMatchObject({ code: 0, err: '' });
  await inLedger(path, async (ledger) => expect(await awaitsConfirmation(ledger, shop)).toBe(false));
  expect(await runHere(['ledger', 'verify', '--ledger', path])).toMatchObject({ code: 0 });
});

test('a ledger is restored where there is none without a question, and a backup that is no ledger is refused', async () => {
  const path = await ledgerWith(put(port));
  const elsewhere = join(temporaryFolder(), 'new.db');
  const run = await runProcess(['ledger', 'restore', path, '--ledger', elsewhere]);
  expect(run).toMatchObject({ code: 0, err: '' });
  await inLedger(elsewhere, async (ledger) => expect(await ledger.objects({})).toEqual([port]));
  expect(await runHere(['ledger', 'restore', 'package.json', '--ledger', elsewhere, '--yes'])).toMatchObject({
    code: 1,
  });
  await inLedger(elsewhere, async (ledger) => expect(await ledger.objects({})).toEqual([port]));
});

test('compact removes what is old, and the history can still be verified', async () => {
  const path = await ledgerWith([...put(port), record('old'), record('older')]);
  expect(await runHere(['ledger', 'compact', '--ledger', path, '--keep', '1h'])).toEqual({
    code: 0,
    out: 'removed 2 lines of history, 0 resolved requests, 0 snapshots\n',
    err: '',
  });
  expect(await runHere(['ledger', 'verify', '--ledger', path])).toMatchObject({ code: 0 });
  const json = await runHere(['ledger', 'compact', '--ledger', path, '-o', 'json']);
  expect(JSON.parse(json.out)).toMatchObject({ removed: { history: 0, intents: 0, snapshots: 0 } });
});

test('export writes every row as a line, to standard output or to a file of its own', async () => {
  const path = await ledgerWith([...put(port), ...unknownRule, record('seen')]);
  const run = await runProcess(['ledger', 'export', '--ledger', path]);
  const lines = run.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  expect(lines.map(({ type }) => type)).toEqual(['ledger', 'snapshot', 'object', 'intent', 'history']);
  const file = `${path}.ndjson`;
  expect(await runHere(['ledger', 'export', file, '--ledger', path])).toEqual({
    code: 0,
    out: '',
    err: `5 lines in ${file}\n`,
  });
  const { readFileSync, statSync } = await import('node:fs');
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([run.out, 0o600]);
  expect(await runHere(['ledger', 'export', file, '--ledger', path])).toMatchObject({ code: 3 });
});

test('adopt says that a rule on record is ours, and which one; nothing else can be adopted by hand', async () => {
  const seen = object({ origin: 'observed', state: 'hold', remoteId: null, failures: 1 });
  const path = await ledgerWith(put(seen, port));
  const command = ['ledger', 'adopt', seen.resource, '--ledger', path, '--reason', 'seen in the console'];

  const wrong = await runHere([...command, '--id', '../x']);
  expect(wrong.code).toBe(3);
  expect(wrong.err).toContain('is not an id of the platform');
  const portRun = await runHere(['ledger', 'adopt', port.resource, '--ledger', path, '--reason', 'because']);
  expect(portRun.code).toBe(3);
  expect(portRun.err).toContain('Ports need no adoption');

  const run = await runHere([...command, '--id', 'rule-7']);
  expect(run.code).toBe(0);
  expect(run.out).toContain('id rule-7');
  const [adopted] = await inLedger(path, (ledger) => ledger.objects({ uid: seen.uid }));
  expect(adopted).toMatchObject({ origin: 'adopted', state: 'present', remoteId: 'rule-7', failures: 0 });
  const [line] = await inLedger(path, (ledger) => ledger.history({ uid: seen.uid, limit: 1 }));
  expect(line).toMatchObject({ event: 'adopted', detail: { reason: 'seen in the console', remoteId: 'rule-7' } });
  expect((await runHere([...command, '--id', 'rule-7'])).err).toContain('is ours already as rule-7');
});
