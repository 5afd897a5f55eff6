import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figures.ts';
import { program, Running } from './processes.ts';

const SAMPLES = 20;
const examples = fileURLToPath(new URL('../../examples', import.meta.url));

/**
 * What a command costs before it does anything: `--help`, a completion, and a plan of `examples/` against a sandbox that
 * runs already, beside a Node that does nothing. Turn by turn, so that whatever else the machine does strikes all alike.
 */
export async function startup(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-startup-'));
  const sandbox = new Running(['sandbox', '--port', '0', '--token', 'startup-token']);
  try {
    const [, url = ''] = await sandbox.says(/(http:\/\/127\.0\.0\.1:\d+)/);
    return measure(folder, url);
  } finally {
    await sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function measure(folder: string, url: string): readonly Figure[] {
  const config = join(folder, 'portolan.yaml');
  writeFileSync(config, configurationOf(url));
  mkdirSync(join(folder, 'cache'));
  const manifests = ['shop', 'blog'].flatMap((name) => ['-f', join(examples, name)]);
  const plan = ['plan', ...manifests, '--config', config, '--ledger', join(folder, 'portolan.db')];
  const runs: readonly (readonly [name: string, args: readonly string[]])[] = [
    ['node -e 0', ['-e', '0']],
    ['portolan --help', [program(), '--help']],
    ['portolan __complete', [program(), '__complete', '--', 'plan', '--ta']],
    ['portolan plan of examples/', [program(), ...plan]],
  ];
  const env = { ...process.env, XDG_CACHE_HOME: join(folder, 'cache'), PORTOLAN_TOKEN: 'startup-token' };
  const samples = new Map<string, number[]>(runs.map(([name]) => [name, []]));
  // The first turn fills the cache of compiled code, as the first command after an installation does.
  for (let turn = 0; turn <= SAMPLES; turn += 1) {
    for (const [name, args] of runs) {
      const wallMs = wallMsOf(args, folder, env);
      if (turn > 0) samples.get(name)?.push(wallMs);
    }
  }
  const floor = samples.get('node -e 0') ?? [];
  const figure = (name: string, times: number): Figure => ({
    name,
    unit: 'ms',
    samples: samples.get(name) ?? [],
    floor,
    goal: { text: `at most ${times} × node -e 0`, isMet: ({ ratio }) => ratio !== undefined && ratio <= times },
  });
  return [
    { name: 'node -e 0', unit: 'ms', samples: floor },
    figure('portolan --help', 2),
    {
      ...figure('portolan __complete', 0),
      goal: {
        text: 'at most 100 ms longer than node -e 0',
        isMet: ({ median, ratio = 0 }) => median - median / ratio <= 100,
      },
    },
    figure('portolan plan of examples/', 8),
  ];
}

/** @throws Error when it ends with anything but 0. */
function wallMsOf(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): number {
  const startedMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const wallMs = performance.now() - startedMs;
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}:\n${stderr.toString()}`);
  return wallMs;
}

function configurationOf(url: string): string {
  return `apiVersion: portolan/v1
kind: Platform
metadata: { name: default }
spec:
  url: ${url}
  auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }
---
apiVersion: portolan/v1
kind: Store
metadata: { name: main }
spec: { url: "https://store.example.com", domain: market-1, type: rainstore, accessKey: { env: PORTOLAN_TOKEN } }
`;
}
