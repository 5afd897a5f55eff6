import { describe, expect, test } from 'vitest';
import { type LedgerOperation, noLedger } from '../../src/ledger/ledger.ts';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import { blog, codeOf, intent, ledgerKinds, object, record, shop, snapshot, transaction, viewOf } from './fixtures.ts';

const open = (values: Parameters<typeof intent>[0] = {}): LedgerOperation => ({
  op: 'open-intent',
  intent: intent(values),
});
const move = (id: string, state: 'unknown' | 'applied' | 'rejected' | 'superseded'): LedgerOperation => ({
  op: 'move-intent',
  id,
  state,
});
const put = (values: Parameters<typeof object>[0] = {}): LedgerOperation => ({
  op: 'put-object',
  object: object(values),
});

const fact = (key: string, value: string, was?: string | null): LedgerOperation => ({
  op: 'set-fact',
  key,
  value,
  was,
});

describe.for(ledgerKinds)('a ledger in $name', ({ create, reopens }) => {
  test('gives back what was committed', async () => {
    using under = create();
    const ledger = await under.open();
    const rows = [
      object(),
      object({ naturalKey: 'b', remoteId: null, obligation: { outer: true }, origin: 'adopted' }),
    ];
    await ledger.commit(
      transaction([
        { op: 'accept-snapshot', snapshot: snapshot() },
        ...rows.map((row): LedgerOperation => ({ op: 'put-object', object: row })),
        open(),
        { op: 'set-fact', key: 'one', value: '1' },
        record('rule.create', rows[0]?.uid),
      ]),
    );
    expect(await ledger.objects({})).toEqual(rows.toSorted((a, b) => (a.uid < b.uid ? -1 : 1)));
    expect(await ledger.intents({})).toEqual([intent()]);
    expect(await ledger.lastSnapshot('default')).toEqual(snapshot());
    expect(await ledger.lastSnapshot('other')).toBeUndefined();
    expect(await ledger.fact('one')).toBe('1');
    expect(await ledger.fact('two')).toBeUndefined();
    expect(await ledger.history({ limit: 10 })).toMatchObject([
      { serial: 1, scope: shop, atMs: 1_000, actor: 'test', event: 'rule.create', uid: rows[0]?.uid },
    ]);
    expect(ledger.epoch).toBe(1);
    await ledger.close();
  });

  test('filters objects, intents and history', async () => {
    using under = create();
    const ledger = await under.open();
    await ledger.commit(transaction([put(), put({ naturalKey: 'b', source: 'other' }), open(), record('first')]));
    await ledger.commit(
      transaction([put({ scope: blog }), open({ id: 'i2', uid: 'u2', scope: blog }), record('second', 'u2')], blog),
    );
    await ledger.commit(transaction([move('intent-1', 'unknown'), record('third', 'u3'), record('fourth', 'u3')]));
    const uids = async (filter: Parameters<typeof ledger.objects>[0]) => (await ledger.objects(filter)).length;
    expect([await uids({ scope: shop }), await uids({ source: 'other' }), await uids({ uid: object().uid })]).toEqual([
      2, 1, 1,
    ]);
    expect(await uids({ scope: blog, source: 'other' })).toBe(0);
    await ledger.commit(transaction([put({ naturalKey: 'c', state: 'gone' })]));
    const counts = [{}, { source: 'default' }, { source: 'other' }, { source: 'third' }];
    expect(await Promise.all(counts.map((filter) => ledger.objectCount(filter)))).toEqual([3, 2, 1, 0]);
    await ledger.commit(transaction([put({ scope: blog, source: 'third', state: 'gone' })], blog));
    const owned = async (source: string) => (await ledger.ownedScopes(source)).toSorted();
    expect([await owned('default'), await owned('other'), await owned('third')]).toEqual([[shop, blog], [shop], []]);
    const ids = async (filter: Parameters<typeof ledger.intents>[0]) =>
      (await ledger.intents(filter)).map(({ id }) => id);
    expect(await ids({})).toEqual(['intent-1', 'i2']);
    expect(await ids({ states: ['unknown'] })).toEqual(['intent-1']);
    expect(await ids({ states: [] })).toEqual([]);
    expect(await ids({ scope: blog, states: ['open', 'unknown'] })).toEqual(['i2']);
    expect(await ids({ id: 'i2' })).toEqual(['i2']);
    const events = async (filter: Parameters<typeof ledger.history>[0]) =>
      (await ledger.history(filter)).map(({ event }) => event);
    expect(await events({ limit: 3 })).toEqual(['fourth', 'third', 'second']);
    expect(await events({ scope: shop, limit: 10 })).toEqual(['fourth', 'third', 'first']);
    expect(await events({ uid: 'u3', limit: 1 })).toEqual(['fourth']);
    expect(await events({ limit: Number.POSITIVE_INFINITY })).toHaveLength(4);
    expect(await ledger.scopes()).toEqual([shop, blog]);
    await ledger.close();
  });

  test('chains the history of each scope for itself', async () => {
    using under = create();
    const ledger = await under.open();
    for (const scope of [shop, blog, shop]) await ledger.commit(transaction([record('a'), record('b')], scope));
    for (const [scope, lines] of [
      [shop, 4],
      [blog, 2],
    ] as const) {
      const rows = (await ledger.history({ scope, limit: 10 })).toReversed();
      expect(rows).toHaveLength(lines);
      expect(rows[0]?.previousHash).toBe('0'.repeat(64));
      expect(rows.slice(1).map(({ previousHash }) => previousHash)).toEqual(rows.slice(0, -1).map(({ hash }) => hash));
    }
    expect((await ledger.history({ limit: 10 })).map(({ serial }) => serial)).toEqual([3, 3, 2, 2, 1, 1]);
    await ledger.close();
  });

  test.for<{ name: string; before: LedgerOperation[]; refused: LedgerOperation[]; code: string; message?: RegExp }>([
    {
      name: 'a second intent for an object whose first is open',
      before: [open()],
      refused: [open({ id: 'i2' })],
      code: 'ledger/conflict',
    },
    {
      name: 'a second intent for an object whose first is unknown',
      before: [open(), move('intent-1', 'unknown')],
      refused: [open({ id: 'i2' })],
      code: 'ledger/conflict',
    },
    {
      name: 'a second install in a scope',
      before: [open({ operation: 'install' })],
      refused: [open({ id: 'i2', uid: 'u2', operation: 'install' })],
      code: 'ledger/conflict',
    },
    {
      name: 'an upgrade beside an install',
      before: [open({ operation: 'install' })],
      refused: [open({ id: 'i2', uid: 'u2', operation: 'upgrade' })],
      code: 'ledger/conflict',
    },
    {
      name: 'an id that was used before',
      before: [open(), move('intent-1', 'applied')],
      refused: [open({ uid: 'u2' })],
      code: 'ledger/conflict',
    },
    {
      name: 'to move what is applied',
      before: [open(), move('intent-1', 'applied')],
      refused: [move('intent-1', 'rejected')],
      code: 'ledger/conflict',
    },
    { name: 'to move what does not exist', before: [], refused: [move('nobody', 'applied')], code: 'ledger/conflict' },
    {
      name: 'a second owner of one natural key',
      before: [put()],
      refused: [put({ source: 'other' })],
      code: 'ledger/conflict',
    },
    {
      name: 'a fact that must be absent and is there',
      before: [fact('two', '1')],
      refused: [fact('two', '2', null)],
      code: 'ledger/conflict',
    },
    {
      name: 'a fact that another transaction changed',
      before: [fact('two', '2')],
      refused: [fact('two', '3', '1')],
      code: 'ledger/conflict',
    },
    {
      name: 'a fact that must be there and is absent',
      before: [],
      refused: [fact('two', '2', '')],
      code: 'ledger/conflict',
    },
    {
      name: 'what is right only for a former snapshot',
      before: [{ op: 'accept-snapshot', snapshot: snapshot({ source: 'shop' }) }],
      refused: [{ op: 'expect-snapshot', source: 'shop', id: 'former' }],
      code: 'ledger/conflict',
    },
    {
      name: 'what is right only for a snapshot that was never accepted',
      before: [],
      refused: [{ op: 'expect-snapshot', source: 'shop', id: snapshot().id }],
      code: 'ledger/conflict',
    },
    { name: 'an intent of another epoch', before: [], refused: [open({ epoch: 7 })], code: 'ledger/fenced' },
    { name: 'an intent that is not open', before: [], refused: [open({ state: 'applied' })], code: 'RangeError' },
    { name: 'an object of another scope', before: [], refused: [put({ scope: blog })], code: 'RangeError' },
    { name: 'a fractional time', before: [], refused: [open({ settleMs: 0.5 })], code: 'RangeError' },
    {
      name: 'to resolve in nobody’s name',
      before: [open()],
      refused: [{ op: 'move-intent', id: 'intent-1', state: 'resolved' }],
      code: 'RangeError',
    },
  ])('refuses $name, and with it the whole transaction', async ({ before, refused, code }) => {
    using under = create();
    const ledger = await under.open();
    await ledger.commit(transaction([...before, record('before')]));
    const untouched = await viewOf(ledger);
    const first: LedgerOperation[] = [
      put({ naturalKey: 'new' }),
      { op: 'set-fact', key: 'one', value: 'x' },
      { op: 'accept-snapshot', snapshot: snapshot() },
      { op: 'drop-object', uid: object().uid },
      put(),
      open({ id: 'other', uid: 'other' }),
      record('never'),
    ];
    expect(await codeOf(ledger.commit(transaction([...first, ...refused, record('never either')])))).toBe(code);
    expect(await viewOf(ledger)).toEqual(untouched);
    await ledger.commit(transaction([record('after')]));
    expect((await ledger.history({ limit: 1 }))[0]).toMatchObject({ serial: 2, event: 'after' });
    await ledger.close();
  });

  test.for<{ name: string; steps: LedgerOperation[][] }>([
    {
      name: 'another intent once the first has its outcome',
      steps: [[open()], [move('intent-1', 'rejected'), open({ id: 'i2' })]],
    },
    {
      name: 'unknown to stay unknown with a later settle time',
      steps: [
        [open()],
        [move('intent-1', 'unknown')],
        [{ op: 'move-intent', id: 'intent-1', state: 'unknown', settleMs: 9 }],
      ],
    },
    {
      name: 'other writes beside an install',
      steps: [[open({ operation: 'install' })], [open({ id: 'i2', uid: 'u2' })]],
    },
    {
      name: 'a snapshot that was accepted before to be the last again',
      steps: [
        [{ op: 'accept-snapshot', snapshot: snapshot() }],
        [{ op: 'accept-snapshot', snapshot: snapshot({ id: 'b', acceptedMs: 1 }) }],
        [{ op: 'accept-snapshot', snapshot: snapshot({ acceptedMs: 5 }) }],
      ],
    },
    {
      name: 'two sources to observe one object that neither owns',
      steps: [[put({ origin: 'observed' })], [put({ origin: 'observed', source: 'other' })]],
    },
    {
      name: 'an object to pass from a source that lost it',
      steps: [[put()], [put({ state: 'gone' }), put({ source: 'other' })]],
    },
    {
      name: 'a fact to be added once and changed from what it was',
      steps: [[fact('one', '1', null), fact('one', '', '1')], [fact('one', '2', '')], [fact('one', '3')]],
    },
    {
      name: 'what is right for the last snapshot',
      steps: [
        [{ op: 'accept-snapshot', snapshot: snapshot() }],
        [{ op: 'accept-snapshot', snapshot: snapshot({ id: 'b' }) }],
        [{ op: 'expect-snapshot', source: snapshot().source, id: 'b' }, fact('one', '1', null)],
      ],
    },
    { name: 'to drop what is not there', steps: [[{ op: 'drop-object', uid: 'nobody' }]] },
    { name: 'a transaction of nothing', steps: [[]] },
  ])('allows $name', async ({ steps }) => {
    using under = create();
    const ledger = await under.open();
    const twin = openMemoryLedger(new MemoryStore('twin'));
    for (const operations of steps) {
      await ledger.commit(transaction(operations));
      await twin.commit(transaction(operations));
    }
    expect(await viewOf(ledger)).toEqual(await viewOf(twin));
    await ledger.close();
  });

  test('moves an intent and keeps what the move does not say', async () => {
    using under = create();
    const ledger = await under.open();
    await ledger.commit(transaction([open()]));
    await ledger.commit(
      transaction([{ op: 'move-intent', id: 'intent-1', state: 'unknown', settleMs: 99, outcome: { status: 502 } }]),
    );
    await ledger.commit(transaction([move('intent-1', 'unknown')]));
    expect(await ledger.intents({})).toEqual([intent({ state: 'unknown', settleMs: 99, outcome: { status: 502 } })]);
    await ledger.commit(
      transaction([{ op: 'move-intent', id: 'intent-1', state: 'resolved', resolvedBy: 'ann: seen it' }]),
    );
    expect(await ledger.intents({})).toEqual([
      intent({ state: 'resolved', settleMs: 99, outcome: { status: 502 }, resolvedBy: 'ann: seen it' }),
    ]);
    await ledger.close();
  });

  test('replaces and drops objects', async () => {
    using under = create();
    const ledger = await under.open();
    await ledger.commit(transaction([put()]));
    await ledger.commit(transaction([put({ remoteId: 'rule-2', failures: 3, state: 'hold' })]));
    expect(await ledger.objects({})).toEqual([object({ remoteId: 'rule-2', failures: 3, state: 'hold' })]);
    await ledger.commit(transaction([{ op: 'drop-object', uid: object().uid }], blog));
    expect(await ledger.objects({})).toHaveLength(1);
    await ledger.commit(transaction([{ op: 'drop-object', uid: object().uid }]));
    expect(await ledger.objects({})).toEqual([]);
    await ledger.close();
  });

  test('commits of several scopes at once, each whole', async () => {
    using under = create();
    const ledger = await under.open();
    const scopes = Array.from({ length: 20 }, (_, n) => `default/team-a/region-1/${n + 100}`);
    await Promise.all(
      scopes.map((scope) =>
        ledger.commit(
          transaction([put({ scope }), open({ id: scope, uid: scope, scope }), record('a'), record('b')], scope),
        ),
      ),
    );
    expect((await ledger.objects({})).length).toBe(20);
    const rows = await ledger.history({ limit: 100 });
    expect(rows.map(({ serial }) => serial)).toEqual(Array.from({ length: 40 }, (_, n) => 20 - Math.floor(n / 2)));
    await ledger.close();
  });

  test('refuses commits once closed', async () => {
    using under = create();
    const ledger = await under.open();
    await ledger.close();
    await ledger.close();
    expect(await codeOf(ledger.commit(transaction([record('late')])))).toBe('ledger/fenced');
  });

  test.runIf(reopens)('keeps everything for the next process, at a higher epoch', async () => {
    using under = create();
    const first = await under.open();
    await first.commit(transaction([{ op: 'accept-snapshot', snapshot: snapshot() }, put(), open(), record('a')]));
    const before = await viewOf(first);
    await first.close();
    const second = await under.open();
    expect(await viewOf(second)).toEqual(before);
    expect([second.lineage, second.epoch]).toEqual([first.lineage, 2]);
    expect(await codeOf(second.commit(transaction([open({ id: 'i2', epoch: 2 })])))).toBe('ledger/conflict');
    await second.commit(transaction([move('intent-1', 'applied'), record('b')]));
    expect((await second.history({ limit: 2 })).map(({ serial }) => serial)).toEqual([2, 1]);
    await second.close();
  });
});

