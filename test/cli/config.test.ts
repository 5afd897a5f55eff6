import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configurationFor, folderOf } from './platform.ts';
import { runHere } from './running.ts';

const CONFIGURATION = `${configurationFor('https://console.example.com')}---
apiVersion: portolan/v1
kind: Settings
spec:
  prune: { maxShare: 0.5 }
  scopes:
    allow: [ "team-a/*/*" ]
`;

interface Shown {
  readonly settings: readonly {
    kind: string;
    document: string;
    name: string;
    value: unknown;
    variable: string;
    origin: object;
    secret?: string;
  }[];
  readonly flags: readonly { flag: string; variable: string; shown: string; origin: { type: string } }[];
}

/** What is in force, with a configuration, arguments and an environment. */
async function config(args: readonly string[], env: Record<string, string> = {}, text = CONFIGURATION) {
  const cwd = folderOf({ 'portolan.yaml': text });
  const run = await runHere(['config', '--config', join(cwd, 'portolan.yaml'), ...args], { env });
  return { ...run, out: run.out.replaceAll(`${cwd}/`, ''), err: run.err.replaceAll(`${cwd}/`, '') };
}

/** One setting by its name, `Platform/default:url`, and where it comes from. */
async function setting(name: string, args: readonly string[], env: Record<string, string> = {}, text = CONFIGURATION) {
  const run = await config([...args, '-o', 'json'], env, text);
  expect(run.code, run.err).toBe(0);
  const { settings } = JSON.parse(run.out) as Shown;
  const found = settings.find(
    (one) => (one.kind === 'Settings' ? one.name : `${one.kind}/${one.document}:${one.name}`) === name,
  );
  return found && { value: found.value, ...found.origin };
}

const option = (value: unknown, name: string) => ({ value, type: 'option', option: name });
const inFile = (value: unknown, line: number, column: number) => ({
  value,
  type: 'file',
  position: { file: 'portolan.yaml', line, column },
});

test.for([
  ['the default', 'prune.maxObjects', [], {}, { value: 10, type: 'default' }],
  ['a duration by default', 'server.sessions.idle', [], {}, { value: '2h', type: 'default' }],
  ['a short duration by default', 'source.debounce', [], {}, { value: '100ms', type: 'default' }],
  [
    'a duration of a flag',
    'server.sessions.idle',
    ['--set', 'server.sessions.idle=90m'],
    {},
    option('1h30m', '--set server.sessions.idle'),
  ],
  ['the file before the default', 'prune.maxShare', [], {}, inFile(0.5, 11, 22)],
  ['a list of the file', 'scopes.allow', [], {}, inFile(['team-a/*/*'], 13, 5)],
  [
    'a variable before the file',
    'prune.maxShare',
    [],
    { PORTOLAN_SET_PRUNE_MAX_SHARE: '0.7' },
    option(0.7, '$PORTOLAN_SET_PRUNE_MAX_SHARE'),
  ],
  [
    'a flag before a variable',
    'prune.maxShare',
    ['--set', 'prune.maxShare=0.9'],
    { PORTOLAN_SET_PRUNE_MAX_SHARE: '0.7' },
    option(0.9, '--set prune.maxShare'),
  ],
  [
    'the later of two flags',
    'prune.maxShare',
    ['--set', 'prune.maxShare=0.9', '--set', 'spec.prune.maxShare=1'],
    {},
    option(1, '--set prune.maxShare'),
  ],
  ['an empty variable is unset', 'prune.maxShare', [], { PORTOLAN_SET_PRUNE_MAX_SHARE: '' }, inFile(0.5, 11, 22)],
  ['text that looks like a number', 'source.ref', ['--set', 'source.ref=1.20'], {}, option('1.20', '--set source.ref')],
  ['a truth', 'prune.enabled', ['--set', 'prune.enabled=false'], {}, option(false, '--set prune.enabled')],
  [
    'a list with commas',
    'scopes.allow',
    [],
    { PORTOLAN_SET_SCOPES_ALLOW: 'a/*/*, b/*/*' },
    option(['a/*/*', 'b/*/*'], '$PORTOLAN_SET_SCOPES_ALLOW'),
  ],
  ['a list as YAML', 'scopes.allow', ['--set', 'scopes.allow=["a/*/*"]'], {}, option(['a/*/*'], '--set scopes.allow')],
  [
    'a setting of a platform',
    'Platform/default:url',
    ['--set', 'Platform/default:url=https://b.example.com'],
    {},
    option('https://b.example.com', '--set Platform/default:url'),
  ],
  [
    'a setting of a platform, from a variable',
    'Platform/default:limits.concurrency',
    [],
    { PORTOLAN_SET_PLATFORM_DEFAULT_LIMITS_CONCURRENCY: '3' },
    option(3, '$PORTOLAN_SET_PLATFORM_DEFAULT_LIMITS_CONCURRENCY'),
  ],
  [
    'a reference that replaces another',
    'Platform/default:auth.value.file',
    ['--set', 'Platform/default:auth.value.file=/run/token'],
    {},
    option('/run/token', '--set Platform/default:auth.value.file'),
  ],
  [
    'a platform that the file does not have',
    'Platform/far-east:url',
    [],
    { PORTOLAN_SET_PLATFORM_FAR_EAST_URL: 'https://e.example.com' },
    option('https://e.example.com', '$PORTOLAN_SET_PLATFORM_FAR_EAST_URL'),
  ],
] as const)('%s is in force, and its origin is told', async ([, name, args, env, expected]) => {
  expect(await setting(name, args, env)).toEqual(expected);
});

