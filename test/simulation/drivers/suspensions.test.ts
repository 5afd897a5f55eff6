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

test('of two persons who end it, the later one is refused: it is over', () => {
  const suspensions = suspended();
  const [first, second] = [suspensions.resumes('one', () => true), suspensions.resumes('one', () => true)];
  second(true);
  expect(suspensions.since('one'), 'the other one has no answer yet').toBeUndefined();
  first(false);
  expect(suspensions.since('one')).toBeUndefined();
});

test('of two persons who end it, the earlier one is refused: it is over', () => {
  const suspensions = suspended();
  const [first, second] = [suspensions.resumes('one', () => true), suspensions.resumes('one', () => true)];
  second(false);
  first(true);
  expect(suspensions.since('one')).toBeUndefined();
});

test('of two persons who end it, both are refused: it is still there', () => {
  const suspensions = suspended();
  const [first, second] = [suspensions.resumes('one', () => true), suspensions.resumes('one', () => true)];
  first(true);
  second(true);
  expect(suspensions.since('one')).toBe(10);
});
