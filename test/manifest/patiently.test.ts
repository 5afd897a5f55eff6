import { expect, test } from 'vitest';
import { loadManifests, loadManifestsPatiently } from '../../src/manifest/load.ts';

const application = (name: string) =>
  `apiVersion: portolan/v1\nkind: Application\nmetadata: { name: ${name} }\nspec: { team: t, region: r, appId: ${name.length} }\n`;

test.for([
  ['good', { 'b.yaml': application('b'), 'a.yaml': application('aa') }],
  ['bad', { 'b.yaml': application('b'), 'a.yaml': 'kind: [', 'c.yaml': application('b') }],
  ['with variables', { 'a.yaml': application('${NAME}') }],
  ['none', {}],
] as const)('what is read patiently is what is read at once: %s', async ([, texts]) => {
  const files = Object.entries(texts).map(([path, content]) => ({ path, content }));
  const input = { files, variables: new Map([['NAME', 'shop']]) };
  let pauses = 0;
  const patient = await loadManifestsPatiently(input, async () => {
    pauses += 1;
  });
  expect(patient).toEqual(loadManifests(input));
  expect(pauses).toBe(files.length + 1);
});

test('it can be broken off between two files', async () => {
  const files = ['a', 'b', 'c'].map((name) => ({ path: name, content: application(name) }));
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses += 1;
    if (pauses === 2) throw new Error('the client is gone');
  };
  await expect(loadManifestsPatiently({ files }, pause)).rejects.toThrow('the client is gone');
});
