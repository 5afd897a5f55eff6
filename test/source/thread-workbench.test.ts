import { performance } from 'node:perf_hooks';
import { expect, onTestFinished, test } from 'vitest';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { inputOutput } from '../../src/ledger/errors.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { OpenThread } from '../../src/runtime/thread.ts';
import { Packer } from '../../src/source/packing.ts';
import { sourceFailure } from '../../src/source/thread-failures.ts';
import { ThreadWorkbench } from '../../src/source/thread-workbench.ts';
import { LocalWorkbench } from '../../src/source/workbench.ts';
import { faultyFlood, LENIENT, largeFiles, memoryBomb, treeBomb } from '../redteam/floods.ts';
import { commit, repository } from './repositories.ts';
import { applications, Bench, CONTEXT, openRealThread, placeOf } from './threads.ts';

test('what a thread reads is what this thread reads', async () => {
  const root = repository(applications(300));
  const bench = new Bench();
  const place = placeOf(root);
  const { contents, ...facts } = await bench.workbench.commit(place, 'main');
  const loaded = await contents.load(CONTEXT);
  const local = new LocalWorkbench({
    kinds: kindDeclarations,
    clock: systemClock,
    path: process.env['PATH'],
    limits: () => bench.limits,
  });
  const { contents: ofLocal, ...localFacts } = await local.commit(place);
  const expected = await ofLocal.load(CONTEXT);
  await local.close();
  expect(facts).toEqual(localFacts);
  expect(loaded.snapshot).toBe(expected.snapshot);
  expect([...loaded.desired]).toEqual([...expected.desired]);
  const { spec, labels } = loaded.desired.get('Application/app-7') as { spec: object; labels: object };
  expect('hasOwnProperty' in spec || 'valueOf' in labels).toBe(false);
  const packed = await contents.pack([]);
  expect(packed.digests).toEqual((await ofLocal.pack([])).digests);
});

test('a commit that changes one file brings one other resource, and a commit that removes one the same others', async () => {
  const root = repository(applications(50));
  const bench = new Bench();
  const load = async () => (await bench.workbench.commit(placeOf(root), 'main')).contents.load(CONTEXT);
  const first = await load();
  commit(root, { 'a/7.yaml': applications(8, 'u')['a/7.yaml'] ?? '' });
  const second = await load();
  const changed = [...second.desired.values()].filter((resource) => first.desired.get(resource.id) !== resource);
  expect(changed.map(({ id }) => id)).toEqual(['Application/app-7']);
  commit(root, { 'a/9.yaml': undefined });
  const third = await load();
  expect(third.desired.size).toBe(49);
  expect([...third.desired.values()].every((resource) => second.desired.get(resource.id) === resource)).toBe(true);
  expect(bench.threads).toBe(1);
});

test('the event loop rests while a thread goes through a flood of faulty files, and gets a bounded number of faults', async () => {
  const root = repository(Object.fromEntries(faultyFlood()));
  const { contents } = await new Bench().workbench.commit(placeOf(root), 'main');
  const before = performance.eventLoopUtilization();
  const { problems } = await contents.load(CONTEXT);
  const { utilization } = performance.eventLoopUtilization(before);
  expect(utilization).toBeLessThan(0.5);
  expect(problems.length).toBeLessThanOrEqual(1_001);
  expect(problems.at(-1)?.message).toMatch(/[0-9]+ files from this one on were not read$/);
  expect(JSON.stringify(problems).length).toBeLessThan(1_000_000);
});

test('more documents than their limit are a fault, shown at the first one beyond it', async () => {
  const root = repository(applications(4));
  const bench = new Bench({ documents: 3 });
  const load = async () => (await bench.workbench.commit(placeOf(root), 'main')).contents.load(CONTEXT);
  const { desired, problems } = await load();
  expect(desired.size).toBe(0);
  expect(problems).toMatchObject([{ code: 'limit/documents', expected: 'at most 3', position: { line: 1 } }]);
  expect(problems[0]?.position.file).toMatch(/\/a\/3\.yaml$/);
  // The daemon's log and status show the message alone.
  expect(problems[0]?.message).toContain('4 documents, more than spec.source.limits.documents of Settings allows (3)');
  bench.limits = { ...bench.limits, documents: 4 };
  expect((await load()).desired.size).toBe(4);
});

test('a tree bomb is rejected in the smallest heap there is', async () => {
  const root = repository({ 'a.yaml': '' });
  const bench = new Bench({ heapMib: 32 });
  expect(await bench.ends(root, treeBomb(root))).toBe('source/too-large');
  expect(await bench.ends(root)).toBe('0 resources');
  expect(bench.threads).toBe(1);
});