test('every setting has a variable of its own, which gives it, and a flag', async () => {
  const { settings } = JSON.parse((await config(['-o', 'json'])).out) as Shown;
  const variables = settings.map(({ variable }) => variable);
  expect(new Set(variables).size).toBe(variables.length);
  expect(variables.length).toBeGreaterThan(40);
  for (const { name, kind, document, variable, value } of settings) {
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const flag = `${kind === 'Settings' ? '' : `${kind}/${document}:`}${name}`;
    expect(await setting(flag, [], { [variable]: text }), variable).toEqual(option(value, `$${variable}`));
    expect(await setting(flag, ['--set', `${flag}=${text}`]), flag).toEqual(option(value, `--set ${flag}`));
  }
});

test.for([
  [
    'a value that the schema refuses',
    ['--set', 'prune.maxShare=2'],
    {},
    / --> --set prune\.maxShare  Settings\/default spec\.prune\.maxShare\n[^]*a number from 0 to 1\n\n1 problem\n/,
  ],
  [
    'a value from a variable',
    [],
    { PORTOLAN_SET_CONTROLLER_RESYNC_INTERVAL: 'soon' },
    / --> \$PORTOLAN_SET_CONTROLLER_RESYNC_INTERVAL  Settings/,
  ],
  ['a rule that no schema says', ['--set', 'settle.install=0s'], {}, / --> --set settle\.install /],
  [
    'a misspelt setting',
    ['--set', 'prune.maxShares=1'],
    {},
    /--set prune\.maxShares is not a setting[^]*Did you mean prune\.maxShare\?/,
  ],
  [
    'a misspelt variable',
    [],
    { PORTOLAN_SET_PRUNE_MAX_SHARES: '1' },
    /\$PORTOLAN_SET_PRUNE_MAX_SHARES is not a setting[^]*Did you mean PORTOLAN_SET_PRUNE_MAX_SHARE\?/,
  ],
  ['no equals sign', ['--set', 'prune.maxShare'], {}, /does not have the form PATH=VALUE/],
  ['a kind without a name', ['--set', 'Platform:url=https://x.example.com'], {}, /does not have the form PATH=VALUE/],
  [
    'a platform without an address',
    ['--set', 'Platform/new:dialect=auto'],
    {},
    / --> --set Platform\/new:dialect  Platform\/new/,
  ],
  ['a list that is no YAML', ['--set', 'scopes.allow=[a'], {}, / --> --set scopes\.allow /],
] as const)('%s is refused by the name of its flag or variable', async ([, args, env, expected]) => {
  const run = await config(args, env);
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toMatch(expected);
});

