import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { configurationFor, folderOf, sandboxFor } from './platform.ts';
import { projectRoot, runHere, runProcess, startProgram } from './running.ts';

const application = `apiVersion: portolan/v1
kind: Application
metadata: { name: shop }
spec: { team: team-a, region: region-1, appId: 42 }
`;
const token = { PORTOLAN_TOKEN: 'sandbox-token' };

test('validate says how much is valid, and what could not be checked', async () => {
  const cwd = folderOf({ 'shop.yaml': application });
  expect(await runProcess(['validate', '-f', 'shop.yaml'], { cwd })).toEqual({
    code: 0,
    out: 'valid: 1 resource in 1 file (1 Application)\n',
    err: expect.stringContaining('no configuration'),
  });
  writeFileSync(join(cwd, 'portolan.yaml'), configurationFor('https://console.example.com'));
  expect(await runProcess(['validate', '-f', '.'], { cwd })).toEqual({
    code: 0,
    out: 'valid: 1 resource in 1 file (1 Application), and portolan.yaml\n',
    err: '',
  });
});

test('validate reports every fault of configuration and manifests in one run, with its place', async () => {
  const cwd = folderOf({
    'portolan.yaml': configurationFor('https://console.example.com').replace('url:', 'ulr:'),
    'a.yaml': application.replace('appId: 42', 'appId: forty'),
    'b.yaml': application.replace('shop', '${NAME}'),
  });
  const text = await runProcess(['validate', '-f', 'a.yaml', '-f', 'b.yaml'], { cwd });
  expect(text.code).toBe(3);
  expect(text.out).toMatch(/a\.yaml:4:\d+/);
  expect(text.out).toMatch(/b\.yaml:3:\d+/);
  expect(text.out).toMatch(/portolan\.yaml:5:3/);
  const json = await runProcess(['validate', '-f', 'a.yaml', '-f', 'b.yaml', '-o', 'json'], { cwd });
  expect(json.code).toBe(3);
  const { problems } = JSON.parse(json.out) as { problems: { position: { file: string } }[] };
  expect([...new Set(problems.map(({ position }) => position.file))]).toEqual(['a.yaml', 'b.yaml', 'portolan.yaml']);
});

test('variables come from a file, the environment and the command line, the later before the earlier', async () => {
  const manifest = `apiVersion: portolan/v1
kind: Application
metadata:
  name: \${NAME}
spec:
  team: \${TEAM}
  region: region-1
  appId: \${APP}
`;
  const cwd = folderOf({ 'vars.env': 'NAME=from-file\nTEAM=from-file\nAPP=7\n' });
  const env = { PORTOLAN_VAR_TEAM: 'from-env', PORTOLAN_VAR_NAME: 'from-env' };
  const args = ['validate', '-f', '-', '--var-file', 'vars.env', '--var', 'NAME=from-flag'];
  expect(await runProcess(args, { cwd, env, input: manifest })).toMatchObject({
    code: 0,
    out: expect.stringContaining('1 Application'),
  });
  const refused = await runProcess([...args, '--var', 'NAME=Not A Name'], { cwd, env, input: manifest });
  expect(refused).toMatchObject({ code: 3 });
  expect(refused.out).toContain('<stdin>');
  const noEquals = await runProcess([...args, '--var', 'hunter2-hunter2'], { cwd, env, input: manifest });
  expect(noEquals).toMatchObject({ code: 3, out: '' });
  expect(noEquals.err).not.toContain('hunter2');
});

test.for([
  [['validate'], 'Pass -f'],
  [['validate', '-f', 'nowhere.yaml', '-c', 'nowhere.yaml'], 'no such file'],
  [['regions'], 'Platform'],
  [['monitor', 'a/b'], 'PLATFORM/TEAM/REGION/APP-ID'],
  [['monitor', 'a/b/c/1', '--since', '1h', '--until', '2h'], '--since is not before --until'],
  [['monitor', 'a/b/c/1', '--since', '900000s', '--step', '1'], '--step 82'],
  [['monitor', 'a/b/c/1', '--since', 'yesterday'], 'duration'],
  [['sandbox', '--port', '70000'], '0 to 65535'],
  [['sandbox', '--seed', 'nowhere.yaml'], 'no such file'],
] as const)('%j is refused before anything is done', async ([args, words]) => {
  const run = await runHere(args);
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toContain(words);
});

test('schema prints what is published, and knows kinds in any case of letters', async () => {
  const published = readFileSync(join(projectRoot, 'schemas', 'store-install.schema.json'), 'utf8');
  expect(await runProcess(['schema', 'storeinstall'])).toEqual({ code: 0, out: published, err: '' });
  const list = await runProcess(['schema']);
  expect(list.out).toMatch(/^KIND +LOCATION +DESCRIPTION\n/);
  expect(list.out).toMatch(/\nHttpGatewayRule +manifests /);
  const wrong = await runProcess(['schema', 'Componet']);
  expect(wrong).toMatchObject({ code: 3, out: '' });
  expect(wrong.err).toContain('Did you mean Component?');
});

