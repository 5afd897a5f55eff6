import { expect, test } from 'vitest';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { type Attempt, Unreadable } from '../../src/source/unreadable.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const { limits } = defaultSettings().source;

function processes() {
  const store = new MemoryStore('unreadable');
  const clock = new VirtualClock();
  return () =>
    new Unreadable({ ledger: openMemoryLedger(store), clock, source: 'default', actor: 'test', version: '1.0.0' });
}

async function checked(unreadable: Unreadable, attempt: Attempt): Promise<string> {
  try {
    await unreadable.check(attempt);
    return 'may be tried';
  } catch (error) {
    return (error as PortolanError).code;
  }
}

test('a commit during which the process ended twice is not tried again', async () => {
  const start = processes();
  const attempt = start().attempt({ commit: 'a' }, 'main@sha1:a', limits);
  const other = start().attempt({ commit: 'b' }, 'main@sha1:b', limits);
  for (const _ of [1, 2]) {
    const unreadable = start();
    expect(await checked(unreadable, attempt)).toBe('may be tried');
    await unreadable.begin(attempt);
    expect(await checked(unreadable, attempt), 'in the same process').toBe('may be tried');
  }
  expect(await checked(start(), attempt)).toBe('source/process-ended');
  expect(await checked(start(), attempt), 'remembered').toBe('source/process-ended');
  expect(await checked(start(), other)).toBe('may be tried');
  expect(await start().forget()).toBe(true);
  expect(await checked(start(), attempt)).toBe('may be tried');
});

test('an attempt that ended counts for nothing', async () => {
  const start = processes();
  const attempt = start().attempt({ commit: 'a' }, 'main@sha1:a', limits);
  for (const _ of [1, 2, 3]) {
    const unreadable = start();
    await unreadable.begin(attempt);
    await unreadable.end(attempt);
  }
  expect(await checked(start(), attempt)).toBe('may be tried');
  expect(await start().forget()).toBe(false);
});

test('so many failed commits are remembered, the newest of them', async () => {
  const unreadable = processes()();
  const error = new PortolanError({ code: 'source/too-slow', disposition: 'invalid', message: 'm', remedy: 'r' });
  const attempts = Array.from({ length: 20 }, (_, at) => unreadable.attempt({ commit: at }, `${at}`, limits));
  for (const attempt of attempts) await unreadable.remember(attempt, error);
  const said = await Promise.all(attempts.map((attempt) => checked(unreadable, attempt)));
  expect(said.filter((code) => code === 'source/too-slow')).toHaveLength(16);
  expect(said.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => 'may be tried'));
});