test('a commit that exceeds the heap ends its thread and is remembered; other commits are read', async () => {
  const root = repository(applications(3));
  const bench = new Bench({ heapMib: 32, ...LENIENT });
  expect(await bench.ends(root)).toBe('3 resources');
  const large = memoryBomb(root);
  expect(await bench.ends(root, large)).toBe('source/out-of-memory');
  expect(bench.threads).toBe(1);
  expect(await bench.ends(root, large), 'remembered').toBe('source/out-of-memory');
  expect(bench.threads, 'no thread is started for it').toBe(1);
  expect(await bench.ends(root), 'another commit').toBe('3 resources');
  await bench.restart();
  expect(await bench.ends(root, large), 'after a restart').toBe('source/out-of-memory');
  expect(bench.threads).toBe(2);
});

/** Its deadlines pass at once. */
const hastyClock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === 120_000 ? 0 : ms, signal),
};

const changes: readonly (readonly [string, (bench: Bench) => Promise<void> | void])[] = [
  ['somebody asks for it', async (bench) => expect(await bench.workbench.forgetFailures()).toBe(true)],
  ['a limit changed', (bench) => void (bench.limits = { ...bench.limits, heapMib: 200 })],
  ['another version was started', (bench) => void (bench.version = '1.0.1')],
];

test.for(changes)('a commit that took too long is read again when %s', async ([, change]) => {
  const root = repository(applications(3));
  const bench = new Bench({}, hastyClock);
  expect(await bench.ends(root)).toBe('source/too-slow');
  expect(await bench.ends(root)).toBe('source/too-slow');
  await bench.restart();
  expect(await bench.ends(root)).toBe('source/too-slow');
  expect(bench.threads).toBe(1);
  await change(bench);
  await bench.restart();
  expect(await bench.ends(root)).toBe('source/too-slow');
  expect(bench.threads).toBe(2);
});

test('closing breaks off what is read, and hands out what was read', async () => {
  const root = repository(largeFiles(60));
  const bench = new Bench();
  const reading = bench.ends(root);
  await bench.workbench.close();
  expect(await reading).toBe('source/interrupted');
});

test('parts whose reading failed are not in what is unpacked next', async () => {
  const files = Object.entries(applications(100)).map(([path, content]) => ({ path, content: Buffer.from(content) }));
  const parts = await Array.fromAsync(new Packer().pack(files, []).parts, ({ text }) => text);
  const failing = async function* (): AsyncGenerator<string> {
    yield* parts.slice(0, 2);
    throw inputOutput('postgres', new Error('ECONNRESET'));
  };
  const bench = new Bench();
  const unpacked = async (read: () => Iterable<string> | AsyncIterable<string>) => {
    const contents = await bench.workbench.unpack(read);
    const { desired, problems } = await contents.load(CONTEXT);
    return { resources: desired.size, problems };
  };
  await expect(unpacked(failing)).rejects.toMatchObject({ code: 'ledger/io' });
  expect(await unpacked(() => [])).toEqual({ resources: 0, problems: [] });
  const all = await Promise.allSettled([unpacked(failing), unpacked(() => parts), unpacked(() => parts)]);
  const whole = { status: 'fulfilled', value: { resources: 100, problems: [] } };
  expect(all).toMatchObject([{ status: 'rejected', reason: { code: 'ledger/io' } }, whole, whole]);
  expect(bench.threads).toBe(1);
});

test('a thread that is ended for one client serves no other', async () => {
  const files = Object.entries(applications(1)).map(([path, content]) => ({ path, content }));
  const leaving = new AbortController();
  const limits = defaultSettings().source.limits;
  const openThread: OpenThread = async (heap) => {
    const thread = await openRealThread(heap);
    // The client leaves when its answer arrives: the thread is still ending when the next task starts.
    thread.onMessage(() => leaving.abort(new Error('the client left')));
    return thread;
  };
  const workbench = new ThreadWorkbench({
    openThread,
    clock: systemClock,
    limits: () => limits,
    failure: sourceFailure(() => limits),
  });
  onTestFinished(() => workbench.close());
  const [first, second] = await Promise.allSettled([
    workbench.files(files, leaving.signal),
    workbench.files(files).then((contents) => contents.load(CONTEXT)),
  ]);
  expect(first.status).toBe('fulfilled');
  expect(second).toMatchObject({ status: 'fulfilled', value: { problems: [] } });
});
