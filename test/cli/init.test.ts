import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { documentName } from '../../src/cli/commands/init/answers.ts';
import { demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { builtProgram } from '../support/program.ts';
import { startOnTerminal } from '../support/pty.ts';
import { APPLICATION } from '../controller/shop.ts';
import { configurationFor, folderOf, sandboxFor } from './platform.ts';
import { collectingTerminal, runHere, runProcess, startProgram } from './running.ts';
import { until } from './scene.ts';

const TOKEN = { PORTOLAN_TOKEN: 'sandbox-token' };
const GIVEN = ['--team', 'team-a', '--region', 'region-1', '--app-id', '42'];

/** Runs `init` in this process on a terminal where a person gives these answers in turn. */
async function interviewed(folder: string, answers: string[], args: readonly string[] = [], env = TOKEN) {
  const { terminal, text } = collectingTerminal({ isTerminal: true, answers });
  const code = (await runHere(['init', folder, ...args], { terminal, env })).code;
  return { code, ...text, unused: answers.length };
}

/** Everything below a folder, as path and content. */
function contentsOf(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => [
      join(entry.parentPath, entry.name).slice(folder.length + 1),
      readFileSync(join(entry.parentPath, entry.name), 'utf8'),
    ]),
  );
}

test('with flags, a working folder is written that is valid, laid out, and can be planned at once', async () => {
  const sandbox = await sandboxFor();
  const cwd = folderOf({});
  const run = await runProcess(['init', 'shop', '--url', `${sandbox.url}/`, ...GIVEN], { cwd });
  expect(run).toMatchObject({
    code: 0,
    out: `wrote, in shop:
  portolan.yaml
  manifests/app-42.yaml
  .portolan/portolan.schema.json (for editors)
  .gitignore

PORTOLAN_TOKEN is not set here: set it to the token of the platform first.

next:
  cd shop
  portolan validate
  portolan plan
  portolan export -f manifests --to manifests --force    # writes existing resources as manifests
`,
  });
  expect(run.err).toMatch(/^note: team, region and application were not checked, .*PORTOLAN_TOKEN.*\n$/);
  expect(sandbox.requests()).toEqual([]);
  const shop = join(cwd, 'shop');
  for (const named of [[], ['-f', 'manifests'], ['-f', '.']])
    expect(await runProcess(['validate', ...named], { cwd: shop })).toEqual({
      code: 0,
      out: 'valid: 1 resource in 1 file (1 Application), and portolan.yaml\n',
      err: '',
    });
  const plan = await runProcess(['plan', '--detailed-exitcode'], { cwd: shop, env: TOKEN });
  expect(plan).toMatchObject({ code: 0, out: expect.stringContaining('No changes') });
  expect(await runProcess(['fmt', '--check'], { cwd: shop })).toEqual({ code: 0, out: '', err: '' });
});

test.for([
  ['a folder', []],
  ['what the configuration names', undefined],
] as const)('run takes what init wrote: %s', async ([, named]) => {
  const sandbox = await sandboxFor();
  const cwd = folderOf({});
  await runHere(['init', cwd, '--url', sandbox.url, ...GIVEN], { env: TOKEN });
  const args = ['run', ...(named === undefined ? [] : ['-f', '.']), '--listen', '127.0.0.1:0'];
  const { child, ended, outputSoFar } = startProgram(args, { cwd, env: TOKEN });
  await until(() => /applications? changed|rejected/.test(outputSoFar().err));
  child.kill('SIGTERM');
  const run = await ended;
  expect(run.code, run.err).toBe(0);
  expect(run.err).not.toMatch(/fault|rejected/);
});

