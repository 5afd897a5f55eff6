import { expect, test } from 'vitest';
import { readRevision } from '../../src/cli/session/revision.ts';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { git, repository } from '../source/repositories.ts';
import { nestedTrees, treeOf } from './floods.ts';

const { limits: defaults } = defaultSettings().source;
const around = { clock: systemClock, env: { PATH: process.env.PATH }, signal: new AbortController().signal };

async function read(root: string, treeId: string, limits = defaults): Promise<string> {
  const commit = git(root, 'commit-tree', '-m', 'x', treeId);
  const policy = { signatures: { by: 'nobody' }, limits } as const;
  try {
    const { sources } = await readRevision(commit, [root], [], policy, around);
    return `${sources.files.length} files, ${sources.problems.map(({ code }) => code).join()}`;
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return `${error.code}: ${error.message} ${error.remedy}`;
  }
}

test.for([
  ['nine levels of twenty', 9, 20, 'a.txt', /^source\/too-large: The commit has more than 20000 folders/],
  ['ninety levels of two', 90, 2, 'a.yaml', /^source\/too-large: The commit has more than 20000 folders/],
  ['three levels of 100, and files', 3, 100, 'a.txt', /^source\/too-large: The commit has more than 200000 files/],
  ['a hundred levels of one', 100, 1, 'a.yaml', /^1 files, $/],
  ['a hundred and one levels', 101, 1, 'a.yaml', /^source\/too-large: .* nested more than 100 deep .*limits\.depth/],
  ['two hundred levels of two', 200, 2, 'a.yaml', /^source\/too-large: .* nested more than 100 deep/],
] as const)('a commit of small trees that unfold to %s', async ([, levels, width, leaf, said], context) => {
  const root = repository();
  context.expect(await read(root, nestedTrees(root, levels, width, leaf))).toMatch(said);
});

test('a chain of trees that each name all below is as deep as its longest path', async () => {
  const root = repository();
  const chain = [nestedTrees(root, 1, 1, 'a.yaml')];
  for (let level = 0; level < 150; level += 1)
    chain.push(treeOf(root, chain.map((id, at) => `040000 tree ${id}\t${String(at).padStart(4, '0')}`).toReversed()));
  expect(await read(root, chain.at(-1) as string)).toMatch(/^source\/too-large: /);
});

test('hidden folders and those with a skip marker do not count', async () => {
  const root = repository();
  const large = nestedTrees(root, 9, 20, 'a.txt');
  const [marker = ''] = git(root, 'ls-tree', nestedTrees(root, 1, 1, 'x')).split('\t');
  const skipped = treeOf(root, [`${marker}\t.portolan-skip`, `040000 tree ${large}\tlarge`]);
  const top = [`040000 tree ${large}\t.hidden`, `040000 tree ${skipped}\tskipped`, `${marker}\ta.yaml`];
  expect(await read(root, treeOf(root, top))).toBe('1 files, ');
});

test.for([
  ['folders', { ...defaults, folders: 3 }, 2],
  ['entries', { ...defaults, entries: 5 }, 2],
  ['depth', { ...defaults, depth: 2 }, 2],
] as const)('one more than limits.%s is refused, and the error names the setting', async ([name, limits, width]) => {
  const root = repository();
  // Three folders, two of them below the first, two entries in each of the three: six.
  const id = nestedTrees(root, 2, width, 'a.yaml');
  expect(await read(root, id, name === 'entries' ? { ...limits, entries: 6 } : limits)).toBe('4 files, ');
  const tight = { ...limits, [name]: limits[name] - (name === 'entries' ? 0 : 1) };
  expect(await read(root, id, tight)).toContain(`raise spec.source.limits.${name}`);
});
