import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A container engine of this machine: both take the same commands. */
export type Engine = 'podman' | 'docker';

export const IMAGE = 'portolan:test';

/** Returns the first engine that is installed and answers. */
export function installedEngine(): Engine | undefined {
  return (['podman', 'docker'] as const).find(
    (engine) => spawnSync(engine, ['info'], { stdio: 'ignore', timeout: 60_000 }).status === 0,
  );
}

/** @returns what the engine printed, `logs` of both streams. @throws with everything it said. */
export function run(engine: Engine, ...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(engine, words, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`${engine} ${words.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`);
  return (words[0] === 'logs' ? stdout + stderr : stdout).trim();
}

/** Builds the image from a base that the registry gives, or else from one that is put together here. */
export function buildImage(engine: Engine, base: string): void {
  const succeeds = (...words: readonly string[]): boolean => spawnSync(engine, words, { stdio: 'ignore' }).status === 0;
  if (!succeeds('image', 'inspect', base) && !succeeds('pull', base)) importBase(engine, base);
  // Only this format of podman keeps the health check, and its builder needs no network device of its own this way.
  const own = engine === 'podman' ? ['--format', 'docker', '--isolation', 'chroot', '--pull=never'] : [];
  run(engine, 'build', '--network', 'host', ...own, '--tag', IMAGE, '.');
}

/** Debian from its packages, the pinned Node, npm, and the authorities that this machine trusts. */
function importBase(engine: Engine, base: string): void {
  const root = mkdtempSync(join(tmpdir(), 'portolan-base-'));
  try {
    execFileSync('debootstrap', ['--variant=minbase', 'bookworm', root], { stdio: 'ignore' });
    cpSync(process.execPath, join(root, 'usr/local/bin/node'));
    execFileSync('npm', ['install', '--global', '--prefix', join(root, 'usr/local'), 'npm'], { stdio: 'ignore' });
    execFileSync('chroot', [root, 'useradd', '--uid', '1000', '--user-group', '--create-home', 'node']);
    const authorities = '/etc/ssl/certs/ca-certificates.crt';
    mkdirSync(join(root, dirname(authorities)), { recursive: true });
    cpSync(authorities, join(root, authorities));
    const archive = execFileSync('tar', ['--directory', root, '--create', '.'], { maxBuffer: 2 ** 30 });
    execFileSync(engine, ['import', '--change', `ENV NODE_EXTRA_CA_CERTS=${authorities}`, '-', base], {
      input: archive,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
