import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runHere } from './running.ts';

const APPLICATION =
  'apiVersion: portolan/v1\nkind: Application\nmetadata: { name: a }\nspec: { team: t, region: r, app: a }\n';

test('memory is spared from 12,000 files on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-memory-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'a.yaml'), APPLICATION);
  for (let file = 1; file < 11_999; file += 1) writeFileSync(join(folder, `${file}.yaml`), '');
  let spared = 0;
  const validate = () => runHere(['validate', '-f', folder], { spareMemory: () => (spared += 1) });
  expect([(await validate()).code, spared]).toEqual([0, 0]);
  writeFileSync(join(folder, 'one-more.yaml'), '');
  expect([(await validate()).code, spared]).toEqual([0, 1]);
});
