import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { createEventLog } from '../../src/controller/events.ts';
import { createSlots, type Waiting } from '../../src/controller/slots.ts';
import { workOf } from '../../src/reconcile/work.ts';
import { FileCache } from '../../src/manifest/file-cache.ts';
import { groupByApplication } from '../../src/manifest/group.ts';
import { loadManifests } from '../../src/manifest/load.ts';
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
