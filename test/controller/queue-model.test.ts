import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CHANGES_IN_A_ROW, type Lane } from '../../src/controller/queue.ts';
import type { ResourceId } from '../../src/model/ids.ts';
import { id, pass, START_MS, type Started, scene, settle } from './queue-scene.ts';

type Step =
  | { readonly type: 'add'; readonly key: number; readonly lane: Lane }
  | { readonly type: 'addAfter'; readonly key: number; readonly ms: number; readonly lane: Lane }
  | { readonly type: 'addRateLimited' | 'forget' | 'remove' | 'alone'; readonly key: number }
  | { readonly type: 'end'; readonly which: number; readonly fails: boolean }
  | { readonly type: 'concurrency'; readonly allowed: number }
  | { readonly type: 'pass'; readonly ms: number };

const keyArbitrary = fc.integer({ min: 0, max: 5 });
const laneArbitrary = fc.constantFrom<Lane>('change', 'routine');
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('add' as const), key: keyArbitrary, lane: laneArbitrary }),
  fc.record({
    type: fc.constant('addAfter' as const),
    key: keyArbitrary,
    ms: fc.integer({ min: 0, max: 60 }),
    lane: laneArbitrary,
  }),
  fc.record({
    type: fc.constantFrom('addRateLimited' as const, 'forget' as const, 'remove' as const, 'alone' as const),
    key: keyArbitrary,
  }),
  fc.record({ type: fc.constant('end' as const), which: fc.nat(3), fails: fc.boolean() }),
  fc.record({ type: fc.constant('concurrency' as const), allowed: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 40 }) }),
);

interface ModelSlot {
  readonly key: ResourceId;
  dueMs: number;
  lane: Lane;
  readonly order: number;
  readonly because: string[];
}

/** What the queue should do, the simple way: every list is searched from end to end. */
class Model {
  nowMs = 0;
  concurrency = 1;
  readonly started: Started[] = [];
  waiting: ModelSlot[] = [];
  runs: {
    readonly key: ResourceId;
    again: ModelSlot | undefined;
    isRateLimited: boolean;
    isTask: boolean;
    /** Tasks that wait for the end of the run. */
    tasks: number;
  }[] = [];
  readonly #failures = new Map<ResourceId, number>();
  #order = 0;
  #changesInARow = 0;

  want(key: ResourceId, ms: number, reason: string, lane: Lane): void {
    const run = this.runs.find((other) => other.key === key);
    const slot = run === undefined ? this.waiting.find((other) => other.key === key) : run.again;
    if (slot !== undefined) {
      slot.dueMs = Math.min(slot.dueMs, this.nowMs + ms);
      if (lane === 'change') slot.lane = lane;
      if (!slot.because.includes(reason)) slot.because.push(reason);
      return;
    }
    const fresh = { key, dueMs: this.nowMs + ms, lane, order: this.#order++, because: [reason] };
    if (run === undefined) this.waiting.push(fresh);
    else run.again = fresh;
  }

  wantRateLimited(key: ResourceId, reason: string): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    for (const run of this.runs) if (run.key === key) run.isRateLimited = true;
    this.want(key, Math.min(500_000, 5 * 2 ** failures), reason, 'routine');
  }

  forget(key: ResourceId): void {
    this.#failures.delete(key);
  }

  remove(key: ResourceId): void {
    this.#failures.delete(key);
    this.waiting = this.waiting.filter((slot) => slot.key !== key);
    for (const run of this.runs) if (run.key === key) run.again = undefined;
  }

  /** A task of a key: at once, or behind the run and the tasks that wait for its end. */
  alone(key: ResourceId): void {
    const run = this.runs.find((other) => other.key === key);
    if (run !== undefined) {
      run.tasks += 1;
      return;
    }
    const again = this.waiting.find((slot) => slot.key === key);
    this.waiting = this.waiting.filter((slot) => slot !== again);
    this.runs.push({ key, again, isRateLimited: false, isTask: true, tasks: 0 });
    this.#startTask(key);
  }

