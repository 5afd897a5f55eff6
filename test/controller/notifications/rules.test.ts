import { expect, test } from 'vitest';
import { matchesRule, createRepeats } from '../../../src/controller/notifications/rules.ts';
import type { NotificationRule } from '../../../src/configuration/settings/notifications-spec.ts';
import type { ControllerEvent } from '../../../src/model/status.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { event } from '../hand-made.ts';

const any: NotificationRule = { events: ['*'], severity: 'info', labels: {}, receivers: ['ops'] };

test.for<[string, Partial<NotificationRule>, Partial<ControllerEvent>, boolean]>([
  ['everything', {}, {}, true],
  ['a type', { events: ['drift.detected'] }, {}, true],
  ['another type', { events: ['drift.healed'] }, {}, false],
  ['an area', { events: ['drift.*'] }, {}, true],
  ['another area', { events: ['drif.*', 'apply.*'] }, {}, false],
  ['one of several', { events: ['apply.*', 'drift.*'] }, {}, true],
  ['the same severity', { severity: 'warning' }, {}, true],
  ['a higher severity', { severity: 'warning' }, { severity: 'error' }, true],
  ['a lower severity', { severity: 'error' }, {}, false],
  ['a label', { labels: { env: 'prod' } }, {}, true],
  ['a label of another value', { labels: { env: 'test' } }, {}, false],
  ['one label of two', { labels: { env: 'prod', tier: 'web' } }, {}, false],
  ['a label that every object seems to have', { labels: { constructor: 'x' } }, {}, false],
  ['labels, of an event without an application', { labels: { env: 'prod' } }, { labels: {} }, false],
])('a rule for %s', ([, rule, facts, matches]) => {
  expect(matchesRule({ ...any, ...rule }, event(facts))).toBe(matches);
});

/** Each step: what happens, and what is said of it: `-` nothing, else how many like it were left out. */
test.for<[string, readonly [Partial<ControllerEvent> | number, ...unknown[]][]]>([
  [
    'the same again is left out',
    [
      [{}, '0'],
      [{}, '-'],
      [{}, '-'],
    ],
  ],
  [
    '… and counted, when it is told again after an hour',
    [[{}, '0'], [{}, '-'], [{}, '-'], [3_600_000], [{}, '2'], [{}, '-']],
  ],
  [
    'other words are news',
    [
      [{}, '0'],
      [{ message: 'port 9000' }, '0'],
      [{}, '-'],
      [{ message: 'port 9000' }, '-'],
    ],
  ],
  [
    'another resource is news',
    [
      [{}, '0'],
      [{ resource: 'Component/api' }, '0'],
      [{}, '-'],
    ],
  ],
  [
    'another application is news',
    [
      [{}, '0'],
      [{ application: 'Application/blog' }, '0'],
    ],
  ],
  [
    'another revision is news',
    [
      [{}, '0'],
      [{ revision: null }, '0'],
    ],
  ],
  [
    'another severity is news',
    [
      [{}, '0'],
      [{ severity: 'error' }, '0'],
    ],
  ],
  [
    'what comes back after it was gone is news',
    [
      [{}, '0'],
      [{ type: 'drift.healed' }, '0'],
      [{}, '0'],
      [{}, '-'],
    ],
  ],
  [
    'what happens in another area makes no news',
    [
      [{}, '0'],
      [{ type: 'hold.added' }, '0'],
      [{}, '-'],
    ],
  ],
])('%s', ([, steps]) => {
  const clock = new VirtualClock();
  const repeatsOf = createRepeats(3_600_000, clock);
  const said = steps.map(([step]) => {
    if (typeof step !== 'number') return String(repeatsOf(event(step)) ?? '-');
    clock.advance(step);
    return undefined;
  });
  expect(said).toEqual(steps.map(([, expected]) => expected));
});

test('what is remembered of what was told has an end', () => {
  const repeatsOf = createRepeats(3_600_000, new VirtualClock());
  for (let index = 0; index < 5_000; index += 1) repeatsOf(event({ resource: `Component/c${index}` }));
  expect(repeatsOf(event({ resource: 'Component/c4999' }))).toBeUndefined();
  expect(repeatsOf(event({ resource: 'Component/c0' }))).toBe(0);
  for (let index = 0; index < 100; index += 1) repeatsOf(event({ message: `${index}` }));
  expect(repeatsOf(event({ message: '0' }))).toBe(0);
});
