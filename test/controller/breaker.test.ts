import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  CircuitBreaker,
  FAILURES_TO_OPEN,
  isPlatformFailure,
  PROBE_MS_MAX,
  OPEN_MS_FIRST,
  OPEN_MS_MAX,
  type PassResult,
} from '../../src/controller/breaker.ts';
import { PortolanError } from '../../src/model/errors.ts';
import type { ResourceId } from '../../src/model/ids.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const place = { platform: 'default', region: 'region-1' };
const app = (name: string | number): ResourceId => `Application/${name}`;

function scene() {
  const clock = new VirtualClock();
  const breaker = new CircuitBreaker(clock);
  /** One pass; undefined: it was not let through. */
  const pass = (name: string | number, result: PassResult): 'opened' | 'closed' | 'nothing' | 'kept out' => {
    if (breaker.admit(place, app(name)).type === 'wait') return 'kept out';
    return breaker.report(place, app(name), result) ?? 'nothing';
  };
  const fail = (...names: readonly (string | number)[]) => names.map((name) => pass(name, 'platform-failure'));
  return { clock, breaker, pass, fail };
}

test('failures in a row by several applications open it; one that looks later closes it by its success', () => {
  const { clock, breaker, pass, fail } = scene();
  expect(fail(1, 2, 3, 4, 5)).toEqual(['nothing', 'nothing', 'nothing', 'nothing', 'opened']);
  expect(breaker.state(place)).toEqual({
    untilMs: clock.now() + OPEN_MS_FIRST,
    sinceMs: clock.now(),
    because: '5 failures in a row, by 5 applications',
  });
  expect(breaker.admit(place, app(6))).toEqual({ type: 'wait', untilMs: clock.now() + OPEN_MS_FIRST });
  expect(breaker.admit({ ...place, region: 'region-2' }, app(7))).toEqual({ type: 'go' });
  clock.advance(OPEN_MS_FIRST);
  expect(breaker.admit(place, app(1))).toEqual({ type: 'go' });
  expect(breaker.admit(place, app(2)).type).toBe('wait');
  expect(breaker.report(place, app(1), 'success')).toBe('closed');
  expect(breaker.state(place)).toBeUndefined();
  expect(pass(2, 'success')).toBe('nothing');
});

test('each look that fails keeps it open for twice as long, five minutes at most', () => {
  const { clock, breaker, fail } = scene();
  fail(1, 2, 3, 4, 5);
  const openMs: number[] = [];
  for (let look = 0; look < 8; look += 1) {
    openMs.push((breaker.state(place)?.untilMs ?? 0) - clock.now());
    clock.advance(openMs.at(-1) ?? 0);
    expect(fail(1)).toEqual(['nothing']);
  }
  expect(openMs.slice(0, 5)).toEqual([10_000, 20_000, 40_000, 80_000, 160_000]);
  expect(openMs.at(-1)).toBe(OPEN_MS_MAX);
});

test('the only application of a region opens it alone: nobody else has to wait for that', () => {
  const { breaker, fail } = scene();
  expect(fail(1, 1, 1, 1, 1).at(-1)).toBe('opened');
  expect(breaker.state(place)?.because).toBe('5 failures in a row, by one application');
});

test('fifty that always fail shut nobody out while others succeed', () => {
  const { clock, breaker, pass, fail } = scene();
  for (const name of ['good', 'better']) expect(pass(name, 'success')).toBe('nothing');
  fail(1, 2, 3);
  pass('good', 'success');
  const broken = Array.from({ length: 50 }, (_, index) => index + 1);
  for (let round = 0; round < 20; round += 1) {
    for (let first = 0; first < broken.length; first += FAILURES_TO_OPEN - 1) {
      const results = fail(...broken.slice(first, first + FAILURES_TO_OPEN - 1));
      expect(results.every((result) => result === 'nothing')).toBe(true);
      if (round === 0) expect(pass('better', 'success')).toBe('nothing');
    }
  }
  expect(breaker.state(place)).toBeUndefined();
  clock.advance(1000);
  // A whole region that fails is seen nevertheless.
  expect(fail('good', 'better', 'good', 'better', 'good').at(-1)).toBe('opened');
});

