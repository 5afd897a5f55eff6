import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Account, accountFact, type AccountState } from '../../src/controller/account.ts';
import { inputOutput } from '../../src/ledger/errors.ts';
import type { Ledger, LedgerTransaction } from '../../src/ledger/ledger.ts';
import type { SourceLedger } from '../../src/ledger/source-ledger.ts';
import { canonicalJson } from '../../src/model/json.ts';
import type { Action } from '../../src/model/plan.ts';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const SCOPE = { platform: 'default', team: 't', region: 'r', appId: 1 };
const LIMITS = { maxShare: 0.3, shareFrom: 10, maxPrunes: 2, allowedScopes: [] };
const NOTHING = new Set<string>();

function action(object: string, facts: Partial<Action> = {}): Action {
  return {
    id: `${object}#x`,
    resource: 'Component/web',
    verb: 'update',
    step: { type: 'x' },
    object,
    summary: '',
    changes: [],
    effects: [],
    cause: 'git',
    after: [],
    prune: false,
    ...facts,
  };
}

const prune = (object: string, facts: Partial<Action> = {}): Action =>
  action(object, { prune: true, verb: 'delete', cause: 'prune', ...facts });

/** A ledger with an account, and how often it was written. */
async function opened(state: AccountState) {
  const store = new MemoryStore('lineage');
  const ledger = openMemoryLedger(store);
  const writes = { count: 0 };
  const counted: Ledger = new Proxy(ledger, {
    get(target, name) {
      if (name === 'commit') writes.count += 1;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const sourceLedger = { ledger: counted, clock: new VirtualClock(), source: 'default', actor: 'test' };
  await storeAccount(ledger, state);
  return {
    sourceLedger,
    writes,
    stored: () => JSON.parse(store.facts.get(accountFact('default')) ?? '') as AccountState,
  };
}

async function storeAccount(ledger: Ledger, state: AccountState): Promise<void> {
  const operations = [{ op: 'set-fact', key: accountFact('default'), value: canonicalJson(state) }] as const;
  await ledger.commit({ scope: 'source:default', actor: 'test', atMs: 1, operations });
}

const empty = (owned: number): AccountState => ({ snapshot: 's', owned, changed: 0, removed: 0 });

/** Counts what these actions take, and stores it. @returns undefined if they do not fit. */
async function take(account: Account, ledger: SourceLedger, appId: number, ...actions: Action[]) {
  const reserved = account.reserve({ scope: { ...SCOPE, appId }, actions }, LIMITS);
  if (!('confirm' in reserved)) return undefined;
  return (await reserved.save(ledger)).length > 0 ? undefined : reserved;
}

test('an allowance is used up by what was sent, once for each object, and by nothing else', async () => {
  const { sourceLedger, stored, writes } = await opened(empty(10));
  const account = new Account(empty(10));
  const first = await take(account, sourceLedger, 1, action('1'), action('2'));
  expect(stored()).toMatchObject({ changed: 2 });
  await first?.confirm(new Set(['1#x']), sourceLedger);
  expect(stored()).toMatchObject({ changed: 1, removed: 0 });
  const { count } = writes;
  // The same object again, drift and creations use up nothing, and are not written.
  for (const again of [action('1'), action('7', { cause: 'drift' }), action('8', { verb: 'create' })]) {
    const result = await take(account, sourceLedger, 1, again);
    await result?.confirm(new Set([again.id]), sourceLedger);
    expect(result).toBeDefined();
  }
  expect(stored()).toEqual(account.state);
  expect(account.state).toMatchObject({ changed: 1 });
  expect(writes.count).toBe(count);
  // Another scope's object of the same name is another one.
  expect(await take(account, sourceLedger, 2, action('1'), action('2'))).toBeDefined();
  expect(await take(account, sourceLedger, 2, action('3'))).toBeUndefined();
});

test('what an action takes along counts as well, and a former process counts too', async () => {
  const spent = { snapshot: 's', owned: 100, changed: 0, removed: 1 };
  const { sourceLedger } = await opened(spent);
  const account = new Account(spent);
  const result = account.reserve({ scope: SCOPE, actions: [prune('1', { takesAlong: ['2'] })] }, LIMITS);
  expect(Array.isArray(result) ? result.map(({ code }) => code) : []).toEqual(['guard/prunes']);
  expect(await take(account, sourceLedger, 1, prune('1'))).toBeDefined();
});

test('what is abandoned before it was stored takes nothing', async () => {
  const { sourceLedger, writes } = await opened(empty(10));
  const account = new Account(empty(10));
  const reserved = account.reserve({ scope: SCOPE, actions: [prune('1'), prune('2')] }, LIMITS);
  if (!('confirm' in reserved)) throw new Error('it fits');
  reserved.abandon();
  await reserved.confirm(NOTHING, sourceLedger);
  expect(account.state).toEqual(empty(10));
  expect(writes.count).toBe(0);
});

test('an account of an older revision takes nothing after a newer one was accepted', async () => {
  const { sourceLedger, stored } = await opened(empty(10));
  const account = new Account(empty(10));
  const sent = await take(account, sourceLedger, 1, action('1'));
  const newer = { ...empty(10), snapshot: 'newer' };
  await storeAccount(sourceLedger.ledger, newer);
  await expect(take(account, sourceLedger, 1, action('2'))).rejects.toMatchObject({ code: 'source/newer' });
  await sent?.confirm(NOTHING, sourceLedger);
  expect(stored()).toEqual(newer);
});

test('what others have spent counts also if it was read after the actions were counted', async () => {
  const { sourceLedger, stored } = await opened(empty(20));
  const [one, other] = [new Account(stored()), new Account(stored())];
  expect(await take(other, sourceLedger, 1, prune('1'))).toBeDefined();
  const counted = one.reserve({ scope: { ...SCOPE, appId: 2 }, actions: [prune('2'), prune('3')] }, LIMITS);
  // Another application of the same process does not fit, and looks for what was given back.
  expect(one.reserve({ scope: { ...SCOPE, appId: 3 }, actions: [prune('4')] }, LIMITS)).not.toHaveProperty('confirm');
  await one.refresh(sourceLedger);
  if (!('save' in counted)) throw new Error('it fitted by what this process knew');
  const refusals = await counted.save(sourceLedger);
  expect(refusals.map(({ code }) => code)).toEqual(['guard/prunes']);
  expect(stored()).toMatchObject({ changed: 1, removed: 1 });
});

test('several leaders together never exceed an allowance, and a takeover never refills it', async () => {
  const step = fc.record({
    leader: fc.nat(2),
    application: fc.nat(1),
    objects: fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 3 }),
    sends: fc.nat(3),
    isPrune: fc.boolean(),
    /** Another process takes the leader's platform over before. */
    isTaken: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 12 }), async (scheduler, steps) => {
      const { sourceLedger, stored } = await opened(empty(20));
      const slow = (ledger: Ledger): Ledger => ({
        ...ledger,
        fact: (key) => scheduler.schedule(Promise.resolve(), 'read').then(() => ledger.fact(key)),
        commit: (transaction) => scheduler.schedule(Promise.resolve(), 'write').then(() => ledger.commit(transaction)),
      });
      const shared: SourceLedger = { ...sourceLedger, ledger: slow(sourceLedger.ledger) };
      const accounts = new Map<number, Account>();
      /** Objects for which a request left, with the process that sent it. */
      const sent: string[] = [];
      const removed: string[] = [];
      const turns = new Map<string, Promise<void>>();
      for (const [at, { leader, application, objects, sends, isPrune, isTaken }] of steps.entries()) {
        const owner = `${leader} ${application}`;
        const work = async (): Promise<void> => {
          if (isTaken) accounts.delete(leader);
          const account = accounts.get(leader) ?? new Account(stored());
          accounts.set(leader, account);
          const actions = objects.map((object) => (isPrune ? prune(`${object}`) : action(`${object}`)));
          const plan = { scope: { ...SCOPE, appId: 2 * leader + application }, actions };
          let reserved = account.reserve(plan, LIMITS);
          if (!('confirm' in reserved)) {
            await account.refresh(shared);
            reserved = account.reserve(plan, LIMITS);
          }
          if (!('confirm' in reserved)) return;
          await scheduler.schedule(Promise.resolve(), `other guards ${at}`);
          if ((await reserved.save(shared)).length > 0) return reserved.abandon();
          const leaving = actions.slice(0, sends);
          for (const { object } of leaving) {
            const name = `${owner} ${object}`;
            if (!sent.includes(name)) sent.push(name);
            if (isPrune && !removed.includes(name)) removed.push(name);
          }
          await scheduler.schedule(Promise.resolve(), `request ${at}`);
          await reserved.confirm(new Set(leaving.map(({ id }) => id)), shared);
        };
        turns.set(owner, (turns.get(owner) ?? Promise.resolve()).then(work));
      }
      await scheduler.waitFor(Promise.all(turns.values()));
      expect(sent.length).toBeLessThanOrEqual(0.3 * 20);
      expect(removed.length).toBeLessThanOrEqual(LIMITS.maxPrunes);
      const { changed, removed: counted } = stored();
      expect(changed).toBeGreaterThanOrEqual(sent.length);
      expect(counted).toBeGreaterThanOrEqual(removed.length);
      // Without a takeover nothing counts twice, and nothing that was not sent counts.
      if (steps.every(({ isTaken }) => !isTaken)) expect([changed, counted]).toEqual([sent.length, removed.length]);
    }),
    { numRuns: 300 },
  );
});

test('what was given back without an answer permits no more than the limit', async () => {
  for (const isRecorded of [true, false]) {
    const { sourceLedger, stored } = await opened(empty(100));
    const account = new Account(empty(100));
    const reserved = await take(account, sourceLedger, 1, prune('1'), prune('2'));
    const { ledger } = sourceLedger;
    const unanswered = {
      ...sourceLedger,
      ledger: {
        ...ledger,
        commit: async (transaction: LedgerTransaction) => {
          if (isRecorded) await ledger.commit(transaction);
          throw inputOutput('ledger', undefined);
        },
      },
    };
    await expect(reserved?.confirm(NOTHING, unanswered)).rejects.toMatchObject({ code: 'ledger/io' });
    await account.refresh(sourceLedger);
    let permitted = 0;
    for (const appId of [2, 3, 4]) if (await take(account, sourceLedger, appId, prune(`${appId}`))) permitted += 1;
    // Where it was not recorded, nobody gives it back any more.
    expect(permitted).toBe(isRecorded ? 2 : 0);
    expect(stored().removed).toBe(2);
    expect(account.state).toEqual(stored());
  }
});
