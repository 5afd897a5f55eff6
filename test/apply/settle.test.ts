import { expect, test } from 'vitest';
import { settleWindow, settling } from '../../src/apply/settle.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const LENGTH_MS = 90_000;
const YEAR_MS = 365 * 24 * 3_600_000;

test('a window is over when its time has passed, and not before', () => {
  const clock = new VirtualClock();
  const window = settleWindow(clock, LENGTH_MS);
  clock.advance(LENGTH_MS - 1);
  expect(settling(window, clock)).toEqual({ type: 'until', untilMs: clock.now() + 1 });
  clock.advance(1);
  expect(settling(window, clock)).toEqual({ type: 'over' });
});

test.for([YEAR_MS, -YEAR_MS])('a wall clock that jumps by %d ms neither ends a window nor prolongs it', (jumpMs) => {
  const clock = new VirtualClock();
  const window = settleWindow(clock, LENGTH_MS);
  clock.jump(jumpMs);
  expect(settling(window, clock)).toEqual({ type: 'until', untilMs: clock.now() + LENGTH_MS });
  clock.advance(LENGTH_MS);
  expect(settling(window, clock)).toEqual({ type: 'over' });
});

test('after another start of the machine nobody knows how long it was, so the window begins anew', () => {
  const clock = new VirtualClock();
  const window = settleWindow(clock, LENGTH_MS);
  clock.advance(LENGTH_MS * 2);
  clock.reboot();
  expect(settling(window, clock)).toEqual({ type: 'restarted' });
});

test('where the start of the machine cannot be told, the wall clock decides', () => {
  const clock = new VirtualClock();
  const window = { settleMs: clock.now() + LENGTH_MS, settleMark: '' };
  expect(settling(window, clock)).toEqual({ type: 'until', untilMs: window.settleMs });
  clock.jump(LENGTH_MS);
  expect(settling(window, clock)).toEqual({ type: 'over' });
});
