import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { createAccount } from '../../src/controller/account.ts';
import { createEventLog } from '../../src/controller/events.ts';
import { createSlots, type Waiting } from '../../src/controller/slots.ts';
import { workOf } from '../../src/reconcile/work.ts';
import { FileCache } from '../../src/manifest/file-cache.ts';
import { groupByApplication } from '../../src/manifest/group.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import type { Action } from '../../src/model/plan.ts';
import { seededRandom, VirtualClock } from '../support/virtual-clock.ts';

test('a reader of the events that comes again gets each event once and in order, or is told that some are gone', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.oneof(fc.constant('event' as const), fc.integer({ min: 1, max: 5 })), { maxLength: 60 }),
      (kept, steps) => {
        const log = createEventLog({ clock: new VirtualClock(), random: seededRandom(1) }, kept);
        let published = 0;
        let seen = 0;
        for (const step of steps) {
          if (step === 'event') {
            published += 1;
            log.publish({ type: 'source.observed', severity: 'info', message: String(published) });
            continue;
          }
          const { events, isComplete } = log.since(seen, step);
          const first = events[0]?.sequence ?? published + 1;
          expect(isComplete).toBe(published - seen <= kept);
          if (isComplete) expect(first).toBe(seen + 1);
          for (const [index, event] of events.entries()) {
            expect(event.sequence).toBe(first + index);
            expect(event.message).toBe(String(event.sequence));
          }
          expect(events.length).toBe(Math.min(step, published - Math.max(seen, published - kept)));
          seen = events.at(-1)?.sequence ?? seen;
        }
        expect(log.newest).toBe(published);
      },
    ),
  );
});

test('listeners hear every event until they leave', () => {
  const log = createEventLog({ clock: new VirtualClock(), random: seededRandom(1) });
  const heard: string[] = [];
  const leave = log.subscribe(({ message }) => heard.push(message));
  log.publish({ type: 'source.observed', severity: 'info', message: 'one' });
  leave();
  log.publish({ type: 'source.observed', severity: 'info', message: 'two' });
  expect(heard).toEqual(['one']);
});

test('those that failed never hold more than their places, nobody who waits is lost, and the others have all of theirs', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 16 }),
      fc.array(
        fc.record({
          app: fc.integer({ min: 0, max: 9 }),
          hasFailed: fc.boolean(),
          what: fc.constantFrom('begins', 'begins', 'hangs', 'ends'),
        }),
        { maxLength: 80 },
      ),
      (limit, steps) => {
        const slots = createSlots(() => limit);
        const places = Math.max(1, Math.floor(limit / 10));
        const running = new Map<string, 'well' | 'failing' | 'slow'>();
        const waiting = new Set<string>();
        const count = (state: string): number => [...running.values()].filter((other) => other === state).length;
        const follows = (next: Waiting | undefined): void => {
          if (next === undefined) return;
          // It was waiting, and there is a place for it now.
          expect(waiting.delete(next.id)).toBe(true);
          expect(slots.enter(next.id, true, next.because)).toBe(true);
          running.set(next.id, 'failing');
        };
        for (const { app, hasFailed, what } of steps) {
          const id = `Application/${app}` as const;
          if (what === 'begins' && !running.has(id)) {
            const isIn = slots.enter(id, hasFailed, ['a test']);
            if (isIn) running.set(id, hasFailed ? 'failing' : 'well');
            else waiting.add(id);
            if (isIn) waiting.delete(id);
            expect(isIn || hasFailed).toBe(true);
          } else if (what === 'hangs' && running.has(id)) {
            running.set(id, 'slow');
            follows(slots.slow(id));
          } else if (what === 'ends' && running.delete(id)) {
            follows(slots.leave(id));
          }
          expect(count('failing')).toBeLessThanOrEqual(places);
          const beside = count('failing') + count('slow');
          expect(slots.concurrency() - beside).toBe(limit - Math.max(0, beside - limit));
          // Whoever waits does so only while all places are taken.
          if (waiting.size > 0) expect(count('failing')).toBe(places);
        }
      },
    ),
  );
});

function action(object: string, facts: Partial<Action> = {}): Action {
  return {
    id: `${object}#x`,
    resource: 'Component/web',
    verb: 'update',
    step: { type: 'x' },
    object,
    summary: '',
    changes: [],
    effects: [],
    cause: 'git',
    after: [],
    prune: false,
    ...facts,
  };
}

const SCOPE = { platform: 'default', team: 't', region: 'r', appId: 1 };
const LIMITS = { maxShare: 0.3, shareFrom: 10, maxPrunes: 2, allowedScopes: [] };

test('an allowance is used up by what was sent, once for each object, and by nothing else', () => {
  const account = createAccount({ snapshot: 's', owned: 10, changed: 0, removed: 0 });
  const take = (appId: number, ...actions: Action[]) =>
    account.reserve({ scope: { ...SCOPE, appId }, actions }, LIMITS);
  const first = take(1, action('1'), action('2'));
  if (!('confirm' in first)) throw new Error('it fits');
  first.confirm(new Set(['1#x']));
  expect(account.state).toMatchObject({ changed: 1, removed: 0 });
  // The same object again, drift and creations use up nothing.
  for (const again of [action('1'), action('7', { cause: 'drift' }), action('8', { verb: 'create' })]) {
    const result = take(1, again);
    if (!('confirm' in result)) throw new Error('it fits');
    result.confirm(new Set([again.id]));
  }
  expect(account.state).toMatchObject({ changed: 1 });
  // Another scope's object of the same name is another one.
  expect('confirm' in take(2, action('1'), action('2'))).toBe(true);
  const fourth = take(2, action('3'));
  expect('confirm' in fourth).toBe(false);
});

test('what an action takes along counts as well, and a former process counts too', () => {
  const account = createAccount({ snapshot: 's', owned: 100, changed: 0, removed: 1 });
  const prune = { prune: true, verb: 'delete', cause: 'prune' } as const;
  const result = account.reserve({ scope: SCOPE, actions: [action('1', { ...prune, takesAlong: ['2'] })] }, LIMITS);
  expect(Array.isArray(result) ? result.map(({ code }) => code) : []).toEqual(['guard/prunes']);
  expect('confirm' in account.reserve({ scope: SCOPE, actions: [action('1', prune)] }, LIMITS)).toBe(true);
});

test('an application of which nothing changed keeps its work, and one that changed, gained or lost something does not', () => {
  const cache = new FileCache();
  const document = (kind: string, name: string, spec: string): string =>
    `apiVersion: portolan/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
  const component = (name: string, port: number): string =>
    document('Component', name, `{ application: a, serviceId: s-${name}, ports: [{ port: ${port}, protocol: http }] }`);
  const worksOf = (...components: readonly string[]) => {
    const applications = ['a', 'b'].map((name) =>
      document('Application', name, `{ team: t, region: r, app: ${name} }`),
    );
    const files = [...applications, ...components].map((content, index) => ({
      path: `${index}.yaml`,
      content,
      contentId: content,
    }));
    const { desired, problems } = loadManifests({ kinds: kindDeclarations, files, cache });
    expect(problems).toEqual([]);
    return groupByApplication(desired).map(workOf);
  };
  const states = [[component('x', 80)], [component('x', 81)], [component('x', 81), component('y', 80)], []];
  let last = worksOf();
  for (const components of states) {
    const [ours, others] = worksOf(...components);
    expect([ours === last[0], others === last[1]]).toEqual([false, true]);
    expect(ours?.resources.size).toBe(components.length);
    last = worksOf(...components);
    expect([ours === last[0], others === last[1]]).toEqual([true, true]);
  }
});