  #startTask(key: ResourceId): void {
    this.started.push({ atMs: this.nowMs, key, because: ['task'] });
  }

  end(key: ResourceId, fails: boolean): void {
    const run = this.runs.find((other) => other.key === key);
    if (fails && run?.isTask === false && !run.isRateLimited) this.wantRateLimited(key, 'its last run failed');
    if (run !== undefined && run.tasks > 0) {
      run.tasks -= 1;
      run.isTask = true;
      this.#startTask(key);
      return;
    }
    this.runs = this.runs.filter((other) => other !== run);
    if (run?.again !== undefined) this.waiting.push(run.again);
  }

  startWhatMay(): void {
    while (this.runs.length < Math.max(1, this.concurrency)) {
      const due = this.waiting.filter((slot) => slot.dueMs <= this.nowMs);
      due.sort((left, right) => left.dueMs - right.dueMs || left.order - right.order);
      const change = due.find((slot) => slot.lane === 'change');
      const routine = due.find((slot) => slot.lane === 'routine');
      const next = routine !== undefined && this.#changesInARow >= CHANGES_IN_A_ROW ? routine : (change ?? routine);
      this.#changesInARow =
        next !== undefined && next === change && routine !== undefined ? this.#changesInARow + 1 : 0;
      if (next === undefined) return;
      this.waiting = this.waiting.filter((slot) => slot !== next);
      this.runs.push({ key: next.key, again: undefined, isRateLimited: false, isTask: false, tasks: 0 });
      this.started.push({ atMs: this.nowMs, key: next.key, because: next.because });
    }
  }

  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (;;) {
      this.startWhatMay();
      const coming = this.waiting.map((slot) => slot.dueMs).filter((dueMs) => dueMs > this.nowMs && dueMs <= untilMs);
      if (coming.length === 0) break;
      this.nowMs = Math.min(...coming);
    }
    this.nowMs = untilMs;
  }

  nextDueMs(key: ResourceId): number | undefined {
    return (
      this.waiting.find((slot) => slot.key === key)?.dueMs ?? this.runs.find((run) => run.key === key)?.again?.dueMs
    );
  }
}

const never = new AbortController().signal;

test('whatever is asked of it, the queue does what the simple model does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepArbitrary, { minLength: 1, maxLength: 60 }), async (steps) => {
      const model = new Model();
      const { clock, queue, work, end, running, started } = scene({ concurrency: () => model.concurrency });
      queue.start(work);
      for (const [index, step] of steps.entries()) {
        switch (step.type) {
          case 'add':
            queue.add(id(step.key), `reason ${index % 3}`, step.lane);
            model.want(id(step.key), 0, `reason ${index % 3}`, step.lane);
            break;
          case 'addAfter':
            queue.addAfter(id(step.key), step.ms, `reason ${index % 3}`, step.lane);
            model.want(id(step.key), step.ms, `reason ${index % 3}`, step.lane);
            break;
          case 'addRateLimited':
            queue.addRateLimited(id(step.key), 'retry');
            model.wantRateLimited(id(step.key), 'retry');
            break;
          case 'forget':
          case 'remove':
            queue[step.type](id(step.key));
            model[step.type](id(step.key));
            break;
          case 'alone':
            queue.alone(id(step.key), () => work(id(step.key), ['task']), never).catch(() => {});
            model.alone(id(step.key));
            break;
          case 'end': {
            const key = [...running.keys()][step.which];
            if (key === undefined) break;
            model.end(key, step.fails);
            await end(key, step.fails ? new Error('failed') : undefined);
            break;
          }
          case 'concurrency':
            model.concurrency = step.allowed;
            // Taken up with whatever happens next.
            queue.add(id('other'), 'poke');
            model.want(id('other'), 0, 'poke', 'change');
            break;
          case 'pass':
            await pass(clock, step.ms);
            model.pass(step.ms);
            break;
        }
        await settle();
        model.startWhatMay();
        expect(started).toEqual(model.started);
        expect(queue.running).toBe(model.runs.length);
        expect(queue.depth).toBe(model.waiting.filter((slot) => slot.dueMs <= model.nowMs).length);
        for (const key of [0, 1, 2, 3, 4, 5].map(id)) {
          const dueMs = model.nextDueMs(key);
          expect(queue.nextDueMs(key)).toBe(dueMs === undefined ? undefined : START_MS + dueMs);
        }
      }
    }),
    { numRuns: 150 },
  );
});
