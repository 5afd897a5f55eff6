import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { runHere } from './running.ts';
import { savePlan } from './saved.ts';
import { PORTS, rule, setScene, shop, web } from './scene.ts';

const OWNER = `{ name: owner, message: add the label owner,
  expression: 'manifest.kind != "Component" || "owner" in manifest.metadata.labels' }`;
const WEIGHT = `{ name: weight, message: set weight to 100, action: warn,
  expression: 'manifest.kind != "HttpGatewayRule" || manifest.spec.?weight.orValue(0) == 100' }`;
const policies = (...all: readonly string[]): string => `{ policies: [ ${all.join(', ')} ] }`;

const manifests = { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com')) };
const owned = { 'a.yaml': shop(web(PORTS, 'labels: { owner: web }'), rule('www', 'www.example.com')) };
const DENIED = 'policy "owner" denies Component/shop-web: add the label owner; nothing was sent';
const WARNED = 'policy "weight" warns about HttpGatewayRule/www: set weight to 100';

test('a denied manifest and a warning are in every format of a plan, and nothing is sent', async () => {
  const scene = await setScene({ settings: policies(OWNER, WEIGHT), manifests });
  const formats = ['json', 'jsonl', 'yaml', 'markdown', 'github', 'sarif', 'junit', 'html'];
  const outs = formats.flatMap((format) => ['--out', `${format}=${join(scene.folder, format)}`]);
  for (const command of ['plan', 'apply'] as const) {
    const run = await scene.run(command, outs);
    expect(run.code).toBe(4);
    expect(run.out).toContain(`refused by a guard (guard/policy)\n    ${DENIED}`);
    expect(run.out).toContain('→ to allow it: correct the manifest, or --ignore-policies --reason "…"');
    expect(run.out).toContain(`i ${WARNED}`);
    for (const format of formats) {
      const text = readFileSync(join(scene.folder, format), 'utf8').replaceAll(/&quot;|\\"/g, '"');
      expect(text, format).toContain(DENIED);
      expect(text, format).toContain(WARNED);
    }
  }
  expect(scene.traffic().writes).toEqual([]);
  const text = (format: string): string => readFileSync(join(scene.folder, format), 'utf8');
  const { plan } = JSON.parse(text('json')) as { plan: { refusals: unknown } };
  expect(plan.refusals).toMatchObject([{ code: 'guard/policy', policy: 'owner', resource: 'Component/shop-web' }]);
  expect(text('github')).toMatch(/::error file=.*a\.yaml,line=6,col=1,title=Component\/shop-web/);
  expect(text('github')).toMatch(/::warning file=.*a\.yaml,line=\d+,col=1,title=HttpGatewayRule\/www/);
  const silent = await scene.run('apply', ['--ignore-policies']);
  expect(silent.code).toBe(3);
  expect(silent.err).toContain('No reason was given');
  const ignoring = await scene.run('plan', ['--ignore-policies', '--reason', 'OPS-17']);
  expect(ignoring.code).toBe(0);
  expect(ignoring.out).toContain('policy "owner" denies Component/shop-web and is ignored: add the label owner');
  // What is allowed is applied, with the warning.
  scene.write('a.yaml', owned['a.yaml']);
  const allowed = await scene.run('apply');
  expect(allowed.code).toBe(0);
  expect(allowed.out).toContain(WARNED);
});

test('a denied plan is held as a whole, the correction of drift too, and so is a saved plan', async () => {
  const scene = await setScene({ manifests });
  expect((await scene.run('apply')).code).toBe(0);
  const never = '{ name: never, subject: plan, message: not today, expression: plan.summary.update == 0 }';
  scene.alterPort(demo.webServiceId, 9000, { inner: false });
  const saved = await savePlan(scene);
  scene.configure({ settings: policies(never) });
  scene.traffic();
  for (const run of [await scene.run('apply'), await saved.apply()]) {
    expect(run.code).toBe(4);
    expect(run.out).toContain('policy "never" denies the plan of Application/shop: not today; nothing was sent');
  }
  expect(scene.traffic().writes).toEqual([]);
  expect((await scene.portolan(['ledger', 'history'])).out).not.toContain('policies-ignored');
  expect((await scene.run('status')).out).toMatch(/Application\/shop +Held/);
  expect((await saved.apply(['--ignore-policies', '--reason', 'the shop is down, OPS-17'])).code).toBe(0);
  expect(scene.traffic().writes.length).toBeGreaterThan(0);
  expect((await scene.portolan(['ledger', 'history'])).out).toContain('policies-ignored');
  // Without changes there is no plan to deny.
  const nothing = '{ name: nothing, subject: plan, message: m, expression: "false" }';
  scene.configure({ settings: policies(nothing) });
  expect((await scene.run('apply')).code).toBe(0);
});

test('validate fails for a denied manifest, at its line in every format, and only reports a warning', async () => {
  const broken = `{ name: broken, message: m, action: warn, expression: 'manifest.kind != "Application" || manifest.spec.no' }`;
  const scene = await setScene({ settings: policies(OWNER, WEIGHT, broken), manifests });
  const validate = (output: string) => runHere(['validate', ...scene.options, '-o', output], { env: scene.env });
  const text = await validate('text');
  expect(text.code).toBe(3);
  expect(
    text.out.replaceAll(/ --> \S*\//g, ' --> '),
  ).toBe(`error: policy "broken" denies it: the expression cannot be evaluated: No such key: no [policy/denied]
 --> a.yaml:1:1  Application/shop
  = hint: correct policy "broken" in spec.policies of Settings: an expression that cannot be evaluated denies

error: policy "owner" denies it: add the label owner [policy/denied]
 --> a.yaml:6:1  Component/shop-web

warning: policy "weight": set weight to 100 [policy/warning]
  --> a.yaml:16:1  HttpGatewayRule/www

2 problems and 1 warning in 1 file
`);
  const json = await validate('json');
  expect(json.code).toBe(3);
  expect((JSON.parse(json.out) as { problems: unknown }).problems).toMatchObject([
    { code: 'policy/denied' },
    { code: 'policy/denied', resource: 'Component/shop-web', position: { line: 6, column: 1 } },
    { code: 'policy/warning', severity: 'warning' },
  ]);
  expect((await validate('github')).out).toMatch(/::warning file=.*a\.yaml,line=16,col=1,title=policy "weight"/);
  expect((await validate('sarif')).out).toMatch(/"level": "warning",\s+"message": \{\s+"text": "policy \\"weight/);
  expect((await validate('junit')).out).toContain('failures="2" errors="0"');

  scene.configure({ settings: policies(WEIGHT) });
  const warned = await validate('text');
  expect(warned.code).toBe(0);
  expect(warned.out).toContain('1 warning in 1 file\nvalid: 3 resources');
  expect(warned.out).toContain('warning: policy "weight": set weight to 100');
  expect((await validate('junit')).code).toBe(0);
});
