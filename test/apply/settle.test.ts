import { expect, test } from 'vitest';
import {
  settleWindow,
  settleWindowMs,
  settleState,
  settleStateOf,
} from '../../src/reconcile/resolution/settle-window.ts';
import type { Intent } from '../../src/model/owned.ts';
import { defaultTiming } from '../../src/reconcile/apply/world.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const LENGTH_MS = 90_000;
const YEAR_MS = 365 * 24 * 3_600_000;

test('a window is over when its time has passed, and not before', () => {
  const clock = new VirtualClock();
  const window = settleWindow(clock, LENGTH_MS);
  clock.advance(LENGTH_MS - 1);
  expect(settleState(window, clock)).toEqual({ type: 'until', untilMs: clock.now() + 1 });
  clock.advance(1);
  expect(settleState(window, clock)).toEqual({ type: 'over' });
});

test.for([YEAR_MS, -YEAR_MS])('a wall clock that jumps by %d ms neither ends a window nor prolongs it', (jumpMs) => {
  const clock = new VirtualClock();
  const window = settleWindow(clock, LENGTH_MS);
  clock.jump(jumpMs);
  expect(settleState(window, clock)).toEqual({ type: 'until', untilMs: clock.now() + LENGTH_MS });
  clock.advance(LENGTH_MS);
  expect(settleState(window, clock)).toEqual({ type: 'over' });
});

test('after another start of the machine nobody knows how long it was, so the window begins anew', () => {
  const clock = new VirtualClock();
  const window = settleWindow(clock, LENGTH_MS);
  clock.advance(LENGTH_MS * 2);
  clock.reboot();
  expect(settleState(window, clock)).toEqual({ type: 'restarted' });
});

test('where the start of the machine cannot be told, the wall clock decides', () => {
  const clock = new VirtualClock();
  const window = { settleMs: clock.now() + LENGTH_MS, settleMark: '' };
  clock.sinceBoot = () => ({ boot: '', uptimeMs: 0 });
  expect(settleState(window, clock)).toEqual({ type: 'until', untilMs: window.settleMs });
  clock.jump(LENGTH_MS);
  expect(settleState(window, clock)).toEqual({ type: 'over' });
});

test('the wall clock of such a machine decides nothing for a process that has an id of its start', () => {
  const clock = new VirtualClock();
  const window = { settleMs: clock.now() - 1, settleMark: '' };
  expect(settleState(window, clock)).toEqual({ type: 'restarted' });
});

test('a window begun where the start of the machine cannot be told has no mark', () => {
  const clock = new VirtualClock();
  clock.sinceBoot = () => ({ boot: '', uptimeMs: 0 });
  expect(settleWindow(clock, LENGTH_MS)).toEqual({ settleMs: clock.now() + LENGTH_MS, settleMark: '' });
});

test.for([
  [999, 0],
  [-999, 0],
  [1000, 1000],
  [-1000, -1000],
] as const)('a wall clock that moved by %i ms tells the end of a window moved by %i ms', ([jumpMs, movedMs]) => {
  const clock = new VirtualClock();
  const window = settleWindow(clock, LENGTH_MS);
  clock.jump(jumpMs);
  expect(settleState(window, clock)).toEqual({ type: 'until', untilMs: window.settleMs + movedMs });
});

test.for([
  ['target-state', 1],
  ['duplicate-rejecting', 2],
  ['duplicate-accepting', 3],
] as const)('what is %s has a window of its own', ([idempotence, lengthMs]) => {
  const timing = { ...defaultTiming, settleTargetStateMs: 1, settleCreationMs: 2, settleInstallMs: 3 };
  expect(settleWindowMs(idempotence, timing)).toBe(lengthMs);
});

test('the window of an intent that is open still begins when somebody finds it', () => {
  const clock = new VirtualClock();
  const intent = { state: 'open', settleMs: 0, settleMark: '' } as Intent;
  expect(settleStateOf(intent, clock)).toEqual({ type: 'restarted' });
  const settleMark = `${clock.sinceBoot().boot} 0`;
  expect(settleStateOf({ ...intent, state: 'unknown', settleMark }, clock)).toEqual({ type: 'over' });
});