test('what -f names takes precedence over spec.source.paths, and neither is an error', async () => {
  const cwd = folderOf({ 'portolan.yaml': configurationFor('https://a.example.com'), 'shop.yaml': APPLICATION });
  const none = await runProcess(['validate'], { cwd });
  expect(none).toMatchObject({ code: 3, out: '' });
  expect(none.err).toContain('spec.source.paths');
  const paths = '---\napiVersion: portolan/v1\nkind: Settings\nspec: { source: { paths: [ nowhere ] } }\n';
  writeFileSync(join(cwd, 'portolan.yaml'), configurationFor('https://a.example.com') + paths);
  const named = await runProcess(['validate'], { cwd });
  expect(named).toMatchObject({ code: 3, out: expect.stringContaining('--> nowhere:1:1') });
  expect(await runProcess(['validate', '-f', 'shop.yaml'], { cwd })).toMatchObject({ code: 0 });
});

test('a configuration that is at fault is reported, and not the manifests that it does not name', async () => {
  const cwd = folderOf({ 'portolan.yaml': 'apiVersion: portolan/v1\nkind: Settings\nspec: { nonsense: 1 }\n' });
  const run = await runProcess(['validate'], { cwd });
  expect(run).toMatchObject({ code: 3, out: expect.stringContaining('nonsense') });
});

test('what is there already comes by the command that init names, and its plan is empty', async () => {
  const sandbox = await sandboxFor();
  const folder = folderOf({});
  await runHere(['init', folder, '--url', sandbox.url, ...GIVEN]);
  const manifests = join(folder, 'manifests');
  const options = ['-f', manifests, '-c', join(folder, 'portolan.yaml')];
  const plan = () => runHere(['plan', ...options, '--detailed-exitcode', '--ledger', 'none'], { env: TOKEN });
  expect(await plan()).toMatchObject({ code: 0, out: expect.stringContaining('No changes') });
  const exported = await runHere(['export', ...options, '--to', manifests, '--force'], { env: TOKEN });
  expect(exported).toMatchObject({ code: 0 });
  expect(contentsOf(folder)['manifests/app-42.yaml']).toContain('kind: Component');
  expect(await runHere(['fmt', '--check', folder])).toEqual({ code: 0, out: '', err: '' });
  expect(await plan()).toMatchObject({ code: 0, out: expect.stringContaining('No changes') });
});

test('export names the schema that init wrote, and with --schemas those of each kind', async () => {
  const sandbox = await sandboxFor();
  const cwd = folderOf({});
  await runHere(['init', cwd, '--url', sandbox.url, ...GIVEN]);
  const line = async (...flags: string[]): Promise<string> => {
    const args = ['export', '--app', 'team-a/region-1/42', '--to', 'exported', '--force', ...flags];
    const run = await runProcess(args, { cwd, env: TOKEN });
    expect(run.code, run.err).toBe(0);
    return readFileSync(join(cwd, 'exported', 'shop.yaml'), 'utf8').split('\n')[0] ?? '';
  };
  expect(await line()).toBe('# yaml-language-server: $schema=../.portolan/portolan.schema.json');
  expect(await line('--schemas', 'schemas')).toBe('# yaml-language-server: $schema=../schemas/application.schema.json');
});

test('the first line of every document leads an editor to one schema, which knows every kind', async () => {
  const folder = folderOf({});
  await runHere(['init', folder, '--url', 'https://console.example.com', ...GIVEN]);
  const modelines = Object.entries(contentsOf(folder))
    .filter(([path]) => path.endsWith('.yaml'))
    .flatMap(([path, text]) => text.split('---\n').map((document) => [path, document] as const));
  expect(modelines).toHaveLength(3);
  for (const [path, document] of modelines) {
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(document) ?? [];
    const valid = new Ajv2020({ strict: false }).compile(
      JSON.parse(readFileSync(join(folder, dirname(path), schema), 'utf8')),
    );
    expect(valid(parse(document)), document).toBe(true);
    expect(valid({ ...parse(document), spec: { nonsense: 1 } })).toBe(false);
    // The faults of its own kind, and of no other.
    const kinds = new Set(valid.errors?.map(({ schemaPath }) => /\$defs\/(\w+)/.exec(schemaPath)?.[1] ?? ''));
    expect([...kinds].filter((kind) => kind !== '')).toEqual([(parse(document) as { kind: string }).kind]);
  }
});

