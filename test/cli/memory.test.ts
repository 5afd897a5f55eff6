import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runHere } from './running.ts';

const APPLICATION =
  'apiVersion: portolan/v1\nkind: Application\nmetadata: { name: a }\nspec: { team: t, region: r, app: a }\n';

test.for([
  ['few', 20, 0],
  ['very many', 12_000, 1],
] as const)('%s files: memory is spared where they are very many', { timeout: 60_000 }, async ([, count, times]) => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-memory-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'a.yaml'), APPLICATION);
  for (let file = 1; file < count; file += 1) writeFileSync(join(folder, `${file}.yaml`), '');
  let spared = 0;
  const run = await runHere(['validate', '-f', folder], { spareMemory: () => (spared += 1) });
  expect([run.code, spared], run.err).toEqual([0, times]);
});
