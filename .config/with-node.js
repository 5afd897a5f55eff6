// The bootstrap of every npm script: `node .config/with-node.js FILE [ARGUMENTS]`.
//
// Portolan needs Node 24 and its packages. This file needs neither: it is plain JavaScript that Node 20 parses. It
// installs the packages when they are missing or older than package-lock.json (Node 24 comes with them, as the package
// `node`), and then runs FILE with Node 24: in this process when it is one, else in a child that gets the same
// terminal, the signals, and whose exit code or signal becomes ours.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NODE_MAJOR = 24;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
/** Says for which lock file the packages were installed; written last, so a broken installation has none. */
const stamp = join(modules, '.installed-for');
const bundledNode = join(modules, 'node', 'bin', 'node');

const [file, ...args] = process.argv.slice(2);
if (file === undefined) fail('usage: node .config/with-node.js FILE [ARGUMENTS]');
ensurePackages();
process.env.PATH = join(modules, '.bin') + delimiter + (process.env.PATH ?? '');
if (majorOf(process.versions.node) >= NODE_MAJOR) await runHere(resolve(file), args);
else runInChild(resolve(file), args);

/** Installs the packages unless they are those of the lock file. */
function ensurePackages() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const found = existsSync(stamp) ? readFileSync(stamp, 'utf8').trim() : undefined;
  if (found === wanted) return;
  if (isInstalled()) {
    writeFileSync(stamp, `${wanted}\n`);
    return;
  }
  // A linked folder is shared with another checkout, and `npm ci` would empty it under that one's feet.
  if (existsSync(modules) && lstatSync(modules).isSymbolicLink()) return;
  const why = found === undefined ? 'no packages are installed yet' : 'package-lock.json has changed';
  console.error(`portolan: ${why}: running npm ci (half a minute, once)`);
  const npm = npmCommand();
  // Output goes to stderr: stdout belongs to the program that is about to run.
  const done = spawnSync(npm.command, [...npm.args, 'ci', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (done.error) fail(`npm ci could not be started: ${done.error.message}. Install npm, or put it on PATH.`);
  if (done.status !== 0) fail(`npm ci failed (${done.status ?? done.signal}), nothing was run. Its message is above.`);
  if (majorOf(process.versions.node) < NODE_MAJOR && !existsSync(bundledNode)) {
    fail(
      `npm ci did not bring Node ${NODE_MAJOR} (${bundledNode} is missing), and this is Node ${process.versions.node}. ` +
        `Either install scripts are off (npm config get ignore-scripts) or there is no Node ${NODE_MAJOR} package for ` +
        `${process.platform}-${process.arch}: install Node ${NODE_MAJOR} yourself and run this again.`,
    );
  }
  writeFileSync(stamp, `${wanted}\n`);
}

/**
 * Whether these very packages are there, installed by hand or for a lock file that differs in other points: npm keeps a copy of the
 * lock file of what it has installed. Optional packages of other machines are not in it.
 */
function isInstalled() {
  const copy = join(modules, '.package-lock.json');
  if (!existsSync(copy) || !existsSync(bundledNode)) return false;
  const wanted = Object.entries(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages ?? {});
  const present = JSON.parse(readFileSync(copy, 'utf8')).packages;
  return wanted.every(([path, { version, integrity, optional, devOptional }]) => {
    const found = present[path];
    if (path === '' || (found === undefined && (optional || devOptional))) return true;
    return found !== undefined && found.version === version && found.integrity === integrity;
  });
}

/** The npm that runs this script, if one does; else the one on PATH. */
function npmCommand() {
  const script = process.env.npm_execpath;
  if (script !== undefined && /npm-cli\.[cm]?js$/.test(script)) return { command: process.execPath, args: [script] };
  return { command: process.platform === 'win32' ? 'npm.cmd' : 'npm', args: [] };
}

async function runHere(path, rest) {
  process.argv = [process.execPath, path, ...rest];
  await import(pathToFileURL(path).href);
}

function runInChild(path, rest) {
  if (!existsSync(bundledNode)) {
    fail(
      `Node ${NODE_MAJOR} is needed, this is Node ${process.versions.node}, and ${bundledNode} is missing. Run npm ci.`,
    );
  }
  const child = spawn(bundledNode, [path, ...rest], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      // Ctrl-C reaches every process of the terminal by itself; passed on as well, the child would hear it twice.
      if (signal === 'SIGINT' && process.stdin.isTTY) return;
      child.kill(signal);
    });
  }
  child.on('error', (error) =>
    fail(`${bundledNode} could not be started: ${error.message}. Delete node_modules and run this again.`),
  );
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // Only reached when the signal is one that does not end a process at once.
    setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 1000);
  });
}

function majorOf(version) {
  return Number(version.split('.')[0]);
}

function fail(message) {
  console.error(`portolan: ${message}`);
  process.exit(1);
}