test('regions lists the regions of all platforms with their status in words, and no secret of theirs', async () => {
  const [one, two] = [await sandboxFor(), await sandboxFor({ dialect: 'documented' })];
  const both = `${configurationFor(one.url)}---\n${configurationFor(two.url, 'other')}`;
  const cwd = folderOf({ 'portolan.yaml': both });
  const text = await runProcess(['regions'], { cwd, env: token });
  expect(text).toMatchObject({ code: 0, err: '' });
  expect(text.out).toMatch(/^PLATFORM +NAME +ALIAS +STATUS /);
  expect(text.out).toMatch(/\ndefault +region-1 .*enabled /);
  expect(text.out).toMatch(/\nother +region-maint .*under maintenance /);
  const json = await runProcess(['regions', '--platform', 'other', '-o', 'json'], { cwd, env: token });
  const records = JSON.parse(json.out) as Record<string, unknown>[];
  expect(records.map(({ name, takesChanges }) => [name, takesChanges])).toEqual([
    ['region-1', true],
    ['region-maint', false],
  ]);
  expect(Object.keys(records[0] ?? {}).filter((key) => /cert|key|ca/i.test(key))).toEqual([]);
  const unknown = await runProcess(['regions', '--platform', 'thrid'], { cwd, env: token });
  expect(unknown).toMatchObject({ code: 3, out: '' });
});

test.for(['extended', 'documented'] as const)('monitor draws every series of the %s dialect', async (dialect) => {
  const sandbox = await sandboxFor({ dialect });
  const cwd = folderOf({ 'portolan.yaml': configurationFor(sandbox.url), 'shop.yaml': application });
  const text = await runProcess(['monitor', 'shop', '-f', 'shop.yaml', '--since', '2h'], { cwd, env: token });
  expect(text).toMatchObject({ code: 0, err: '' });
  expect(text.out).toMatch(/^default\/team-a\/region-1\/42 /);
  expect(text.out).toMatch(/\nshop-web +request_time +[▁▂▃▄▅▆▇█]+ +[\d.]+ ms +[\d.]+ ms +[\d.]+ ms\n/);
  expect(text.out).not.toContain('#2');
  const args = ['monitor', 'default/team-a/region-1/42', '--since', '2h', '--step', '600', '-o', 'json'];
  const json = await runProcess(args, { cwd, env: token });
  const { components, stepSeconds } = JSON.parse(json.out) as { components: unknown[]; stepSeconds: number };
  expect(components.length).toBeGreaterThan(0);
  expect(stepSeconds).toBe(600);
  expect(sandbox.requests().every(({ isWrite }) => !isWrite)).toBe(true);
});

test('no data is said plainly', async () => {
  // The other dialect has the region's metrics, which lose nothing.
  const sandbox = await sandboxFor({ dialect: 'documented', seed: { ...demoSeed, monitoring: 'lossy' } });
  const cwd = folderOf({ 'portolan.yaml': configurationFor(sandbox.url) });
  const run = await runProcess(['monitor', 'default/team-a/region-1/42'], { cwd, env: token });
  expect(run).toMatchObject({ code: 0, err: '' });
  expect(run.out).toMatch(/request_time +no data/);
});

test('a platform that refuses the token, or is not there, ends with 5 and says what to do', async () => {
  const sandbox = await sandboxFor();
  const cwd = folderOf({ 'portolan.yaml': configurationFor(sandbox.url) });
  const refused = await runProcess(['regions'], { cwd, env: { PORTOLAN_TOKEN: 'wrong-token' } });
  expect(refused).toMatchObject({ code: 5, out: '' });
  expect(refused.err).toMatch(/401[^]*token/);
  await sandbox.close();
  const gone = await runProcess(['regions'], { cwd, env: token });
  expect(gone).toMatchObject({ code: 5, out: '' });
  expect(gone.err).toContain('ECONNREFUSED');
});

test('an interrupted command ends with 130, whatever it was waiting for', async () => {
  let asked = 0;
  const silent = createServer(() => {
    asked += 1;
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const cwd = folderOf({ 'portolan.yaml': configurationFor(url) });
  const { child, ended } = startProgram(['regions'], { cwd, env: token });
  await expect.poll(() => asked).toBe(1);
  child.kill('SIGINT');
  expect(await ended).toMatchObject({ code: 130, out: '', err: expect.stringMatching(/^interrupted/) });
});

test.for(['SIGINT', 'SIGTERM'] as const)(
  'the sandbox serves until %s, and keeps what it is told to keep',
  async (signal) => {
    const cwd = folderOf({ 'faults.yaml': '- { operation: addPort, times: 1, fault: { type: drop, when: after } }\n' });
    const args = ['sandbox', '--port', '0', '--data', 'data', '--dialect', 'documented', '--faults', 'faults.yaml'];
    const { child, ended, outputSoFar } = startProgram([...args, '--token', 'a-token-of-my-own'], { cwd });
    await expect.poll(() => outputSoFar().out).toContain('Ctrl-C');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(outputSoFar().out)?.[0] ?? '';
    const answer = await fetch(`${url}/openapi/v1/regions`, { headers: { authorization: 'a-token-of-my-own' } });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toHaveLength(2);
    child.kill(signal);
    const run = await ended;
    expect(run).toMatchObject({ code: 0, err: 'sandbox closed\n' });
    expect(run.out).toContain('kept in data');
    expect(run.out).not.toContain('a-token-of-my-own');
    expect(readFileSync(join(cwd, 'data', 'sandbox.db')).length).toBeGreaterThan(0);
  },
);

test('a sandbox cannot take a port twice', async () => {
  const sandbox = await sandboxFor();
  const run = await runProcess(['sandbox', '--port', String(sandbox.port)]);
  expect(run).toMatchObject({ code: 1, out: '' });
  expect(run.err).toContain(`127.0.0.1:${sandbox.port}`);
});
