import { expect, test } from 'vitest';
import { createAsking, type Question } from '../../../src/controller/replicas/asking.ts';
import { PortolanError } from '../../../src/model/errors.ts';
import { problemOf } from '../../../src/server/problem.ts';

const question: Question = {
  unit: 'platform:east',
  method: 'suspend',
  args: ['Application/shop', 'ops', 'a test'],
  scope: 'east/team-a/region-1/1',
  by: 'ops',
  isRead: false,
  patienceMs: 10_000,
  signal: new AbortController().signal,
};

interface Case {
  /** Leader of the unit; undefined: none. */
  readonly leader?: string;
  /** undefined: none came. */
  readonly answer?: { readonly value?: string };
  readonly ageMs?: number;
  /** Age when no answer has come. */
  readonly laterAgeMs?: number;
  /** Aborted once the command is recorded. */
  readonly stop?: AbortController;
}

const CLOSING = new Error('the server is closing');

function asking({ leader, answer, ageMs = 0, laterAgeMs = ageMs, stop }: Case) {
  const added: unknown[] = [];
  let nowAgeMs = ageMs;
  const asked = createAsking({
    commands: {
      add: async (command) => {
        added.push(command);
        stop?.abort(CLOSING);
        return 'c0ffee';
      },
      resultOf: async (_id, _waitMs, signal) => {
        nowAgeMs = laterAgeMs;
        signal.throwIfAborted();
        return answer;
      },
    },
    replicas: { leaderOf: async () => leader },
    contact: () => ({ isReachable: nowAgeMs < 5_000, asOfMs: 0, ageMs: nowAgeMs }),
  });
  return { ...asked, added };
}

const refusalOf = async (asked: Promise<unknown>) => {
  const error = await asked.then(
    () => expect.unreachable(),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PortolanError);
  return problemOf(error);
};

test('the answer of the leader is returned; the scope by which the user was permitted goes with the command', async () => {
  const { ask, added } = asking({ answer: { value: 'done' } });
  expect(await ask(question)).toBe('done');
  const { unit, method, args, scope, by } = question;
  expect(added).toEqual([{ unit, method, args: { args, scope }, by }]);
});

test('without an answer, a command that will still be carried out is reported with its id, and not to be repeated', async () => {
  const problem = await refusalOf(asking({ leader: 'portolan-1' }).ask(question));
  expect(problem).toMatchObject({ status: 504, code: 'controller/command-pending' });
  expect(problem?.detail).toMatch(
    /portolan-1, which leads Platform\/east, did not answer within 10s.*c0ffee is recorded/,
  );
  expect(problem?.remedy).toContain('Do not repeat it');
  const leaderless = await refusalOf(asking({}).ask(question));
  expect(leaderless?.detail).toMatch(
    /^No controller is known to lead Platform\/east at this moment\. The command c0ffee/,
  );
});

test('a command that is recorded when its request is aborted is pending, and a read fails with the reason', async () => {
  const stop = new AbortController();
  const problem = await refusalOf(asking({ stop }).ask({ ...question, signal: stop.signal }));
  expect(problem).toMatchObject({ status: 504, code: 'controller/command-pending' });
  expect(problem?.detail).toBe(
    'This controller stopped waiting for the leader of Platform/east, because it is stopping or the request took too long. The command c0ffee is recorded, and the leader carries it out or refuses it.',
  );
  // A refusal within the patience of a user makes no event.
  expect(problem?.remedy).toBe(
    'Do not repeat it before you have seen in portolan history and portolan status whether it was carried out.',
  );
  const again = new AbortController();
  const read = asking({ stop: again }).ask({ ...question, isRead: true, signal: again.signal });
  await expect(read).rejects.toBe(CLOSING);
});

test('a request that was aborted before records nothing', async () => {
  const { ask, added } = asking({ answer: { value: 'done' } });
  await expect(ask({ ...question, signal: AbortSignal.abort(CLOSING) })).rejects.toBe(CLOSING);
  expect(added).toEqual([]);
});

test('a command whose result cannot be read any more is pending', async () => {
  const problem = await refusalOf(asking({ laterAgeMs: 11_000 }).ask(question));
  expect(problem).toMatchObject({ status: 504, code: 'controller/command-pending' });
  expect(problem?.detail).toMatch(
    /^This controller could not read the database of the ledger for 11s\. The command c0ffee is recorded/,
  );
  expect(problem?.remedy).toContain('whether it was carried out');
});

test('a read without an answer changes nothing and may be retried', async () => {
  const problem = await refusalOf(asking({ leader: 'portolan-1' }).ask({ ...question, isRead: true }));
  expect(problem).toMatchObject({ status: 503, code: 'controller/leader-silent' });
  expect(problem?.detail).toContain('Nothing was changed.');
});

test('while the database is away, nothing is ordered, and nothing waits', async () => {
  const { ask, added } = asking({ leader: 'portolan-1', ageMs: 65_000 });
  const problem = await refusalOf(ask(question));
  expect(problem).toMatchObject({ status: 503, code: 'controller/database-away' });
  expect(problem?.detail).toContain('could not read the database of the ledger for 1m5s. Nothing was done.');
  expect(added).toEqual([]);
});
