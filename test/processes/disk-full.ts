import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verifySqliteLedger } from '../../src/ledger/verify.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { SANDBOX_TOKEN, startSandbox } from '../../src/sandbox/server.ts';
import { builtProgram } from '../support/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface FullDisk {
  readonly limitKib: number;
  /** Exit codes of the run under the limit, and of the one without it. */
  readonly limited: number;
  readonly free: number;
  /** Words of the run under the limit. */
  readonly said: string;
  readonly writesLimited: number;
  readonly installs: readonly string[];
  readonly rules: readonly string[];
  readonly findings: readonly string[];
}

/** Applies the shop example while no file may grow beyond a size, as on a disk that runs full, and then without limit. */
export async function applyOnFullDisk(limitKib: number): Promise<FullDisk> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-full-'));
  const sandbox = await startSandbox({ clock: systemClock, random: systemRandom });
  try {
    cpSync(join(root, 'examples', 'shop'), join(folder, 'shop'), { recursive: true });
    const example = readFileSync(join(root, 'examples', 'portolan.yaml'), 'utf8').replace(
      'http://127.0.0.1:7070',
      sandbox.url,
    );
    const settle = 'spec:\n  settle: { targetState: 1s, creation: 1s, install: 1s }\n  scopes:';
    writeFileSync(join(folder, 'portolan.yaml'), example.replace(/spec:\n {2}scopes:/, settle));
    const limited = await run(folder, `ulimit -f ${limitKib}; exec`);
    const writesLimited = sandbox.requests().filter((request) => request.isWrite).length;
    const free = await run(folder, 'exec');
    return {
      limitKib,
      limited: limited.code,
      free: free.code,
      said: limited.said,
      writesLimited,
      installs: [...sandbox.state.installs.all()].map((row) => row.modelId),
      rules: [...sandbox.state.rules.all()].map((row) => `${row.domain}${row.path}`),
      findings: verifySqliteLedger(join(folder, 'portolan.db')).map((finding) => finding.message),
    };
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(cwd: string, prefix: string): Promise<{ code: number; said: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(
    'bash',
    ['-c', `${prefix} "$0" "$@"`, process.execPath, builtProgram(), 'apply', '--yes', '--wait', '-f', 'shop'],
    {
      cwd,
      env: { PATH, HOME, PORTOLAN_TOKEN: SANDBOX_TOKEN, STORE_ACCESS_KEY: 'full-disk-key' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
    });
  }
  return new Promise((resolve) => {
    child.on('close', (code, signal) =>
      resolve({ code: code ?? -1, said: signal === null ? said : `${said}\nended by ${signal}` }),
    );
  });
}