test('no secret is shown, given as a value or by reference; whether it can be read is', async () => {
  const args = ['--set', 'Platform/default:auth.value.env=MY_TOKEN'];
  const given = await config(args, { MY_TOKEN: 'hunter2-hunter2', PORTOLAN_SANDBOX_TOKEN: 'hunter3-hunter3' });
  expect(given).toMatchObject({ code: 0, err: '' });
  expect(given.out).toMatch(
    /Platform\/default:auth\.value\.env +MY_TOKEN \(can be read\) +--set Platform\/default:auth\.value\.env\n/,
  );
  expect(given.out).toMatch(/--token of sandbox +\(set, not shown\) +\$PORTOLAN_SANDBOX_TOKEN\n/);
  expect(given.out).not.toMatch(/hunter/);
  expect((await config(args)).out).toMatch(/MY_TOKEN \(cannot be read\)/);
  for (const path of ['auth.value', 'auth.value.env']) {
    const inline = await config(['--set', `Platform/default:${path}=hunter2 hunter2`]);
    expect(inline).toMatchObject({ code: 3, out: '' });
    expect(inline.err).not.toMatch(/hunter/);
  }
});

test('--changed shows only values that differ from the default, of flags too', async () => {
  const run = await config(['--changed'], { PORTOLAN_LEDGER: 'other.db' });
  expect(run.out.replace(/ {2,}/g, '  ')).toBe(`SETTING  VALUE  FROM
scopes.allow  ["team-a/*/*"]  portolan.yaml:13:5
prune.maxShare  0.5  portolan.yaml:11:22
Platform/default:url  https://console.example.com  portolan.yaml:5:8
Platform/default:auth.header  Authorization  portolan.yaml:6:19
Platform/default:auth.value.env  PORTOLAN_TOKEN (cannot be read)  portolan.yaml:6:48

FLAG  VALUE  FROM
--ledger  other.db  $PORTOLAN_LEDGER

5 settings, 1 flag
`);
});

test('a variable that nothing reads is told, and what was meant', async () => {
  const env = { PORTOLAN_LEDGR: 'x', PORTOLAN_SERVICE_HOST: '10.0.0.1', PORTOLAN_VAR_ENV: 'prod', PORTOLAN_TOKEN: 'x' };
  const run = await config([], env);
  expect(run.err).toBe('note: $PORTOLAN_LEDGR is set but has no effect; did you mean PORTOLAN_LEDGER?\n');
});

test('a faulty file is reported as it is by every command', async () => {
  const run = await config([], {}, CONFIGURATION.replace('maxShare', 'maxShair'));
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toMatch(/portolan\.yaml:11:12[^]*did you mean maxShare\?/);
});

test('settings are in force without any file, for every command that reads a configuration', async () => {
  const env = { PORTOLAN_SET_PLATFORM_DEFAULT_URL: 'http://127.0.0.1:1' };
  const run = await runHere(['regions', '--config', '/dev/null'], { env });
  expect(run).toMatchObject({ code: 5, out: '' });
  expect(run.err).toContain('127.0.0.1:1');
});

test('the roles of tokens, users and groups are shown together, with their applications', async () => {
  const server = `  server:
    publicUrl: https://portolan.example.com
    oidc: { issuer: "https://login.example.com", clientId: portolan }
    tokens:
      - { name: ci, role: viewer, value: { env: CI_TOKEN } }
      - { name: team-a, value: { env: TEAM_A } }
    roles:
      - { role: operator, tokens: [team-a], groups: [staff], applications: ["default/team-a/*/*", "*/team-b/region-1/7"] }
      - { role: admin, users: [alice@example.com] }
`;
  const { out, err, code } = await config(['--changed'], {}, CONFIGURATION + server);
  expect(code, err).toBe(0);
  expect(out.slice(out.indexOf('CALLER'))).toBe(`CALLER                   ROLE       APPLICATIONS
token ci                 viewer     everything
token team-a             operator   default/team-a/*/* */team-b/region-1/7
group staff              operator   default/team-a/*/* */team-b/region-1/7
user alice@example.com   admin      everything
`);
  expect((await config(['--changed'])).out).not.toContain('CALLER');
});
