/**
 * Builds `dist/`: the program as plain JavaScript, one file for start-up and one per command, with every package it
 * needs inside. `dist/portolan.js` is the bin; `dist/dashboard` is for browsers.
 *
 *   [FOLDER]   where to instead of `dist/`; it is emptied first
 */
import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { asciiOf } from './ascii.ts';
import { chunkGroups } from './chunks.ts';
import { ensureDashboard } from './dashboard.ts';
import { leanBuiltins } from './lean-builtins.ts';
import { slimPackages } from './slim-packages.ts';
import { compiledValidators } from './validators.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = process.argv[2] ?? join(root, 'dist');

// The dashboard stays: servers that run from the source read it, and it is replaced only when it has changed.
mkdirSync(dist, { recursive: true });
for (const name of readdirSync(dist)) {
  if (!name.startsWith('dashboard')) rmSync(join(dist, name), { recursive: true, force: true });
}
await ensureDashboard();
if (dist !== join(root, 'dist')) cpSync(join(root, 'dist', 'dashboard'), join(dist, 'dashboard'), { recursive: true });
const bundle = await rolldown({
  // Packages are found from here, wherever it is started.
  cwd: root,
  input: { main: join(root, 'src', 'main.ts'), worker: join(root, 'src', 'worker.ts') },
  platform: 'node',
  tsconfig: join(root, 'tsconfig.json'),
  plugins: [compiledValidators(root), slimPackages(), leanBuiltins()],
  // A warning about the time that a plugin takes would fail the build on a slow machine.
  checks: { bundlerTimings: false },
  onLog(level, log, write) {
    // A warning of the bundler is an import that will fail at run time: never ship one.
    if (level === 'warn') throw new Error(`${log.code ?? 'warning'}: ${log.message}`);
    write(level, log);
  },
});
const { output } = await bundle.write({
  dir: dist,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  codeSplitting: { groups: chunkGroups(root) },
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
});
for (const { type, fileName } of output) {
  const file = join(dist, fileName);
  if (type === 'chunk') writeFileSync(file, asciiOf(readFileSync(file, 'utf8')));
}
await bundle.close();
copyFileSync(join(root, '.config', 'bin.js'), join(dist, 'portolan.js'));
chmodSync(join(dist, 'portolan.js'), 0o755);
