import { expect, test } from 'vitest';
import { Suspensions } from './suspensions.ts';

function suspended(): Suspensions {
  const suspensions = new Suspensions();
  suspensions.suspends('one')(10);
  expect(suspensions.since('one')).toBe(10);
  return suspensions;
}

test('a suspension whose end was refused is still there', () => {
  const suspensions = suspended();
  const answered = suspensions.resumes('one', () => true);
  expect(suspensions.since('one')).toBeUndefined();
  answered(true);
  expect(suspensions.since('one')).toBe(10);
});

test.each([
  {
    refused: 'the later one',
    answers: [
      [1, true],
      [0, false],
    ],
    since: undefined,
  },
  {
    refused: 'the earlier one',
    answers: [
      [1, false],
      [0, true],
    ],
    since: undefined,
  },
  {
    refused: 'neither',
    answers: [
      [0, false],
      [1, false],
    ],
    since: undefined,
  },
  {
    refused: 'both',
    answers: [
      [0, true],
      [1, true],
    ],
    since: 10,
  },
] as const)('two persons end it, and $refused is refused', ({ answers: [first, second], since }) => {
  const suspensions = suspended();
  const answered = [suspensions.resumes('one', () => true), suspensions.resumes('one', () => true)] as const;
  answered[first[0]](first[1]);
  expect(suspensions.since('one'), 'the other one has no answer yet').toBeUndefined();
  answered[second[0]](second[1]);
  expect(suspensions.since('one')).toBe(since);
});