test.for([
  ['--region', 'region-9', 'the platform lists region-1, region-maint'],
  ['--app-id', '99', 'the platform lists 42 (shop), 43 (blog)'],
  ['--team', 'team-z', 'the platform has no team of that name'],
] as const)('without a terminal, %s %s is refused as on one: %s', async ([flag, value, fault]) => {
  const sandbox = await sandboxFor();
  const folder = join(folderOf({}), 'new');
  const args = ['init', folder, '--url', sandbox.url, ...GIVEN, flag, value];
  const run = await runHere(args, { env: TOKEN });
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toContain(`${flag} cannot be used: ${fault}`);
  expect(existsSync(folder)).toBe(false);
  expect((await runHere([...args, '--offline'], { env: TOKEN })).code).toBe(0);
});

test('without a terminal, the name of the application is the one that the platform shows', async () => {
  const sandbox = await sandboxFor();
  const folder = folderOf({});
  const run = await runHere(['init', folder, '--url', sandbox.url, ...GIVEN], { env: TOKEN });
  expect(run).toMatchObject({ code: 0, err: '' });
  expect(contentsOf(folder)['manifests/shop.yaml']).toContain('  name: shop #');
});

test('< returns to the question before, with the former answer as the proposal', async () => {
  const sandbox = await sandboxFor();
  const folder = folderOf({});
  const answers = [
    '<',
    sandbox.url,
    '',
    'team-b',
    '<',
    'team-a',
    'region-1',
    '43',
    '',
    '<',
    '<',
    '42',
    'the-shop',
    'yes',
  ];
  const run = await interviewed(folder, answers);
  expect(run).toMatchObject({ code: 0, unused: 0 });
  expect(run.err).toContain('This is the first question.');
  expect(run.err).toContain('Team [team-b]: ');
  expect(run.err).toContain('application  team-a/region-1/42, called the-shop\n');
  expect(Object.keys(contentsOf(folder))).toContain('manifests/the-shop.yaml');
});

test('a team that the platform does not have is asked for again', async () => {
  const sandbox = await sandboxFor();
  const run = await interviewed(folderOf({}), [sandbox.url, '', 'team-z', '', 'team-a', '', '42', '', '']);
  expect(run).toMatchObject({ code: 0, unused: 0 });
  expect(run.err).toContain('the platform has no team of that name\nTeam [team-z]: ');
});

test('without a terminal, what is missing is named as flags, and nothing is written', async () => {
  const cwd = folderOf({});
  const run = await runProcess(['init', 'shop', '--team', 'team-a'], { cwd });
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toContain('Pass --url, --region, --app-id.');
  expect(readdirSync(cwd)).toEqual([]);
});

test('on a terminal everything is asked, and what the platform has is offered', async () => {
  const sandbox = await sandboxFor();
  const folder = folderOf({});
  const run = await interviewed(folder, [sandbox.url, '', 'team-a', '', '43', '']);
  expect(run).toMatchObject({ code: 0, unused: 0 });
  expect(run.err).toContain('Variable or file with the token [PORTOLAN_TOKEN]: ');
  expect(run.err).toMatch(/region-1 +Region One, enabled\n +region-maint .*under maintenance\nRegion \[region-1\]: /);
  expect(run.err).toMatch(/42 +shop\n +43 +blog\nNumber of the application \[42\]: /);
  expect(run.err).toContain('Name of the application in manifests [blog]: ');
  expect(contentsOf(folder)['manifests/blog.yaml']).toContain('  name: blog #');
  expect(sandbox.requests().every(({ isWrite }) => !isWrite)).toBe(true);
});

test('a platform that cannot be asked is no hindrance: the answers are typed', async () => {
  const unset = folderOf({});
  const answers = ['https://console.example.com', '/run/secrets/token', 'team-a', 'region-1', 'x', '7', 'shop'];
  const run = await interviewed(unset, answers);
  expect(run).toMatchObject({ code: 0, unused: 0 });
  expect(run.err.match(/the platform cannot be read/g)).toHaveLength(1);
  expect(run.err).toContain('expected a whole number from 1');
  expect(contentsOf(unset)['portolan.yaml']).toContain('value: { file: "/run/secrets/token" }');
  const offline = await interviewed(folderOf({}), ['https://a.example.com', '', 'a', 'b', '7', ''], ['--offline']);
  expect(offline).toMatchObject({ code: 0, unused: 0 });
  expect(offline.err).not.toContain('cannot be read');
});