test('a memory ledger that was not closed is fenced by the next one', async () => {
  const store = new MemoryStore('lineage');
  const crashed = openMemoryLedger(store);
  await crashed.commit(transaction([open()]));
  const next = openMemoryLedger(store);
  expect(await codeOf(crashed.commit(transaction([move('intent-1', 'applied')])))).toBe('ledger/fenced');
  expect(await next.intents({ states: ['open'] })).toHaveLength(1);
});

test('a clone of a memory store goes its own way', async () => {
  const store = new MemoryStore('lineage');
  await openMemoryLedger(store).commit(transaction([put(), open(), record('both')]));
  const clone = store.clone();
  const before = await viewOf(openMemoryLedger(store, { readOnly: true }));
  expect(await codeOf(openMemoryLedger(store.clone()).commit(transaction([open({ id: 'i2', epoch: 2 })])))).toBe(
    'ledger/conflict',
  );
  await openMemoryLedger(clone).commit(
    transaction([move('intent-1', 'applied'), { op: 'drop-object', uid: object().uid }, record('clone only')]),
  );
  expect(await viewOf(openMemoryLedger(store, { readOnly: true }))).toEqual(before);
  expect(await viewOf(openMemoryLedger(clone, { readOnly: true }))).not.toEqual(before);
});

test('no ledger remembers nothing and takes nothing', async () => {
  expect(await viewOf(noLedger)).toEqual(await viewOf(openMemoryLedger(new MemoryStore('empty'))));
  expect(await codeOf(noLedger.commit(transaction([record('lost')])))).toBe('ledger/read-only');
});
