/**
 * Builds the dashboard: the browser code of `src/dashboard` as hashed files, each also compressed, for the controller's own server.
 *
 *   node .config/dashboard.ts   into `dist/dashboard`, unless what is there was made of the same sources
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { BuildEnvironmentOptions, InlineConfig, Logger, Plugin } from 'vite';
import { BOOT_NAME } from '../src/server/dashboard.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src', 'dashboard');
/** Where a run from the source looks for it, as the package does. */
const place = join(root, 'dist', 'dashboard');
/** The sources of the build that is there, and the page that it made. */
const stamp = join(root, '.vitest', 'dashboard.json');

interface Stamp {
  readonly page: string;
  /** Digest by path. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** Builds into `dist/dashboard` unless that is up to date. Another process may read or build it at the same time. */
export async function ensureDashboard(): Promise<void> {
  if (isUpToDate()) return;
  const draft = `${place}-${process.pid}`;
  const inputs = await buildDashboard(draft);
  const digests = Object.fromEntries(inputs.map((path) => [path, digestOf(join(root, path))]));
  const written: Stamp = { page: digestOf(join(draft, 'index.html')), inputs: digests };
  try {
    replace(draft);
  } catch {
    // Another process has built the same at the same time.
    rmSync(draft, { recursive: true, force: true });
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, JSON.stringify(written));
}

function replace(draft: string): void {
  const former = `${draft}-former`;
  if (existsSync(place)) renameSync(place, former);
  renameSync(draft, place);
  rmSync(former, { recursive: true, force: true });
}

function isUpToDate(): boolean {
  if (!existsSync(stamp)) return false;
  const { page, inputs } = JSON.parse(readFileSync(stamp, 'utf8')) as Stamp;
  const isSame = ([path, digest]: readonly [string, string]): boolean => digestOf(join(root, path)) === digest;
  return digestOf(join(place, 'index.html')) === page && Object.entries(inputs).every(isSame);
}

function digestOf(path: string): string {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
}

/** Builds into a folder, which is emptied first. @returns the files that decide what is built, from the root. */
export async function buildDashboard(folder: string): Promise<readonly string[]> {
  const modules = new Set<string>();
  // Most runs need no build, and vite takes longer to load than all the rest.
  const { build, createLogger } = await import('vite');
  const common = {
    configFile: false,
    root: source,
    // Relative, because the server may be behind a path prefix.
    base: './',
    logLevel: 'warn',
    customLogger: strict(createLogger('warn')),
    publicDir: false,
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    plugins: [collecting(modules)],
  } satisfies InlineConfig;
  const options = { outDir: folder, target: 'es2023', reportCompressedSize: false } satisfies BuildEnvironmentOptions;
  await build({
    ...common,
    build: {
      ...options,
      emptyOutDir: true,
      // A file inside of another one would need a policy that permits data: URLs.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
  // One script without imports, whose name is the same in every version.
  const output = { format: 'iife', entryFileNames: `assets/${BOOT_NAME}` } as const;
  await build({
    ...common,
    build: { ...options, emptyOutDir: false, rolldownOptions: { input: join(source, 'boot.ts'), output } },
  });
  const page = join(folder, 'index.html');
  // The entry chooses the theme, so nothing may be drawn before it ran. The boot script must notice if it does not load.
  const scripts = `<script src="./assets/${BOOT_NAME}"></script>\n    <script type="module" blocking="render"`;
  writeFileSync(page, readFileSync(page, 'utf8').replace('<script type="module"', scripts));
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) compress(join(folder, name));
  const own = globSync('**/*', { cwd: source, withFileTypes: true }).filter((entry) => entry.isFile());
  return [
    ...own.map((entry) => relative(root, join(entry.parentPath, entry.name))),
    ...[...modules].map((path) => relative(root, path)).filter((path) => path.startsWith('src/')),
    '.config/dashboard.ts',
    'package-lock.json',
  ];
}

/** A warning is for example a module of Node, which no browser has: never ship one. */
function strict(logger: Logger): Logger {
  const fail = (message: string): never => {
    throw new Error(message);
  };
  return { ...logger, warn: fail, warnOnce: fail };
}

function collecting(modules: Set<string>): Plugin {
  return {
    name: 'collect-modules',
    moduleParsed: ({ id }) => void modules.add(id),
  };
}

const COMPRESSIBLE = /\.(?:html|js|css|svg)$/;

function compress(path: string): void {
  if (!COMPRESSIBLE.test(path)) return;
  const bytes = readFileSync(path);
  // The page is small, and the server completes it for each depth of a path.
  if (basename(path) === 'index.html') return;
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(
    `${path}.br`,
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureDashboard();
