import { expect, test } from 'vitest';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { type Ledger, noLedger } from '../../src/ledger/ledger.ts';
import { PortolanError } from '../../src/model/errors.ts';
import type { CommitPlace } from '../../src/source/contents.ts';
import { type Attempt, loadingOf, Unreadable } from '../../src/source/unreadable.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const { limits } = defaultSettings().source;
const FACT = 'unreadable default';

/** Processes that share a ledger, in turn or at once. */
class Processes {
  readonly store = new MemoryStore('unreadable');
  readonly #clock = new VirtualClock();

  /** Starts a process. Its `lead` says whether it leads the source, which alone may write. */
  start(lead: { isHeld: boolean } = { isHeld: true }): Unreadable {
    const ledger: Ledger = { ...noLedger, fact: async (key) => this.store.facts.get(key) };
    const writable = () => (lead.isHeld ? openMemoryLedger(this.store) : undefined);
    return new Unreadable({ ledger, writable, clock: this.#clock, source: 'default', actor: 'test', version: '1.0.0' });
  }

  get fact(): unknown {
    const text = this.store.facts.get(FACT);
    return text === undefined ? undefined : JSON.parse(text);
  }
}

/** A commit in the clone of one replica. */
function placeOf(commit: string, root = '/a'): CommitPlace {
  return { root, identity: `${root}:1`, commit, paths: [{ named: `${root}/m`, within: 'm' }], exclude: [] };
}

function attemptOf(commit: string, root?: string): Attempt {
  return new Processes().start().attempt(placeOf(commit, root), `main@sha1:${commit}`, limits);
}

const tooSlow = new PortolanError({ code: 'source/too-slow', disposition: 'invalid', message: 'm', remedy: 'r' });

async function checked(unreadable: Unreadable, attempt: Attempt): Promise<string> {
  try {
    await unreadable.check(attempt);
    return 'may be tried';
  } catch (error) {
    return (error as PortolanError).code;
  }
}

test('a commit during which the process ended twice is not tried again', async () => {
  const processes = new Processes();
  const [attempt, other] = [attemptOf('a'), attemptOf('b')];
  for (const _ of [1, 2]) {
    const unreadable = processes.start();
    expect(await checked(unreadable, attempt)).toBe('may be tried');
    expect(await unreadable.begin(attempt)).toBe(true);
    expect(await checked(unreadable, attempt), 'in the same process').toBe('may be tried');
  }
  expect(await checked(processes.start(), attempt)).toBe('source/process-ended');
  expect(await checked(processes.start(), attempt), 'remembered').toBe('source/process-ended');
  expect(await checked(processes.start(), other)).toBe('may be tried');
  expect(await processes.start().forget()).toBe(true);
  expect(await checked(processes.start(), attempt)).toBe('may be tried');
});

test('leaders that end in turn on a commit count together, each with its own clone', async () => {
  const processes = new Processes();
  await processes.start().begin(attemptOf('a', '/replica-1'));
  const second = processes.start();
  expect(await checked(second, attemptOf('a', '/replica-2'))).toBe('may be tried');
  await second.begin(attemptOf('a', '/replica-2'));
  expect(await checked(processes.start(), attemptOf('a', '/replica-1'))).toBe('source/process-ended');
});

test('the attempt of another commit, or with other limits, resets no count', async () => {
  const processes = new Processes();
  const attempt = attemptOf('a');
  const otherLimits = processes.start().attempt(placeOf('a'), 'main@sha1:a', { ...limits, heapMib: 1 });
  for (const other of [attemptOf('b'), otherLimits]) {
    await processes.start().begin(attempt);
    const between = processes.start();
    await between.begin(other);
    await between.end(other);
  }
  expect(await checked(processes.start(), otherLimits)).toBe('may be tried');
  expect(await checked(processes.start(), attempt)).toBe('source/process-ended');
});

test('a commit is known by its content: its id, and the paths in it', () => {
  const { key } = attemptOf('a');
  expect(attemptOf('a', '/another-clone').key).toBe(key);
  const unreadable = new Processes().start();
  const keyOf = (place: CommitPlace): string => unreadable.attempt(place, 'main@sha1:a', limits).key;
  const place = placeOf('a');
  expect(keyOf({ ...place, paths: [{ named: '/a/n', within: 'n' }] })).not.toBe(key);
  expect(keyOf({ ...place, exclude: ['m/portolan.yaml'] })).not.toBe(key);
  expect(keyOf(placeOf('b'))).not.toBe(key);
});

test('plain files are known by their place and times', () => {
  const unreadable = new Processes().start();
  const keyOf = (path: string, stats: string): string =>
    unreadable.attempt({ paths: [path], exclude: [], stableMs: 50 }, `files@stats:${stats}`, limits).key;
  expect(keyOf('/a', '1')).toBe(keyOf('/a', '1'));
  expect(new Set([keyOf('/a', '1'), keyOf('/a', '2'), keyOf('/b', '1')]).size).toBe(3);
});

test('an attempt that ended counts for nothing', async () => {
  const processes = new Processes();
  const attempt = attemptOf('a');
  for (const _ of [1, 2, 3]) {
    const unreadable = processes.start();
    await unreadable.begin(attempt);
    await unreadable.end(attempt);
  }
  expect(await checked(processes.start(), attempt)).toBe('may be tried');
  expect(await processes.start().forget()).toBe(false);
  expect(processes.fact).toEqual({ failed: [], attempts: [] });
});

test('a commit that is read, and ends the process when it is parsed, is not tried a third time', async () => {
  const processes = new Processes();
  const attempt = attemptOf('a');
  for (const _ of [1, 2]) {
    const unreadable = processes.start();
    expect(await checked(unreadable, attempt)).toBe('may be tried');
    await unreadable.begin(attempt);
    await unreadable.end(attempt);
    await unreadable.begin(loadingOf(attempt));
  }
  expect(await checked(processes.start(), attempt)).toBe('source/process-ended');
});

test('so many failed commits are remembered, the newest of them', async () => {
  const unreadable = new Processes().start();
  const attempts = Array.from({ length: 20 }, (_, at) => attemptOf(`${at}`));
  for (const attempt of attempts) await unreadable.remember(attempt, tooSlow);
  const said = await Promise.all(attempts.map((attempt) => checked(unreadable, attempt)));
  expect(said.filter((code) => code === 'source/too-slow')).toHaveLength(16);
  expect(said.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => 'may be tried'));
});

test('so many attempts are counted, the newest of them', async () => {
  const processes = new Processes();
  for (let at = 0; at < 20; at += 1) await processes.start().begin(attemptOf(`${at}`));
  expect(processes.fact).toMatchObject({ attempts: { length: 16 } });
  await processes.start().begin(attemptOf('19'));
  expect(await checked(processes.start(), attemptOf('19'))).toBe('source/process-ended');
});

test('a replica that does not lead remembers failures by itself, and writes nothing', async () => {
  const processes = new Processes();
  const attempt = attemptOf('a');
  const follower = processes.start({ isHeld: false });
  expect(await follower.begin(attempt)).toBe(false);
  await follower.remember(attempt, tooSlow);
  await follower.end(attempt);
  expect(await checked(follower, attempt)).toBe('source/too-slow');
  expect(processes.fact).toBeUndefined();
  expect(await checked(processes.start({ isHeld: false }), attempt), 'after a restart').toBe('may be tried');
  expect(await follower.forget()).toBe(true);
  expect(await checked(follower, attempt)).toBe('may be tried');
});

test('a replica that does not lead remembers only the newest failures', async () => {
  const follower = new Processes().start({ isHeld: false });
  for (let at = 0; at < 20; at += 1) await follower.remember(attemptOf(`${at}`), tooSlow);
  expect(await checked(follower, attemptOf('3'))).toBe('may be tried');
  expect(await checked(follower, attemptOf('4'))).toBe('source/too-slow');
});

test('a replica that begins to lead tries once what failed before, and then records it for all', async () => {
  const processes = new Processes();
  const attempt = attemptOf('a', '/replica-1');
  const lead = { isHeld: false };
  const replica = processes.start(lead);
  await replica.remember(attempt, tooSlow);
  lead.isHeld = true;
  expect(await checked(replica, attempt)).toBe('may be tried');
  await replica.remember(attempt, tooSlow);
  expect(await checked(replica, attempt)).toBe('source/too-slow');
  lead.isHeld = false;
  expect(await checked(replica, attempt), 'it leads no more').toBe('source/too-slow');
  expect(await checked(processes.start({ isHeld: false }), attemptOf('a', '/replica-2'))).toBe('source/too-slow');
});

test('a replica that does not lead waits for the end of a second attempt of the leader', async () => {
  const processes = new Processes();
  const [attempt, own] = [attemptOf('a'), attemptOf('a', '/replica-2')];
  await processes.start().begin(attempt);
  const leader = processes.start();
  await leader.begin(attempt);
  const follower = processes.start({ isHeld: false });
  expect(await checked(follower, own)).toBe('source/process-ended');
  await leader.end(attempt);
  expect(await checked(follower, own), 'the leader has read it').toBe('may be tried');
});

test('an attempt of a process that has lost the lead meanwhile counts once, and not against itself', async () => {
  const processes = new Processes();
  const attempt = attemptOf('a');
  const lead = { isHeld: true };
  const replica = processes.start(lead);
  await replica.begin(attempt);
  lead.isHeld = false;
  await replica.end(attempt);
  lead.isHeld = true;
  await replica.begin(attempt);
  expect(processes.fact).toMatchObject({ attempts: [{ times: 1 }] });
  await processes.start().begin(attempt);
  expect(await checked(replica, attempt)).toBe('may be tried');
  await replica.end(attempt);
  expect(processes.fact).toMatchObject({ attempts: [] });
});

test('a sync is not undone by an attempt that begins at the same time', async () => {
  const processes = new Processes();
  const unreadable = processes.start();
  await unreadable.remember(attemptOf('a'), tooSlow);
  await Promise.all([unreadable.begin(attemptOf('b')), unreadable.forget(), unreadable.end(attemptOf('b'))]);
  expect(processes.fact).toMatchObject({ failed: [] });
});

test('what a version before counts beside this one stays', async () => {
  const processes = new Processes();
  const failure = { key: 'k', label: 'l', code: 'source/too-slow', message: 'm', remedy: 'r', atMs: 1 };
  const former = { failed: [failure], begun: { key: 'k2', times: 1 } };
  processes.store.facts.set(FACT, JSON.stringify(former));
  const unreadable = processes.start();
  const attempt = attemptOf('a');
  expect(await checked(unreadable, attempt)).toBe('may be tried');
  await unreadable.begin(attempt);
  expect(processes.fact).toEqual({ ...former, attempts: [expect.objectContaining({ times: 1 })] });
  // It copies what it does not know when it counts, and drops it when it remembers a failure.
  const { failed } = processes.fact as typeof former;
  processes.store.facts.set(FACT, JSON.stringify({ failed, begun: null }));
  expect(await checked(processes.start(), attempt)).toBe('may be tried');
});