test('a server of the documented dialect, which lists no applications, is asked for what it has', async () => {
  const sandbox = await sandboxFor({ dialect: 'documented' });
  const run = await interviewed(folderOf({}), [sandbox.url, '', 'team-a', '', '42', 'shop']);
  expect(run).toMatchObject({ code: 0, unused: 0 });
  expect(run.err).toMatch(/Region \[region-1\]: Number of the application: /);
});

test('a platform that refuses the token is told of once, and the token is not shown', async () => {
  const sandbox = await sandboxFor();
  const token = 'canary-token-that-is-wrong';
  const answers = [sandbox.url, '', 'team-a', 'region-1', '42', ''];
  const run = await interviewed(folderOf({}), answers, [], { PORTOLAN_TOKEN: token });
  expect(run).toMatchObject({ code: 0, unused: 0 });
  expect(run.err.replaceAll(/\n\s*/g, ' ').match(/the platform cannot be read: .*?401/g)).toHaveLength(1);
  expect(run.out + run.err).not.toContain(token);
});

test('names on the platform cannot move the cursor, and become names that a document may have', async () => {
  const [first, ...rest] = demoSeed.applications ?? [];
  const hostile = { ...first, name: 'a\u001b[2J b' } as NonNullable<typeof first>;
  const sandbox = await sandboxFor({ seed: { ...demoSeed, applications: [hostile, ...rest] } });
  const folder = folderOf({});
  const run = await interviewed(folder, [sandbox.url, '', 'team-a', '', '42', '']);
  expect(run).toMatchObject({ code: 0, unused: 0 });
  expect(run.err).toContain('42   a\\u001b[2J b\n');
  expect(run.err).toContain('Name of the application in manifests [a-2j-b]: ');
  expect(Object.keys(contentsOf(folder))).toContain('manifests/a-2j-b.yaml');
});

test('answers that cannot be used are asked for again, with what is expected', async () => {
  const folder = folderOf({});
  const answers = [
    'console',
    'http://console.example.com',
    'https://a.example.com',
    '',
    '-team',
    'team',
    'r',
    '7',
    'Shop',
    '',
  ];
  const run = await interviewed(folder, answers, ['--offline']);
  expect(run).toMatchObject({ code: 0, unused: 0 });
  expect(run.err).toContain('not an http or https URL');
  expect(run.err).toContain('--allow-plain-http');
  expect(run.err).toContain('not starting with . or -');
  const never = await interviewed(folderOf({}), ['', '', '', '', '', ''], []);
  expect(never).toMatchObject({ code: 3, unused: 1 });
  expect(never.err).toContain('5 answers were not valid.');
});

test('a token that is given in place of its name is refused, and shown nowhere', async () => {
  const pasted = 'canary-tokenAB12cd34';
  const cwd = folderOf({});
  const flag = await runProcess(['init', '.', '--url', 'https://a.b', '--auth-env', pasted, ...GIVEN], { cwd });
  expect(flag).toMatchObject({ code: 3, out: '' });
  const named = 'canarytokenAB12cd34';
  const asked = await interviewed(cwd, ['https://a.example.com', named, '', 't', 'r', '7', ''], ['--offline']);
  expect(asked).toMatchObject({ code: 0, unused: 0 });
  expect(asked.err).toContain('looks like a token itself');
  const everything = JSON.stringify([flag, asked, contentsOf(cwd)]);
  expect(everything).not.toContain(pasted);
  expect(everything).not.toContain(named);
});

