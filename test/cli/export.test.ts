import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import type { Sandbox } from '../../src/sandbox/server.ts';
import { recordedSecond } from '../platform/recorded.ts';
import { idOf, varied, variedList, variedSeed } from './export-seed.ts';
import { runHere, runProcess } from './running.ts';
import { type Scene, type SceneSettings, setScene } from './scene.ts';

const { team, region } = demo;

/** A scene with the twenty applications, one of them with an install, and without manifests. */
async function variedScene(dialect: 'documented' | 'extended', settings: SceneSettings = {}): Promise<Scene> {
  const scene = await setScene({ dialect, manifests: {}, ...settings, sandbox: { seed: variedSeed } });
  const body = {
    market_url: demo.storeUrl,
    market_domain: demo.storeDomain,
    market_type: demo.storeType,
    market_access_key: 'key',
    app_model_id: demo.mysqlModelId,
    app_model_version: '8.0.36',
  };
  const answer = await fetch(`${scene.sandbox.url}/openapi/v1/teams/${team}/regions/${region}/apps/120/install`, {
    method: 'POST',
    headers: { authorization: 'sandbox-token', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  alterOdd(scene.sandbox);
  scene.traffic();
  return scene;
}

/** Values that no seed may have, and that a server may all the same. */
function alterOdd(sandbox: Sandbox): void {
  const id = idOf(114, 1);
  sandbox.alter((state) => {
    const rows = [...state.ports.all()].filter(({ serviceId }) => serviceId === id);
    for (const row of rows) {
      state.ports.put({
        ...row,
        serviceName: 'Not_A_Name',
        ...(row.port === 80 ? { alias: 'lower_case', protocol: 'sctp' } : {}),
      });
    }
  });
}

function config(scene: Scene): readonly string[] {
  return ['--config', join(scene.folder, 'portolan.yaml')];
}

function exporting(scene: Scene, ...args: readonly string[]) {
  return runHere(['export', ...args, ...config(scene)], { env: scene.env, clock: scene.clock });
}

function listFile(scene: Scene): string {
  const file = join(scene.folder, 'list.txt');
  writeFileSync(file, variedList);
  return file;
}

test.for([
  ['extended', 66, ['--team', team]],
  ['documented', 37, ['--list']],
] as const)(
  '%s: twenty varied applications are exported, and a plan of the files is empty',
  async ([dialect, resources, naming]) => {
    const scene = await variedScene(dialect);
    const to = join(scene.folder, 'exported');
    const named = naming[0] === '--list' ? [naming[0], listFile(scene)] : naming;
    const settings = { env: scene.env, cwd: scene.folder };
    const exported = await runProcess(['export', ...named, '--to', to], settings);
    expect(exported.code, exported.err).toBe(0);
    expect(exported.err).toContain('proved: the plan of the written manifests is empty (20 applications, ');
    expect(scene.traffic().writes).toEqual([]);
    expect(readdirSync(to)).toHaveLength(varied.length);

    expect(await runProcess(['fmt', '--check', to], settings)).toMatchObject({ code: 0, out: '' });
    const plan = await runProcess(['plan', '-f', to, '--adopt', '--ledger', 'new.db'], settings);
    expect(plan.out).toContain(`No changes. ${resources} resources in sync`);
    expect(plan.code).toBe(0);
    const without = await runProcess(['plan', '-f', to, '--ledger', 'none', '--detailed-exitcode'], settings);
    expect(without.out).toContain('No changes. ');
    expect(without.code).toBe(0);
    expect(scene.traffic().writes).toEqual([]);
  },
);

test('a second export writes the same, byte for byte, and what is there as it should be is left alone', async () => {
  const scene = await variedScene('extended');
  const first = await exporting(scene, '--team', `${team}/${region}`);
  const second = await exporting(scene, '--list', listFile(scene), '--parallelism', '3');
  expect(first.code).toBe(0);
  const texts = (text: string) => text.split('---\n').filter((part) => !part.includes('StoreInstall'));
  // Listed by id, components are all that is meant; the install and what it brought are of the team's export alone.
  for (const part of texts(second.out)) expect(first.out).toContain(part);
  expect((await exporting(scene, '--team', `${team}/${region}`)).out).toBe(first.out);
  const to = join(scene.folder, 'exported');
  expect((await exporting(scene, '--team', team, '--to', to)).code).toBe(0);
  expect((await exporting(scene, '--team', team, '--to', to)).code).toBe(0);
});

test('a listing answers for all applications, and nothing is asked twice, the proof included', async () => {
  const scene = await variedScene('extended');
  await exporting(scene, '--team', `${team}/${region}`);
  const counts = Map.groupBy(scene.traffic().reads, (read) => read);
  expect(Object.fromEntries([...counts].map(([read, all]) => [read, all.length]))).toEqual({
    listApplications: 1,
    getApplication: 20,
    listAllRules: 1,
    listCertificates: 1,
    listComponents: 20,
    listInstalled: 20,
    listPorts: 38,
  });
});

test('documented: what the server lacks is asked once, and not for each application', async () => {
  const scene = await variedScene('documented', { configuredDialect: 'auto' });
  await exporting(scene, '--list', listFile(scene));
  const counts = Map.groupBy(scene.traffic().reads, (read) => (read.startsWith('GET ') ? 'not there' : read));
  expect(Object.fromEntries([...counts].map(([read, all]) => [read, all.length]))).toEqual({
    getApplication: 20,
    listPorts: 37,
    'not there': 4,
  });
});

test.for([
  ['a name in Chinese is told beside the number', 104, 'appId: 104 # called "商城" on the platform'],
  ['a name that YAML takes for nothing is quoted', 108, 'name: "null"'],
  ['a name that YAML takes for a number is quoted', 107, 'name: "012"'],
  ['a variable is no variable', 109, 'cookie: "a=$${NAME}; b=$$${OTHER}"'],
  ['quotes and backslashes are kept', 109, 'header: "x: \\"quoted\\" \\\\ $${"'],
  ['the default rule is told beside its port', 111, "# the platform's default rule: gr6f0001-80-team-a.region-1."],
  [
    'a closed port with rules stays as it is',
    112,
    '{ port: 80, protocol: http, alias: C, inner: true } # outer left out',
  ],
  ['an alias of two ports is left out', 113, '# alias left out: "SAME" is that of several ports'],
  ['outer without inner is left as it is', 114, 'alias: OUTER_ONLY, outer: true } # inner left out'],
  ['a protocol of nobody is left out', 114, '# protocol left out: a manifest cannot say "sctp"; alias left out'],
  [
    'a service name that is none is left out',
    114,
    'serviceName is left out, and so not managed: a manifest cannot hold',
  ],
  ['a rule of an address is not written', 115, 'rule 10.0.0.1/ on port 80'],
  ['one domain of several ports is several rules', 115, 'name: both.example.com-unsayable-rules-web\n'],
  ['http and https of one domain are two rules', 115, 'name: both.example.com-https-unsayable-rules-web\n'],
  ['two rules that are equal are left', 115, 'the platform has 2 of them'],
  ['a cookie that would turn the text is left out', 115, String.raw`cannot hold "\u202eevil\u2028\u0007"`],
  ['a weight that is none is left out', 115, 'weight is left out, and so not managed: a manifest cannot hold 900.'],
  ['every field of a rule is written', 110, 'certificate: shop.example.com\n  autoSsl: { enabled: true }'],
  ['write-only fields are told', 110, '# Not shown: configuration and extensions of rules'],
  ['installs name the store', 120, 'model: { id: "0a1b2c", version: "8.0.36" } # the version as the server reports it'],
] as const)('%s', async ([, appId, text]) => {
  const scene = await variedScene('extended');
  const { code, out } = await exporting(scene, '--app', `${team}/${region}/${appId}`);
  expect(out.replace(/\n# {3}/g, ' ')).toContain(text);
  expect(code).toBe(0);
});

test('names that two would have are told apart, by number and by id', async () => {
  const scene = await variedScene('extended');
  const { out } = await exporting(scene, '--app', `${team}/${region}/116`, '--app', `${team}/${region}/117`);
  const names = [...out.matchAll(/^kind: (\w+)\nmetadata:\n {2}name: (\S+)$/gm)].map(
    ([, kind, name]) => `${kind}/${name}`,
  );
  expect(names).toEqual([
    'Application/shop',
    'Component/shop-web',
    expect.stringMatching(/^Component\/shop-web-[0-9a-f]{6}$/),
    'Application/shop-117',
    'Component/shop-117-web',
    expect.stringMatching(/^Component\/shop-117-web-[0-9a-f]{6}$/),
  ]);
});

test('documented: ids and names come from the manifests at hand', async () => {
  const scene = await variedScene('documented');
  const id = idOf(110, 1);
  scene.write(
    'a.yaml',
    `apiVersion: portolan/v1
kind: Application
metadata: { name: mine }
spec: { team: ${team}, region: ${region}, appId: 110 }
---
apiVersion: portolan/v1
kind: Component
metadata: { name: my-web }
spec: { application: mine, serviceId: ${id} }
`,
  );
  const { code, out, err } = await exporting(scene, '-f', join(scene.folder, 'manifests'));
  expect(code).toBe(0);
  expect(out).toContain('metadata:\n  name: mine');
  expect(out).toContain(`metadata:\n  name: my-web\nspec:\n  application: mine\n  serviceId: ${id}`);
  expect(out).toContain('{ port: 8080, protocol: http, alias: WEB, inner: true, outer: true }');
  expect(out).toContain('# Not shown: gateway rules: this server does not list them');
  expect(err).toContain('not shown: store installs');
});

test('an application that manifests name by its name is written with its number, and looked up once', async () => {
  const scene = await variedScene('extended');
  scene.write(
    'a.yaml',
    `apiVersion: portolan/v1
kind: Application
metadata: { name: mall }
spec: { team: ${team}, region: ${region}, app: 商城 }
`,
  );
  const { code, out } = await exporting(scene, '-f', join(scene.folder, 'manifests'));
  expect(code).toBe(0);
  expect(out).toContain('  name: mall\nspec:\n  team: team-a\n  region: region-1\n  appId: 104 # called "商城"');
  expect(scene.traffic().reads.toSorted()).toEqual([
    'getApplication',
    'listApplications',
    'listComponents',
    'listInstalled',
    'listPorts',
    'listPorts',
    'listRules',
  ]);
});

test('names of manifests at hand that mean something else are left to it', async () => {
  const scene = await variedScene('extended');
  const first = join(scene.folder, 'manifests', 'first');
  expect((await exporting(scene, '--app', `${team}/${region}/116`, '--to', first)).code).toBe(0);
  // Another application of the same name, exported by itself, would have it too.
  const alone = await exporting(scene, '--app', `${team}/${region}/117`);
  expect(alone.out).toContain('  name: shop\n');
  const second = join(scene.folder, 'manifests', 'second');
  const beside = ['-f', first, '--app', `${team}/${region}/117`, '--to', second];
  expect((await exporting(scene, ...beside)).err).toContain('Application/shop-117: 2 Components');
  expect((await scene.run('plan', ['--ledger', 'none'])).out).toContain('No changes. 4 resources in sync');
});

test('what is larger than a file may be is several files, and a secret is in none of them', async () => {
  const secret = 'orange-elephant-4711';
  const ports = (component: number) =>
    Array.from({ length: 250 }, (_, port) => ({ port: port + 1, alias: `PORT_${component}_${port}` }));
  const components = Array.from({ length: 20 }, (_, number) => ({
    id: idOf(300, number),
    name: `part-${number}`,
    serviceName: `part-${number}`,
    ports: ports(number),
  }));
  const [first] = components;
  const rules = [{ component: first?.id ?? '', port: 1, domain: 'a.example.com', cookie: `token=${secret}` }];
  const application = { id: 300, team, region, name: 'large', components, rules };
  const seed = { ...variedSeed, applications: [application] };
  const scene = await setScene({ manifests: {}, token: secret, sandbox: { seed } });
  const to = join(scene.folder, 'exported');
  const exported = await exporting(scene, '--app', `${team}/${region}/300`, '--to', to);
  expect(readdirSync(to).length).toBeGreaterThan(2);
  expect(readdirSync(to)).toContain('large.2.yaml');
  const texts = readdirSync(to).map((name) => readFileSync(join(to, name), 'utf8'));
  expect(texts.join('')).not.toContain(secret);
  // What is really there nobody may see, so it is not managed.
  expect(texts.join('')).toContain(
    '# cookie is left out, and so not managed: a manifest cannot hold "token=[secret]".',
  );
  expect(exported.err).toContain('proved: the plan of the written manifests is empty');
  expect(exported.code).toBe(0);
});

test('more than one file may hold goes to standard output with a note', async () => {
  const ports = Array.from({ length: 700 }, (_, port) => ({ port: port + 1, alias: `PORT_${port}` }));
  const components = [1, 2, 3].map((number) => ({ id: idOf(300, number), name: `part-${number}`, ports }));
  const seed = { ...variedSeed, applications: [{ id: 300, team, region, name: 'large', components }] };
  const scene = await setScene({ manifests: {}, sandbox: { seed } });
  const { code, err } = await exporting(scene, '--app', `${team}/${region}/300`);
  expect(err).toContain('note: the output may exceed the limit of one manifest file; --to FOLDER writes several');
  expect(err).toContain('proved');
  expect(code).toBe(0);
});

test('what a team has in a region that is not enabled is told not to be among it', async () => {
  const scene = await variedScene('extended');
  const { code, err } = await exporting(scene, '--team', team);
  expect(err).toContain(
    `note: region ${demo.maintenanceRegion} is under maintenance, so the platform lists nothing in it`,
  );
  expect(code).toBe(0);
});

test('only the components that are named are written, with their rules', async () => {
  const scene = await variedScene('extended');
  const { code, out } = await exporting(scene, '--app', `${team}/${region}/119`, '--component', idOf(119, 3));
  expect(code).toBe(0);
  expect(out.match(/^kind: .*$/gm)).toEqual(['kind: Application', 'kind: Component', 'kind: HttpGatewayRule']);
  expect(out).toContain('domain: part-2.example.com');
});

test('files that are there and differ are replaced only with --force, and none is written otherwise', async () => {
  const scene = await variedScene('extended');
  const to = join(scene.folder, 'exported');
  await exporting(scene, '--app', `${team}/${region}/116`, '--to', to);
  const file = join(to, 'shop.yaml');
  const whole = readFileSync(file, 'utf8');
  writeFileSync(file, 'mine');
  const both = ['--app', `${team}/${region}/116`, '--app', `${team}/${region}/103`, '--to', to];
  const refused = await exporting(scene, ...both);
  expect(refused.code).toBe(3);
  expect(refused.err).toContain(`${file} exists and differs`);
  expect(refused.err).toContain('--force');
  expect(readFileSync(file, 'utf8')).toBe('mine');
  expect(existsSync(join(to, 'every-port.yaml'))).toBe(false);
  expect((await exporting(scene, ...both, '--force')).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe(whole);
  expect(readdirSync(to).sort()).toEqual(['every-port.yaml', 'shop.yaml']);
  expect(whole).not.toContain('yaml-language-server');
});

test('a file that is replaced says which annotations, labels and comments went with it', async () => {
  const scene = await variedScene('extended');
  const to = join(scene.folder, 'exported');
  const arguments_ = ['--app', `${team}/${region}/116`, '--to', to];
  await exporting(scene, ...arguments_);
  const file = join(to, 'shop.yaml');
  const whole = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    whole.replace('  name: shop\n', '  name: shop # ours\n  annotations: { portolan/drift: report }\n'),
  );
  const { code, err } = await exporting(scene, ...arguments_, '--force');
  expect(code).toBe(0);
  expect(err).toContain(`note: ${file} was replaced. These parts of the former file are lost`);
  expect(err).toContain('  lost: Application/shop: annotation portolan/drift\n  lost: a comment\n');
  expect(readFileSync(file, 'utf8')).toBe(whole);
  expect((await exporting(scene, ...arguments_, '--force')).err).not.toContain('gone:');
});

test.for([
  ['nothing is named', [], 3, 'No application is named'],
  ['an address is none', ['--app', 'team-a/42'], 3, 'team-a/42 is not TEAM/REGION/APP-ID'],
  ['a team is none', ['--team', 'a/b/c'], 3, 'a/b/c is neither TEAM nor TEAM/REGION'],
  [
    'a component is nobody’s',
    ['--app', 't/r/1', '--app', 't/r/2', '--component', 'x'],
    3,
    '--component needs exactly one application',
  ],
  ['a store is not known', ['--app', 't/r/1', '--store', 'no'], 3, 'no Store called no'],
  ['the team is not known', ['--team', 'nobody'], 1, 'no such team'],
  ['the platform is not known', ['--app', 'p/t/r/1'], 3, 'has no Platform called p'],
  ['the application is not known', ['--app', `${team}/${region}/999`], 1, 'has no application 999 of team'],
  ['the component is not known', ['--app', `${team}/${region}/116`, '--component', 'ab'], 1, 'no component ab in'],
] as const)('%s: said with a remedy, and nothing is written', async ([, args, code, message]) => {
  const scene = await variedScene('extended');
  const run = await exporting(scene, ...args);
  expect(run.err).toContain(message);
  expect(run.code).toBe(code);
  expect(run.out).toBe('');
});

test('an application that cannot be read is in nobody’s way', async () => {
  const scene = await variedScene('extended');
  const run = await exporting(scene, '--app', `${team}/${region}/999`, '--app', `${team}/${region}/116`);
  expect(run.code).toBe(1);
  expect(run.out).toContain('name: shop');
  expect(run.err).toContain(`default/${team}/${region}/999 was not exported`);
});

test('a store that cannot be reached hides only what was installed from it, and is not taken for a wrong URL', async () => {
  const scene = await variedScene('extended');
  const { status, body } = recordedSecond('install while the store is unreachable').response;
  scene.sandbox.setFaults([{ operation: 'listInstalled', fault: { type: 'status', when: 'before', status, body } }]);
  const run = await exporting(scene, '--app', `${team}/${region}/120`, '--app', `${team}/${region}/116`);
  expect(run.code).toBe(0);
  expect(run.out.match(/^kind: Application$/gm)).toHaveLength(2);
  expect(run.out.match(/^kind: Component$/gm)).toHaveLength(4);
  expect(run.out).not.toContain('kind: StoreInstall');
  expect(run.out).toMatch(/# Not shown: store installs: none is written[^]*请求失败，请检查网络和配置/);
  expect(run.err).toContain('Check that the application store runs and that the platform can reach it.');
  expect(run.err + run.out).not.toContain('spec.url of the Platform');
});

test('documented: a team cannot be listed, and the way to name applications is told', async () => {
  const scene = await variedScene('documented');
  const run = await exporting(scene, '--team', `${team}/${region}`);
  expect(run.code).toBe(1);
  expect(run.err).toContain('does not list the applications of a team');
  expect(run.err).toContain('--list FILE');
});

test('a platform that cannot be reached ends it with 5', async () => {
  const scene = await variedScene('extended');
  await scene.sandbox.close();
  const run = await exporting(scene, '--app', `${team}/${region}/116`);
  expect(run.code).toBe(5);
  expect(run.out).toBe('');
});
