import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { folderOf, sandboxFor, temporaryFolder } from './platform.ts';
import { projectRoot, runHere, runProcess, startProgram } from './running.ts';

let packed: string | undefined;
afterAll(() => {
  if (packed !== undefined) rmSync(dirname(packed), { recursive: true, force: true });
});

/** Builds and packs, once for the tests of this file. @returns the tarball. */
function packedPackage(): string {
  if (packed !== undefined) return packed;
  execFileSync(process.execPath, [join(projectRoot, '.config', 'build.ts')], { cwd: projectRoot });
  const folder = mkdtempSync(join(tmpdir(), 'portolan-pack-'));
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  const name = execFileSync('npm', pack, { cwd: projectRoot, stdio: 'pipe', encoding: 'utf8' }).trim();
  packed = join(folder, name);
  return packed;
}

/** @returns the folder of the package, far from any node_modules. */
function unpackedPackage(): string {
  const folder = temporaryFolder();
  execFileSync('tar', ['-xzf', packedPackage()], { cwd: folder });
  return join(folder, 'package');
}

/** Pages and folders that the pages of a package link to, from its README.md on, and that are not in it. */
function missingPages(folder: string): readonly string[] {
  const seen = new Set(['README.md']);
  const missing: string[] = [];
  for (const page of seen) {
    const links = [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)];
    for (const [, link = ''] of links.filter(([, target = '']) => !/^[a-z]+:/.test(target))) {
      const path = join(dirname(page), link);
      if (!existsSync(join(folder, path))) missing.push(`${page}: ${link}`);
      else if (path.endsWith('.md')) seen.add(path);
    }
  }
  expect(seen.size).toBeGreaterThan(5);
  return missing;
}

