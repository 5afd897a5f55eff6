import { expect, test } from 'vitest';
import { folderOf, sandboxFor, configurationFor } from './platform.ts';
import { collectingTerminal, runHere, runProcess } from './running.ts';
import { APPLICATION } from '../controller/shop.ts';

const ESCAPE = '\u001b[';
const TOKEN = { PORTOLAN_TOKEN: 'sandbox-token' };
const WEB = `---
apiVersion: portolan/v1
kind: Component
metadata: { name: shop-web }
spec: { application: shop, serviceId: 6f3c1d5e8a9b40c7a2e4d6f8091b3c5d, ports: [] }
`;

test.for([['-V'], ['--version'], ['version']])('portolan %s prints the version', async (args) => {
  const run = await runHere(args);
  expect(run).toMatchObject({ code: 0, err: '' });
  expect(run.out).toMatch(/^portolan \d+\.\d+\.\d+ \(Node /);
});

test('the help names -V and --color', async () => {
  const { out } = await runHere(['--help']);
  expect(out).toMatch(/-V, --version +print the version/);
  expect(out).toMatch(/--color <when> +colour of the output: auto, always or never/);
});

test.for([
  ['apply', '--auto-approve', '--yes'],
  ['apply', '--auto-approve=true', '--yes'],
  ['plan', '--file', '-f (--filename)'],
  ['plan', '--namespace', 'kind Application'],
  ['plan', '-out=plan.json', '--save FILE'],
  ['destroy', '', 'portolan apply --prune'],
  ['delete', '', 'portolan apply --prune'],
  ['get', '', 'portolan status'],
  ['import', '', 'portolan adopt'],
] as const)('%s %s, as other programs have it, is refused with what it is here', async ([command, flag, hint]) => {
  const run = await runHere([command, ...(flag === '' ? [] : [flag])]);
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toContain(hint);
});

test('a folder may stand as an argument of validate, plan and apply', async () => {
  const { url } = await sandboxFor();
  const cwd = folderOf({ 'portolan.yaml': configurationFor(url) });
  const shop = folderOf({ 'shop.yaml': APPLICATION + WEB });
  expect(await runProcess(['validate', shop], { cwd })).toMatchObject({ code: 0, err: '' });
  const plan = await runProcess(['plan', shop], { cwd, env: { ...TOKEN, PORTOLAN_FILENAME: 'nowhere' } });
  expect(plan).toMatchObject({ code: 0, out: expect.stringContaining('1 resource in sync') });
  const apply = await runProcess(['apply', shop, '--dry-run'], { cwd, env: TOKEN });
  expect(apply).toMatchObject({ code: 0, out: expect.stringContaining('1 resource in sync') });
});

test.for(['component/Shop-Web', 'SHOP-WEB', 'Component/shop-wbe'])(
  '--target %s: what was meant is named',
  async (target) => {
    const { url } = await sandboxFor();
    const cwd = folderOf({ 'portolan.yaml': configurationFor(url), 'shop.yaml': APPLICATION + WEB });
    const run = await runProcess(['plan', '-f', 'shop.yaml', '--target', target], { cwd, env: TOKEN });
    expect(run).toMatchObject({ code: 3, out: '' });
    expect(run.err).toContain('Did you mean Component/shop-web?');
  },
);

test.for([
  [['--color=always'], {}, false, true],
  [['--color', 'always'], {}, false, true],
  [['--color=never'], {}, true, false],
  [['--color=always'], { NO_COLOR: '1' }, true, true],
  [['--color=auto'], { FORCE_COLOR: '1' }, false, true],
  [[], { FORCE_COLOR: '1' }, false, true],
  [[], { FORCE_COLOR: '0' }, true, false],
  [[], { CLICOLOR_FORCE: '1' }, false, true],
  [[], { CLICOLOR_FORCE: '0' }, false, false],
  [[], { CLICOLOR: '0' }, true, false],
  [[], { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
  [[], { PORTOLAN_COLOR: 'always', NO_COLOR: '1' }, false, true],
  [[], {}, true, true],
  [[], {}, false, false],
] as const)('%j with %j, terminal %s: colour %s', async ([flags, env, isTerminal, isColored]) => {
  const folder = folderOf({ 'bad.yaml': 'apiVersion: portolan/v1\nkind: Nothing\n' });
  for (const args of [
    ['validate', '-f', folder, ...flags],
    [...flags, 'validate', '-f', folder],
  ]) {
    const { terminal, text } = collectingTerminal({ isTerminal, color: isTerminal });
    expect(await runHere(args, { terminal, env })).toMatchObject({ code: 3 });
    expect(text.out.includes(ESCAPE)).toBe(isColored);
  }
});

test('any other value of --color is refused', async () => {
  const flag = await runHere(['version', '--color=sometimes']);
  expect(flag).toMatchObject({ code: 3, out: '', err: expect.stringContaining('auto, always or never') });
  const variable = await runHere(['version'], { env: { PORTOLAN_COLOR: 'red' } });
  expect(variable).toMatchObject({ code: 3, err: expect.stringContaining('PORTOLAN_COLOR') });
});
