import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The program's code, without kinds and the sandbox, by path. */
const files = globSync('src/**/*.ts')
  .filter((path) => !path.startsWith('src/sandbox/'))
  .map((path) => [path, readFileSync(path, 'utf8')] as const);

/** `Application` is the anchor of all kinds, and may be named. */
const KINDS: readonly string[] = ['Component', 'HttpGatewayRule', 'StoreInstall'];
const FOLDERS = /^src\/kinds\/(?:component|http-gateway-rule|store-install)\//;

/** Files that still name a kind, each with how often. Take out what you correct, and add nothing. */
const STILL: Readonly<Record<string, number>> = {
  'src/cli/conformance/install-workflows.ts': 3,
  'src/cli/conformance/lost.ts': 1,
  'src/cli/conformance/port-workflows.ts': 2,
  'src/cli/conformance/rule-workflows.ts': 1,
  'src/cli/conformance/scene.ts': 2,
  'src/cli/export-targets.ts': 1,
  'src/cli/ledger/forget.ts': 1,
  'src/cli/saved/save.ts': 1,
  'src/cli/server/tree.ts': 4,
  'src/cli/tree/application.ts': 7,
  'src/cli/tree/inventory.ts': 2,
  'src/controller/health-look.ts': 1,
  'src/kinds/application/health-spec.ts': 1,
  'src/ledger/migrations.ts': 1,
  'src/ledger/rule-keys.ts': 1,
  'src/manifest/export.ts': 1,
  'src/reconcile/books-by-hand.ts': 2,
  'src/reconcile/books.ts': 1,
  'src/reconcile/observation.ts': 1,
  'src/reconcile/withdrawn.ts': 4,
};

test('no code names a kind outside of the folders of kinds', () => {
  const found = files.flatMap(([path, text]) => {
    const count = FOLDERS.test(path) ? 0 : KINDS.reduce((sum, kind) => sum + text.split(`'${kind}'`).length - 1, 0);
    return count === 0 ? [] : [[path, count] as const];
  });
  expect(Object.fromEntries(found)).toEqual(STILL);
});

test('kinds are passed in: only what starts the program imports them all', () => {
  const importers = files.flatMap(([path, text]) =>
    /kinds\/(?:registry|declarations)\.ts'/.test(text) && !path.startsWith('src/kinds/') ? [path] : [],
  );
  expect(importers.sort()).toEqual(['src/main.ts', 'src/worker.ts']);
});

test('no test puts another registry in the place of the real one', () => {
  const mocking = globSync('test/**/*.ts').filter((path) =>
    /^vi\.mock\([^)]*kinds\//m.test(readFileSync(path, 'utf8')),
  );
  expect(mocking).toEqual([]);
});
