import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { loadSaved, type LoadedSaved, saveSource, restoreSource } from '../../src/controller/saved-source.ts';
import type { LedgerTransaction } from '../../src/ledger/ledger.ts';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import type { SourceFile } from '../../src/manifest/text.ts';
import type { Contents } from '../../src/source/contents.ts';
import { Packer, unpack } from '../../src/source/packing.ts';
import { heldContents, LocalWorkbench } from '../../src/source/workbench.ts';
import { applications, CONTEXT } from '../source/threads.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

test('whatever was kept before, what is kept now comes back byte by byte', async () => {
  const file = fc.record({
    path: fc.integer({ min: 0, max: 150 }).map((number) => `folder/${number}.yaml`),
    content: fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    isNamed: fc.boolean(),
  });
  const sourceFiles = fc
    .uniqueArray(file, { selector: ({ path }) => path, maxLength: 120, size: 'max' })
    .map((files): readonly SourceFile[] =>
      files.map(({ path, content, isNamed }) =>
        isNamed ? { path, content, contentId: `id:${content.toString('hex')}` } : { path, content },
      ),
    );
  // Other files, or other contents of some of those that are there; by a process that has just begun, or not.
  const step = fc.record({
    files: fc.option(sourceFiles, { nil: undefined }),
    changed: fc.array(fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 8 })), { maxLength: 4 }),
    isRestarted: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(sourceFiles, fc.array(step, { maxLength: 6 }), async (first, steps) => {
      const { sourceLedger } = kept();
      expect(await restoreSource(sourceLedger)).toBeUndefined();
      let packer = new Packer();
      let files = first;
      for (const [number, { files: others, changed, isRestarted }] of [NOTHING, ...steps].entries()) {
        files = others ?? files;
        for (const [at, bytes] of changed) {
          const old = files[at % Math.max(1, files.length)];
          const content = Buffer.from(bytes);
          const contentId = `id:${content.toString('hex')}`;
          if (old !== undefined) files = files.with(files.indexOf(old), { path: old.path, content, contentId });
        }
        if (isRestarted) packer = new Packer();
        await saveSource(sourceLedger, { snapshot: `s${number}`, revision: `r${number}` }, contentsOf(files, packer));
        const { files: restored, ...rest } = await allOf(sourceLedger);
        expect(rest).toEqual({ snapshot: `s${number}`, revision: `r${number}` });
        expect(restored.toSorted(byPath)).toEqual(files.toSorted(byPath));
      }
    }),
    { numRuns: 50 },
  );
});

const NOTHING = { files: undefined, changed: [], isRestarted: false };

test('one changed file of a thousand is written with a few others', async () => {
  const { sourceLedger, commits } = kept();
  const files = Array.from({ length: 1_000 }, (_, number) => ({
    path: `team-${number % 20}/app-${number}/application.yaml`,
    content: Buffer.from(`name: ${number}`),
    contentId: `${number}`,
  }));
  const packer = new Packer();
  await saveSource(sourceLedger, { snapshot: 's1', revision: 'r1' }, contentsOf(files, packer));
  expect(commits.at(-1)?.operations).toHaveLength(33);
  const changed = files.with(500, { ...(files[500] as (typeof files)[0]), contentId: 'another' });
  await saveSource(sourceLedger, { snapshot: 's2', revision: 'r2' }, contentsOf(changed, packer));
  expect(commits.at(-1)?.operations).toHaveLength(2);
});

test('what an earlier build kept is no ground to go on from, nor to stop', async () => {
  const { sourceLedger } = kept();
  const operations = [{ op: 'set-fact', key: 'files default', value: 'H4sIAAAAAAAAA4uOBQApu0wNAgAAAA==' }] as const;
  await sourceLedger.ledger.commit({ scope: 'source:default', actor: 'test', atMs: 1_000, operations });
  expect(await restoreSource(sourceLedger)).toBeUndefined();
  const files = [{ path: 'a.yaml', content: Buffer.from('a') }];
  await saveSource(sourceLedger, { snapshot: 's', revision: 'r' }, contentsOf(files, new Packer()));
  expect(await allOf(sourceLedger)).toEqual({ snapshot: 's', revision: 'r', files });
});

