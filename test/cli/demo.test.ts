import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runHere, runProcess } from './running.ts';
import { PushedClock } from './scene.ts';

test.for(['extended', 'documented'] as const)('the demo in the %s dialect shows what it promises', async (dialect) => {
  const args = ['demo', '--dialect', dialect, '--keep'];
  // One as a newcomer runs it, one without its waits.
  const run = dialect === 'extended' ? await runProcess(args) : await runHere(args, { clock: new PushedClock() });
  const folder = /ledger +(\S+)\/portolan\.db/.exec(run.out)?.[1] ?? '';
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  expect(run.code, run.out + run.err).toBe(0);
  const commands = [...run.out.matchAll(/^\$ portolan (\S+).*$/gm)].map((match) => match[1]);
  expect(commands).toEqual(['regions', 'apply', 'plan', 'plan', 'apply', 'status']);
  expect([...run.out.matchAll(/^exit code (\d+)$/gm)].map((match) => match[1])).toEqual(['0', '0', '0', '2', '0', '0']);
  expect(run.out).toContain('+ install 0a1b2c 8.0.36 from Store/main and build it  (new in git)');
  expect(run.out).toContain('Everything is in sync.');
  expect(run.out).toContain('No changes.');
  expect(run.out).toContain('"BY_HAND" → "RPC"  last applied: "RPC"');
  expect(run.out).toContain('(drift: changed on the platform)');
  expect(run.out).not.toMatch(/OutOfSync|Held|Unknown/);
  expect(existsSync(`${folder}/portolan.db`)).toBe(true);
  expect(readFileSync(`${folder}/portolan.db`).includes('demo-store-key')).toBe(false);
});

test('the demo shows the plan once, and leaves nothing behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-demo-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const run = await runHere(['demo'], { clock: new PushedClock(), temporaryFolder: folder });
  expect(run.code, run.out + run.err).toBe(0);
  expect(run.out.match(/\+ install 0a1b2c 8\.0\.36/g)).toHaveLength(1);
  expect(readdirSync(folder)).toEqual([]);
});