test('one that is broken by itself is not sent to look', () => {
  const { clock, breaker, pass, fail } = scene();
  fail('broken');
  pass('good', 'success');
  expect(fail('good', 'good', 'good', 'good', 'good').at(-1)).toBe('opened');
  clock.advance(OPEN_MS_FIRST);
  expect(pass('broken', 'success')).toBe('kept out');
  expect(pass('good', 'success')).toBe('closed');
  expect(breaker.admit(place, app('broken'))).toEqual({ type: 'go' });
});

test('a look that learns nothing, or never ends, or whose application goes, leaves the turn to another', () => {
  const { clock, breaker, pass, fail } = scene();
  fail(1, 2, 3, 4, 5);
  clock.advance(OPEN_MS_FIRST);
  expect(pass(1, 'other')).toBe('nothing');
  expect(breaker.admit(place, app(2))).toEqual({ type: 'go' });
  expect(breaker.admit(place, app(3)).type).toBe('wait');
  breaker.forget(place, app(2));
  expect(breaker.admit(place, app(3))).toEqual({ type: 'go' });
  clock.advance(PROBE_MS_MAX - 1);
  expect(breaker.admit(place, app(4)).type).toBe('wait');
  clock.advance(1);
  expect(breaker.admit(place, app(4))).toEqual({ type: 'go' });
  // The one that was given up on ends after all: it says nothing about now.
  expect(breaker.report(place, app(3), 'platform-failure')).toBeUndefined();
  expect(breaker.report(place, app(4), 'success')).toBe('closed');
});

test('a wall clock that is set moves neither the end nor what is told of it wrongly', () => {
  const { clock, breaker, fail } = scene();
  fail(1, 2, 3, 4, 5);
  clock.jump(3_600_000);
  expect(breaker.state(place)?.untilMs).toBe(clock.now() + OPEN_MS_FIRST);
  expect(breaker.admit(place, app(1)).type).toBe('wait');
});

test('whatever happens: one looks at a time, a success closes it, and the times told are ahead', () => {
  const step = fc.record({
    name: fc.integer({ min: 1, max: 6 }),
    result: fc.constantFrom<PassResult>('success', 'platform-failure', 'platform-failure', 'other'),
    afterMs: fc.constantFrom(0, 1, 1_000, 10_000, 30_000, 400_000),
    ends: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const { clock, breaker } = scene();
      const looking = new Map<ResourceId, number>();
      for (const { name, result, afterMs, ends } of steps) {
        clock.advance(afterMs);
        const isOpen = breaker.state(place) !== undefined;
        const admission = breaker.admit(place, app(name));
        if (admission.type === 'wait') {
          expect(isOpen).toBe(true);
          expect(admission.untilMs).toBeGreaterThan(clock.now());
          continue;
        }
        if (isOpen) {
          const others = [...looking.values()].filter((sinceMs) => clock.monotonic() - sinceMs < PROBE_MS_MAX);
          expect(others).toEqual([]);
          looking.set(app(name), clock.monotonic());
        }
        if (!ends && isOpen) continue;
        looking.delete(app(name));
        const change = breaker.report(place, app(name), result);
        if (result === 'success') {
          looking.clear();
          expect(breaker.state(place)).toBeUndefined();
          expect(change).toBe(isOpen ? 'closed' : undefined);
        }
        if (change === 'opened') expect(isOpen).toBe(false);
      }
    }),
  );
});

test.for([
  ['platform/unreachable', true],
  ['platform/server-error', true],
  ['platform/credentials', false],
  ['platform/busy', false],
  ['platform/unknown-team', false],
] as const)('%s is the fault of the platform: %s', ([code, expected]) => {
  const error = new PortolanError({ code, disposition: 'retry', message: 'x', remedy: 'y' });
  expect(isPlatformFailure(error)).toBe(expected);
});
