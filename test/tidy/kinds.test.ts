import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The program's code, without kinds and the sandbox, by path. */
const files = globSync('src/**/*.ts')
  .filter((path) => !path.startsWith('src/sandbox/'))
  .map((path) => [path, readFileSync(path, 'utf8')] as const);

/** `Application` is the anchor of all kinds, and may be named. */
const KINDS: readonly string[] = ['Component', 'HttpGatewayRule', 'StoreInstall'];
const FOLDERS = /^src\/kinds\/(?:component|http-gateway-rule|store-install)\//;

test('no code names a kind outside of the folders of kinds', () => {
  const found = files.flatMap(([path, text]) => {
    const count = FOLDERS.test(path) ? 0 : KINDS.reduce((sum, kind) => sum + text.split(`'${kind}'`).length - 1, 0);
    return count === 0 ? [] : [[path, count] as const];
  });
  expect(found).toEqual([]);
});

test('kinds are passed in: only what starts the program imports them all', () => {
  const importers = files.flatMap(([path, text]) =>
    /(?:kinds\/registry|configuration\/declarations)\.ts'/.test(text) ? [path] : [],
  );
  expect(importers.sort()).toEqual(['src/main.ts', 'src/worker.ts']);
});

test('no test puts another registry in the place of the real one', () => {
  const mocking = globSync('test/**/*.ts').filter((path) =>
    /^vi\.mock\([^)]*kinds\//m.test(readFileSync(path, 'utf8')),
  );
  expect(mocking).toEqual([]);
});
