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

/** @param leader of the unit; undefined: none. @param answer undefined: none came. */
function asking({ leader, answer, ageMs = 0 }: { leader?: string; answer?: { value?: string }; ageMs?: number }) {
  const added: unknown[] = [];
  const asked = createAsking({
    commands: {
      add: async (command) => {
        added.push(command);
        return 'c0ffee';
      },
      resultOf: async () => answer,
    },
    replicas: { leaderOf: async () => leader },
    contact: () => ({ isReachable: ageMs < 5_000, asOfMs: 0, ageMs }),
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
  expect(leaderless?.detail).toMatch(/^No controller leads Platform\/east at this moment\. The command c0ffee/);
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
  expect(problem?.detail).toContain('has not answered for 1m5s. Nothing was done.');
  expect(added).toEqual([]);
});