test('the package holds what it needs and nothing else, and runs alone', async () => {
  const folder = unpackedPackage();
  expect(readdirSync(folder).sort()).toEqual(
    'CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md dist docs examples package.json schemas src test'.split(
      ' ',
    ),
  );
  expect(missingPages(folder)).toEqual([]);
  const { engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { engines: { node: string } };
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toMatch(
    new RegExp(`installed package needs Node ${engines.node.replace('>=', '')} or newer`),
  );
  expect(existsSync(join(folder, 'dist', 'portolan.js'))).toBe(true);
  const chunks = readdirSync(join(folder, 'dist', 'chunks')).map((name) => join(folder, 'dist', 'chunks', name));
  // One other character would double the memory of its file.
  expect(chunks.filter((file) => /[^\0-\x7f]/.test(readFileSync(file, 'utf8')))).toEqual([]);
  const page = readFileSync(join(folder, 'dist', 'dashboard', 'index.html'), 'utf8');
  const files = [...page.matchAll(/"\.\/(assets\/[^"]+)"/g)].map(([, name = '']) => name);
  expect(files.length).toBeGreaterThanOrEqual(3);
  for (const name of files)
    for (const suffix of ['', '.br', '.gz'])
      expect(existsSync(join(folder, 'dist', 'dashboard', name + suffix)), name + suffix).toBe(true);

  const program = join(folder, 'dist', 'portolan.js');
  const cache = temporaryFolder();
  const settings = { program, cwd: folderOf({}), env: { XDG_CACHE_HOME: cache } };
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  const versionRun = await runProcess(['version'], settings);
  expect(versionRun).toMatchObject({ code: 0, err: '' });
  expect(versionRun.out).toContain(version);
  const examples = join(folder, 'examples');
  const validation = ['validate', '-c', join(examples, 'portolan.yaml'), '-f', join(examples, 'shop')];
  const validated = await runProcess(validation, settings);
  expect(validated).toMatchObject({ code: 0, err: '' });
  expect(validated.out).toMatch(/^valid: \d+ resources/);
  const invalid = await runProcess(['validate', '-f', '-'], { ...settings, input: 'kind: Nothing\n' });
  expect(invalid.code).toBe(3);
  // Its validators were compiled when it was built, and must say what those of the source say.
  const faulty = ['validate', '-o', 'json', '-f', join(projectRoot, 'test', 'manifest', 'broken')];
  const fromSource = await runHere(faulty, { env: {} });
  expect(JSON.parse((await runProcess(faulty, settings)).out)).toEqual(JSON.parse(fromSource.out));
  expect(fromSource.out.length).toBeGreaterThan(10_000);
  // It has only parts of undici, and they must do.
  const sandbox = await sandboxFor();
  const configuration = readFileSync(join(examples, 'portolan.yaml'), 'utf8').replace(
    'http://127.0.0.1:7070',
    sandbox.url,
  );
  writeFileSync(join(settings.cwd, 'portolan.yaml'), configuration);
  const env = { ...settings.env, PORTOLAN_TOKEN: 'sandbox-token', STORE_ACCESS_KEY: 'demo-store-key' };
  const planned = await runProcess(['plan', '-f', join(examples, 'blog')], { ...settings, env });
  expect(planned).toMatchObject({ code: 0, out: expect.stringContaining('Plan: ') });
  expect(existsSync(join(cache, 'portolan'))).toBe(true);

  // What every command needs is inside: none of them may look for a package that is not there.
  for (const command of ['regions', 'monitor', 'schema', 'sandbox', 'version']) {
    expect(await runProcess([command, '--help'], settings)).toMatchObject({ code: 0, err: '' });
  }

  const old = await runProcess(['version'], { ...settings, env: { NODE_OPTIONS: pretendOldNode() } });
  expect(old).toMatchObject({ code: 1, out: '' });
  expect(old.err).toMatch(/Node 24 or newer is needed, this is Node 20\.1\.0/);
});

/** Fails unless the README or the page of the command line has the command, and the help of the command has its flags. */
async function expectDescribed([command = '', ...args]: readonly string[]): Promise<void> {
  const pages = ['README.md', 'docs/reference/command-line.md', 'docs/concepts/the-daemon.md'];
  const readme = pages.map((page) => readFileSync(join(projectRoot, page), 'utf8')).join('\n');
  expect(new RegExp(`\`(?:portolan )?${command}\\b`).test(readme), `the pages have portolan ${command}`).toBe(true);
  const help = (await runHere([command, '--help'])).out;
  for (const flag of args.filter((word) => word.startsWith('-'))) expect(help, command).toContain(flag);
}

const RULE = `---
apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: shop-www }
spec: { application: shop, component: shop-web, port: 8080, domain: www.shop.example.com, path: / }
`;
const OPERATED = `  prune: { maxObjects: 0 }
  controller: { pruneAfter: 1s }
  server:
    listen: 127.0.0.1:0
    tokens: [{ name: ops, role: operator, value: { env: PORTOLAN_SERVER_TOKEN } }]
`;

test('from npm install --global to a daemon with an approved removal, by commands that README and help describe', async () => {
  const base = temporaryFolder();
  const prefix = join(base, 'global');
  // Everything that it needs is inside: it installs without a registry.
  const install = [
    'install',
    '--global',
    '--offline',
    '--prefix',
    prefix,
    '--cache',
    join(base, 'cache'),
    packedPackage(),
  ];
  execFileSync('npm', install, { cwd: base, stdio: 'pipe' });
  expect(existsSync(join(prefix, 'lib', 'node_modules', 'portolan', 'node_modules'))).toBe(false);

  const sandbox = await sandboxFor();
  const cwd = join(base, 'shop');
  const env: Record<string, string> = {
    XDG_CACHE_HOME: join(base, 'cache'),
    PORTOLAN_TOKEN: 'sandbox-token',
    PORTOLAN_SERVER_TOKEN: 'ops-ops-ops-ops-ops-ops',
  };
  const settings = { program: join(prefix, 'bin', 'portolan'), cwd, env };
  const portolan = async (args: readonly string[], folder = cwd): Promise<void> => {
    await expectDescribed(args);
    const run = await runProcess(args, { ...settings, cwd: folder });
    expect(run.code, `${args.join(' ')}\n${run.err}`).toBe(0);
  };
  const git = (...args: readonly string[]): Buffer =>
    execFileSync('git', ['-C', cwd, '-c', 'user.name=me', '-c', 'user.email=me@example.com', ...args], {
      stdio: 'pipe',
    });
  const commit = (message: string): void => {
    git('add', '.');
    git('commit', '--quiet', '--message', message);
  };
  const rules = (): string => JSON.stringify([...sandbox.state.rules.all()]);

  const place = ['--team', 'team-a', '--region', 'region-1', '--app-id', '42'];
  await portolan(['init', 'shop', '--url', sandbox.url, ...place], base);
  await portolan(['export', '-f', 'manifests', '--to', 'manifests', '--force']);
  const manifest = join(cwd, 'manifests', 'shop.yaml');
  const exported = readFileSync(manifest, 'utf8').replace(/(port: 8080,.* outer: )false/, '$1true');
  writeFileSync(manifest, exported + RULE);
  appendFileSync(join(cwd, 'portolan.yaml'), OPERATED);
  git('init', '--quiet', '--initial-branch=main');
  commit('As it is, with a rule');

  await expectDescribed(['run']);
  const daemon = startProgram(['run'], settings);
  onTestFinished(() => void daemon.child.kill('SIGKILL'));
  await expect.poll(() => daemon.outputSoFar().err).toMatch(/API at \S+;/);
  env['PORTOLAN_SERVER'] = /API at (\S+);/.exec(daemon.outputSoFar().err)?.[1] ?? '';
  await expect.poll(rules).toContain('www.shop.example.com');

  writeFileSync(manifest, exported);
  commit('Without the rule');
  await expectDescribed(['status']);
  const status = async (): Promise<string> => (await runProcess(['status'], settings)).out;
  await expect.poll(status, { interval: 1000 }).toMatch(/portolan approve shop.*[0-9a-f]{64}/);
  const [, digest = ''] = /portolan approve shop.*([0-9a-f]{64})/.exec(await status()) ?? [];
  expect(rules()).toContain('www.shop.example.com');
  await portolan(['approve', 'shop', digest]);
  await expect.poll(rules).not.toContain('www.shop.example.com');
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

/** Options under which Node says that it is an old one. */
function pretendOldNode(): string {
  const code = "Object.defineProperty(process.versions, 'node', { value: '20.1.0' })";
  return `--import data:text/javascript,${encodeURIComponent(code)}`;
}

/** A checkout with the bootstrap, a lock file, and an npm of our own that records how often it ran. */
function checkout(npm: string): {
  folder: string;
  run: (file: string, args?: string[], env?: Record<string, string>) => ReturnType<typeof runProcess>;
} {
  const folder = temporaryFolder();
  cpSync(join(projectRoot, '.config', 'with-node.js'), join(folder, '.config', 'with-node.js'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'package-lock.json'), '{}');
  writeFileSync(join(folder, 'npm-cli.js'), npm);
  const program = join(folder, '.config', 'with-node.js');
  const run = (file: string, args: string[] = [], env: Record<string, string> = {}) =>
    runProcess([file, ...args], { program, cwd: folder, env: { npm_execpath: join(folder, 'npm-cli.js'), ...env } });
  return { folder, run };
}

const installs = `import { appendFileSync, mkdirSync, symlinkSync } from 'node:fs';
mkdirSync('node_modules/node/bin', { recursive: true });
try { symlinkSync(process.env.REAL_NODE, 'node_modules/node/bin/node'); } catch {}
appendFileSync('npm.log', process.argv.slice(2).join(' ') + '\\n');
console.log('noise of npm');`;

test('the bootstrap installs once, again when the lock file changes, and keeps its noise off stdout', async () => {
  const { folder, run } = checkout(installs);
  const env = { REAL_NODE: process.execPath };
  const log = (): string[] => readFileSync(join(folder, 'npm.log'), 'utf8').trimEnd().split('\n');
  writeFileSync(
    join(folder, 'say.ts'),
    "const words: string = process.argv.slice(2).join(' ');\nconsole.log(words, process.env.PATH?.split(':')[0]);\n",
  );
  const first = await run('say.ts', ['a', 'b'], env);
  expect(first).toMatchObject({ code: 0, out: `a b ${join(folder, 'node_modules', '.bin')}\n` });
  expect(first.err).toMatch(/no packages are installed yet: running npm ci[^]*noise of npm/);
  expect(await run('say.ts', ['c'], env)).toMatchObject({ code: 0, err: '' });
  expect(log()).toHaveLength(1);
  writeFileSync(join(folder, 'package-lock.json'), '{ "changed": true }');
  expect((await run('say.ts', [], env)).err).toContain('package-lock.json has changed');
  expect(log()).toEqual(['ci --no-audit --no-fund', 'ci --no-audit --no-fund']);
});

test('what npm ci has installed by hand is not installed again, unless the lock file is another one', async () => {
  const { folder, run } = checkout(installs);
  const one = { version: '1.0.0', integrity: 'sha512-a' };
  const lock = { packages: { '': {}, 'node_modules/a': one, 'node_modules/b': { ...one, optional: true } } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  mkdirSync(join(folder, 'node_modules', 'node', 'bin'), { recursive: true });
  writeFileSync(join(folder, 'node_modules', 'node', 'bin', 'node'), '');
  const installed = join(folder, 'node_modules', '.package-lock.json');
  writeFileSync(installed, JSON.stringify({ packages: { 'node_modules/a': one } }));
  writeFileSync(join(folder, 'say.ts'), "console.log('ran');\n");
  expect(await run('say.ts')).toEqual({ code: 0, out: 'ran\n', err: '' });
  // Another lock file for the same packages.
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, name: 'renamed' }));
  expect(await run('say.ts')).toEqual({ code: 0, out: 'ran\n', err: '' });
  rmSync(join(folder, 'node_modules', '.installed-for'));
  writeFileSync(installed, JSON.stringify({ packages: { 'node_modules/a': { ...one, integrity: 'sha512-b' } } }));
  expect((await run('say.ts')).err).toContain('running npm ci');
});

test.for(['this process', 'a child'] as const)('the exit code of %s is passed on', async (where) => {
  const { folder, run } = checkout(installs);
  writeFileSync(join(folder, 'end.ts'), 'process.exit(Number(process.argv[2]));\n');
  const env = { REAL_NODE: process.execPath, ...(where === 'a child' ? { NODE_OPTIONS: pretendOldNode() } : {}) };
  expect(await run('end.ts', ['7'], env)).toMatchObject({ code: 7 });
});

test('when npm fails, nothing runs, and the next attempt installs again', async () => {
  const { folder, run } = checkout("console.error('no network'); process.exit(3);");
  writeFileSync(join(folder, 'say.ts'), "console.log('ran');\n");
  for (const _ of [1, 2]) {
    const failed = await run('say.ts');
    expect(failed).toMatchObject({ code: 1, out: '' });
    expect(failed.err).toMatch(/no network[^]*npm ci failed \(3\), nothing was run/);
  }
});

test('without scripts there is no Node 24, and an old Node says so', async () => {
  const { folder, run } = checkout("import { mkdirSync } from 'node:fs'; mkdirSync('node_modules');");
  writeFileSync(join(folder, 'say.ts'), "console.log('ran');\n");
  const failed = await run('say.ts', [], { NODE_OPTIONS: pretendOldNode() });
  expect(failed).toMatchObject({ code: 1, out: '' });
  expect(failed.err).toMatch(/did not bring Node 24[^]*ignore-scripts/);
});

test('packages that are linked from another checkout are left alone', async () => {
  const { folder, run } = checkout("import { writeFileSync } from 'node:fs'; writeFileSync('npm.log', '');");
  mkdirSync(join(folder, 'elsewhere'));
  execFileSync('ln', ['-s', 'elsewhere', 'node_modules'], { cwd: folder });
  writeFileSync(join(folder, 'say.ts'), "console.log('ran');\n");
  expect(await run('say.ts')).toEqual({ code: 0, out: 'ran\n', err: '' });
  expect(existsSync(join(folder, 'npm.log'))).toBe(false);
});
