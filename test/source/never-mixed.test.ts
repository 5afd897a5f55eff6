import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seededRandom } from '../support/virtual-clock.ts';
import { contentsOf, type Listening, listen, textOf } from './feeds.ts';
import { follow, remote } from './remotes.ts';
import { commit, git, repository, write } from './repositories.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Every commit has the same number in all of its files; whatever is told must be one of them, whole. */
const filesOf = (n: number) => Object.fromEntries(['a', 'b/c', 'b/d/e', 'f'].map((name) => [`${name}.yaml`, `${n}`]));

/** What was told that no commit has. */
function lies({ told }: Listening, numbers: ReadonlyMap<string, number>): readonly string[] {
  return told.flatMap((state) => {
    if (state.type === 'failed') return [];
    const { commit: at } = state.reading;
    const { files, problems } = contentsOf(state.reading);
    const number = numbers.get(at?.id ?? '');
    const said = files.map(({ content }) => textOf(content));
    const isWhole = said.length === 4 && problems.length === 0 && said.every((text) => text === `${number}`);
    return isWhole ? [] : [`${state.reading.revision} (${number}): ${said.join(' ')}`];
  });
}

/** Does one thing after another to a repository; the work tree is never clean for long. */
async function restless(root: string, seed: number, steps: number, numbers: Map<string, number>): Promise<void> {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T;
  for (let n = 1; n <= steps; n += 1) {
    const known = [...numbers.keys()];
    const step = pick(['commit', 'commit', 'amend', 'reset', 'orphan', 'switch', 'pack', 'dirt', 'rebase'] as const);
    if (step === 'commit' || step === 'rebase') numbers.set(commit(root, filesOf(n)), n);
    if (step === 'rebase') {
      git(root, 'commit', '--quiet', '--amend', '--allow-empty', '--message', `again ${n}`);
      numbers.set(git(root, 'rev-parse', 'HEAD'), n);
    }
    if (step === 'amend') {
      for (const [path, content] of Object.entries(filesOf(n))) write(root, path, content);
      git(root, 'commit', '--quiet', '--all', '--amend', '--message', `amended ${n}`);
      numbers.set(git(root, 'rev-parse', 'HEAD'), n);
    }
    if (step === 'reset') git(root, 'reset', '--quiet', '--hard', pick(known));
    if (step === 'orphan') {
      git(root, 'checkout', '--quiet', '--force', '--orphan', `orphan-${n}`);
      numbers.set(commit(root, filesOf(n)), n);
    }
    if (step === 'switch') git(root, 'checkout', '--quiet', '--force', '-B', `branch-${n}`, pick(known));
    if (step === 'pack')
      git(
        root,
        ...pick([
          ['pack-refs', '--all'],
          ['repack', '-adq'],
          ['gc', '--quiet'],
        ]),
      );
    if (step === 'dirt') {
      write(root, 'a.yaml', 'half written');
      git(root, 'add', 'a.yaml');
    }
    await pause(random.next() * 25);
  }
}

test.for([1, 2])('a restless checkout is only ever told as one of its commits (%i)', async (seed) => {
  const root = repository(filesOf(0));
  const numbers = new Map([[git(root, 'rev-parse', 'HEAD'), 0]]);
  const listening = listen([root], { settings: { debounceMs: 5 } });
  await restless(root, seed, 40, numbers);
  const last = git(root, 'rev-parse', 'HEAD');
  await expect.poll(() => listening.told.at(-1)).toMatchObject({ reading: { commit: { id: last } } });
  expect(lies(listening, numbers)).toEqual([]);
  // On a busy machine one reading covers many steps.
  expect(listening.told.length).toBeGreaterThan(1);
  // A branch that has no commit yet is the only thing that may fail.
  const failures = listening.told.flatMap((state) => (state.type === 'failed' ? [state.error.code] : []));
  expect([...new Set(failures)].filter((code) => code !== 'source/unknown-revision')).toEqual([]);
});

test('a link that flips all the time leads to one worktree or another, whole', async () => {
  const root = repository(filesOf(0));
  const numbers = new Map([[git(root, 'rev-parse', 'HEAD'), 0]]);
  const flip = (n: number): void => {
    git(root, 'worktree', 'add', '--quiet', '--detach', join(root, '.trees', `${n}`));
    symlinkSync(join('.trees', `${n}`), join(root, '.next'));
    renameSync(join(root, '.next'), join(root, '.current'));
    if (n === 0) return;
    rmSync(join(root, '.trees', `${n - 1}`), { recursive: true });
    git(root, 'worktree', 'prune');
  };
  write(root, '.gitignore', '/.trees\n/.current\n');
  flip(0);
  const listening = listen([join(root, '.current')], { settings: { debounceMs: 5 } });
  for (let n = 1; n <= 15; n += 1) {
    numbers.set(commit(root, filesOf(n)), n);
    flip(n);
    await pause((n % 4) * 10);
  }
  const last = git(root, 'rev-parse', 'HEAD');
  await expect.poll(() => listening.told.at(-1)).toMatchObject({ reading: { commit: { id: last } } });
  expect(lies(listening, numbers)).toEqual([]);
  expect(listening.told.filter(({ type }) => type === 'failed')).toEqual([]);
});

test('a remote that is pushed to by force is only ever told as one of its commits', async () => {
  const { bare, work } = remote(filesOf(0));
  const first = git(work, 'rev-parse', 'HEAD');
  const numbers = new Map([[first, 0]]);
  const listening = follow({ url: `file://${bare}`, ref: 'main' });
  await listening.next();
  for (let n = 1; n <= 12; n += 1) {
    if (n % 3 === 0) git(work, 'reset', '--quiet', '--hard', first);
    numbers.set(commit(work, filesOf(n)), n);
    git(work, 'push', '--quiet', '--force', 'origin', 'HEAD:main');
    listening.feed.poke();
    if (n % 5 === 0) execFileSync('git', ['-C', bare, 'gc', '--quiet']);
  }
  const last = git(work, 'rev-parse', 'HEAD');
  listening.feed.poke();
  await expect.poll(() => listening.told.at(-1)).toMatchObject({ reading: { commit: { id: last } } });
  expect(lies(listening, numbers)).toEqual([]);
  expect(listening.told.filter(({ type }) => type === 'failed')).toEqual([]);
});
