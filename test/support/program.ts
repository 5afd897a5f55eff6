import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HANG_MS } from './hang.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Builds of other sources stay this long: another run of the tests may still start them. */
const KEPT_MS = 3_600_000;
const WAIT_MS = 50;

/** The program as its source: what `npm run portolan` starts. It costs four times the processor time of the built one. */
export const sourceProgram = join(root, 'src', 'main.ts');

let built: string | undefined;

/**
 * Returns the file of the program as it is shipped, for tests that start processes. It is built once for each state of
 * the sources, whichever test asks first, and kept in `.vitest`.
 */
export function builtProgram(): string {
  built ??= join(builtPackage(), 'dist', 'main.js');
  return built;
}

/** Returns a folder with `dist`, `examples` and `docs`, as the package has them. */
export function builtPackage(): string {
  const builds = join(root, '.vitest', 'program');
  const place = join(builds, digestOfSources());
  const lock = `${place}.lock`;
  mkdirSync(builds, { recursive: true });
  while (!existsSync(place)) {
    if (isTaken(lock)) {
      try {
        if (!existsSync(place)) build(builds, place);
      } finally {
        rmSync(lock, { recursive: true, force: true });
      }
    } else {
      // A process that was killed while it built leaves its lock.
      if (ageMs(lock) > HANG_MS) rmSync(lock, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
  return place;
}

function ageMs(path: string): number {
  const nowMs = Date.now();
  return nowMs - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs);
}

/** Whether this process is the one that builds. */
function isTaken(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

function build(builds: string, place: string): void {
  const draft = `${place}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft);
  for (const folder of ['examples', 'docs']) symlinkSync(join(root, folder), join(draft, folder));
  execFileSync(process.execPath, [join(root, '.config', 'build.ts'), join(draft, 'dist')], { stdio: 'pipe' });
  renameSync(draft, place);
  for (const other of readdirSync(builds).map((name) => join(builds, name))) {
    if (!other.startsWith(place) && ageMs(other) > KEPT_MS) rmSync(other, { recursive: true, force: true });
  }
}

/** Of everything that the build reads. */
function digestOfSources(): string {
  const digest = createHash('sha256');
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|css|html|svg|json)$/.test(name))
    .map((name) => join('src', name));
  const scripts = readdirSync(join(root, '.config')).map((name) => join('.config', name));
  for (const name of [...sources, ...scripts, 'package.json', 'package-lock.json', 'tsconfig.json'].sort()) {
    digest.update(`${name}\n`).update(readFileSync(join(root, name)));
  }
  return digest.digest('hex').slice(0, 16);
}