test('what exists is listed and left alone; --force replaces what init writes, and nothing else', async () => {
  const cwd = folderOf({ 'portolan.yaml': 'mine\n', '.gitignore': 'dist' });
  mkdirSync(join(cwd, 'manifests'));
  writeFileSync(join(cwd, 'manifests', 'web.yaml'), 'mine too\n');
  const args = ['init', '--url', 'https://console.example.com', ...GIVEN];
  const before = contentsOf(cwd);
  const refused = await runProcess(args, { cwd });
  expect(refused).toMatchObject({ code: 3, out: '' });
  expect(refused.err).toContain('. has these already: portolan.yaml. Nothing was written.');
  expect(contentsOf(cwd)).toEqual(before);
  expect(await runProcess([...args, '--force'], { cwd })).toMatchObject({ code: 0 });
  const after = contentsOf(cwd);
  expect(after['portolan.yaml']).toContain('kind: Platform');
  expect(after['manifests/web.yaml']).toBe('mine too\n');
  expect(after['.gitignore']).toMatch(/^dist\n\n# Portolan: .*\nportolan\.db\*\nplan\.json\n\*\.plan\.json\n$/);
  const again = await runProcess([...args, '--force'], { cwd });
  expect(again.out).not.toContain('.gitignore');
  expect(contentsOf(cwd)).toEqual(after);
});

test('a manifest of the same name is left alone, too', async () => {
  const cwd = folderOf({});
  mkdirSync(join(cwd, 'manifests'));
  writeFileSync(join(cwd, 'manifests', 'app-42.yaml'), 'mine\n');
  const run = await runProcess(['init', '--url', 'https://console.example.com', ...GIVEN], { cwd });
  expect(run).toMatchObject({ code: 3, err: expect.stringContaining('manifests/app-42.yaml. Nothing was written.') });
  expect(contentsOf(cwd)).toEqual({ 'manifests/app-42.yaml': 'mine\n' });
});

test('where a folder cannot be made, nothing is left behind', async () => {
  const cwd = folderOf({ '.portolan': 'a file\n' });
  const run = await runProcess(['init', '--url', 'https://console.example.com', ...GIVEN], { cwd });
  expect(run).toMatchObject({ code: 1, out: '' });
  expect(run.err).toContain('something else is there');
  expect(readdirSync(cwd)).toEqual(['.portolan']);
});

test.for([
  ['--team', 'a/b'],
  ['--region', ''],
  ['--name', 'Shop'],
  ['--auth-header', 'a b'],
  ['--url', 'ftp://x'],
  ['--auth-file', '/run/token'],
] as const)('%s %j is refused before anything is asked or written', async ([flag, value]) => {
  const folder = join(folderOf({}), 'new');
  const rest = ['--url', 'https://a.b', ...GIVEN, ...(flag === '--auth-file' ? ['--auth-env', 'TOKEN'] : [])];
  const run = await runHere(['init', folder, ...rest, flag, value]);
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toContain(`${flag} cannot be used`);
  expect(existsSync(folder)).toBe(false);
});

test.for([
  ['Shop', 'shop'],
  ['My  Shop!', 'my-shop'],
  ['港口', 'app-7'],
  ['-..-', 'app-7'],
  [`${'a'.repeat(62)}-b`, 'a'.repeat(62)],
] as const)('an application called %s is %s in manifests', ([shown, name]) => {
  expect(documentName(shown, 7)).toBe(name);
});

test('Ctrl-C at any question ends with 130, and nothing is written', async () => {
  const sandbox = await sandboxFor({ seed: demoSeed });
  const cwd = folderOf({});
  const questions = ['Address of the platform: ', '[PORTOLAN_TOKEN]: ', 'Team: ', 'Region [region-1]: '];
  const terminal = startOnTerminal(process.execPath, [builtProgram(), 'init', 'shop'], {
    cwd,
    env: TOKEN,
    columns: 40,
  });
  for (const [index, answer] of [sandbox.url, '', 'team-a', '\u0003'].entries()) {
    await terminal.expect((questions[index] ?? '').slice(-8));
    terminal.type(answer === '\u0003' ? answer : `${answer}\r`);
  }
  const { code, shown } = await terminal.ended;
  expect(code, shown).toBe(130);
  expect(shown).toContain('interrupted');
  expect(readdirSync(cwd)).toEqual([]);
});