const manifests = (count: number, team?: string, end = ''): readonly SourceFile[] =>
  Object.entries(applications(count, team)).map(([path, text]) => ({ path, content: Buffer.from(`${text}${end}`) }));
const FORMER = manifests(40);
const laterRevisions: readonly (readonly [string, readonly SourceFile[]])[] = [
  ['changes every part', manifests(40, 'u')],
  ['changes one part', manifests(40).with(20, manifests(21, 'u')[20] as SourceFile)],
  ['has fewer parts', manifests(1)],
  ['has more parts', manifests(80)],
  ['has other files with the same meaning', manifests(40, 't', '# a comment\n')],
];

test.for(laterRevisions)('a revision that %s is noticed, whenever it is saved', async ([, later]) => {
  const types = new Set<LoadedSaved['type']>();
  // One read of the index before and after those of the two parts.
  const steps = 4;
  for (let step = 0; step <= steps; step += 1) {
    const { sourceLedger } = kept();
    await save(sourceLedger, 's1', FORMER);
    let reads = 0;
    const { ledger } = sourceLedger;
    const fact = ledger.fact.bind(ledger);
    ledger.fact = async (key) => {
      reads += 1;
      if (reads === step + 1) {
        reads = Number.POSITIVE_INFINITY;
        await save(sourceLedger, 's2', later);
      }
      return fact(key);
    };
    const saved = await restoreSource(sourceLedger);
    if (saved === undefined) throw new Error('nothing was saved');
    const loaded = await loadSaved(loading, saved);
    types.add(loaded.type);
    const isWhole = step === 0 || step === steps;
    const { desired } = await contentsOf(step === 0 ? later : FORMER, new Packer()).load(CONTEXT);
    expect(loaded, `step ${step}`).toEqual(isWhole ? { type: 'loaded', desired } : { type: 'outdated' });
  }
  expect(types).toEqual(new Set(['loaded', 'outdated']));
});

test.for(['', 'H4sIAAAAAAAAA4uOBQ'])('a part that is %j is reported with a remedy', async (value) => {
  const { sourceLedger } = kept();
  await save(sourceLedger, 's1', FORMER);
  const operations = [{ op: 'set-fact', key: 'files-1 default', value }] as const;
  await sourceLedger.ledger.commit({ scope: 'source:default', actor: 'test', atMs: 1_000, operations });
  const saved = await restoreSource(sourceLedger);
  if (saved === undefined) throw new Error('nothing was saved');
  expect(await loadSaved(loading, saved)).toMatchObject({ type: 'failed', error: { code: 'source/saved-damaged' } });
});

const loading = {
  options: {
    workbench: new LocalWorkbench({
      kinds: kindDeclarations,
      clock: new VirtualClock(),
      path: undefined,
      limits: () => defaultSettings().source.limits,
    }),
  },
  configuration: CONTEXT,
};

async function save(
  sourceLedger: Parameters<typeof restoreSource>[0],
  revision: string,
  files: readonly SourceFile[],
): Promise<void> {
  const contents = contentsOf(files, new Packer());
  const { snapshot } = await contents.load(CONTEXT);
  await saveSource(sourceLedger, { snapshot, revision }, contents);
}

function contentsOf(files: readonly SourceFile[], packer: Packer): Contents {
  return heldContents({ kinds: kindDeclarations, files }, packer);
}

async function allOf(sourceLedger: Parameters<typeof restoreSource>[0]) {
  const kept = await restoreSource(sourceLedger);
  if (kept === undefined) throw new Error('nothing was kept');
  const files: SourceFile[] = [];
  for await (const text of kept.parts()) {
    // ASCII comes back as text, with the same bytes.
    for (const file of unpack(text)) files.push({ ...file, content: Buffer.from(file.content) });
  }
  return { snapshot: kept.snapshot, revision: kept.revision, files };
}

function kept() {
  const ledger = openMemoryLedger(new MemoryStore('kept'));
  const commits: LedgerTransaction[] = [];
  const commit = ledger.commit.bind(ledger);
  ledger.commit = async (transaction) => {
    commits.push(transaction);
    await commit(transaction);
  };
  return { sourceLedger: { ledger, clock: new VirtualClock(), source: 'default', actor: 'test' }, commits };
}

function byPath(left: SourceFile, right: SourceFile): number {
  return left.path < right.path ? -1 : 1;
}
