import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runProcess, startProgram } from './running.ts';

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-demo-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function until<T>(found: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const value = await found();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('demo --dashboard serves a controller at which things happen, and removes everything after Ctrl-C', async () => {
  const folder = emptyFolder();
  const demo = startProgram(['demo', '--dashboard', '--every', '1s'], { env: { TMPDIR: folder } });
  onTestFinished(() => void demo.child.kill('SIGKILL'));
  const out = (): string => demo.outputSoFar().out;
  const url = await until(() => /open +(http:\S+)/.exec(out())?.[1]);
  const token = await until(() => /^ +([0-9a-f]{32})$/m.exec(out())?.[1]);
  // The address can be shared and is stored by browsers; the token is on the terminal only.
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const ask = async (path: string, headers = {}) => fetch(url + path, { headers });
  expect((await ask('/api/v1/status')).status).toBe(401);
  const read = async (path: string): Promise<unknown> => (await ask(path, { authorization: `Bearer ${token}` })).json();
  const seen = async (type: string) => {
    const { items } = (await read('/api/v1/events?limit=500')) as { items: { type: string }[] };
    return items.find((event) => event.type === type);
  };
  for (const type of ['apply.finished', 'drift.detected', 'action.in-doubt', 'application.failed'])
    await until(() => seen(type));
  const { platforms } = (await read('/api/v1/platform')) as { platforms: { recent: { requests: number } }[] };
  expect(platforms[0]?.recent.requests).toBeGreaterThan(20);
  const { counts } = (await read('/api/v1/status')) as { counts: { applications: number } };
  expect(counts.applications).toBe(12);
  for (const happening of [/commit [0-9a-f]{8} by Ann Berg/, /drift: /, /lost answer: /, /failing region: /])
    expect(out()).toMatch(happening);
  demo.child.kill('SIGINT');
  const { code, err } = await demo.ended;
  expect([code, err]).toEqual([0, 'demo ended; its files are removed\n']);
  expect(readdirSync(folder)).toEqual([]);
  await expect(ask('/healthz')).rejects.toThrow(/fetch failed/);
});

test('demo --dashboard removes everything when it is ended while it starts', async () => {
  const folder = emptyFolder();
  const demo = startProgram(['demo', '--dashboard'], { env: { TMPDIR: folder } });
  await until(() => (readdirSync(folder).length > 0 ? true : undefined));
  demo.child.kill('SIGTERM');
  expect((await demo.ended).code).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

test('demo --dashboard removes everything when it cannot start', async () => {
  const folder = emptyFolder();
  const { code, err } = await runProcess(['demo', '--dashboard'], { env: { TMPDIR: folder, PATH: folder } });
  expect(code).toBe(1);
  expect(err).toContain('Git cannot run init for the demo');
  expect(err).toContain('[demo/no-git]');
  expect(readdirSync(folder)).toEqual([]);
});

test('demo --dashboard keeps no files', async () => {
  const { code, err } = await runProcess(['demo', '--dashboard', '--keep']);
  expect(code).toBe(3);
  expect(err).toContain("'--dashboard' cannot be used with option '--keep'");
});
