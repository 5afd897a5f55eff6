import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { BLOG } from '../controller/shop.ts';
import { application, controllerStatus } from '../server/controller.ts';
import { serve, TOKENS } from '../server/serving.ts';
import { type Run, runHere } from './running.ts';
import { install, PORTS, rule, type Scene, type SceneSettings, setScene, shop, SHOP, web } from './scene.ts';

const SCOPE = `default/${demo.team}/${demo.region}/${demo.appId}`;
const FULL = [
  web(PORTS),
  rule('www', 'www.example.com'),
  rule('kept', 'kept.example.com', '', 'annotations: { portolan/prune: keep }'),
];

const API = `apiVersion: portolan/v1
kind: Component
metadata: { name: shop-api }
spec: { application: shop, serviceId: ${demo.apiServiceId}, ports: [{ port: 8000, inner: true }] }
`;

const domains = ({ sandbox }: Scene): readonly string[] =>
  [...sandbox.state.rules.all()]
    .map(({ domain }) => domain)
    .filter((domain) => domain.endsWith('example.com'))
    .sort();

const orphans = (scene: Scene, ...args: readonly string[]): Promise<Run> =>
  scene.portolan([
    'orphans',
    ...args,
    ...(args.includes('-f') ? ['--config', scene.options[3] as string] : scene.options),
  ]);

const listed = async (scene: Scene, ...args: readonly string[]): Promise<readonly string[]> => {
  const { orphans: found } = JSON.parse((await orphans(scene, '-o', 'json', ...args)).out) as {
    orphans: { scope: string; id: string }[];
  };
  return found.map(({ scope, id }) => `${scope} ${id}`);
};

/** Two applications in sync; then git loses all of one. */
async function orphaned(settings: SceneSettings = {}, documents: readonly string[] = FULL): Promise<Scene> {
  const scene = await setScene({ manifests: { 'a.yaml': shop(...documents), 'b.yaml': BLOG }, ...settings });
  const applied = await scene.run('apply');
  expect(applied.code, applied.out + applied.err).toBe(0);
  scene.write('a.yaml', undefined);
  scene.traffic();
  return scene;
}

test('what a removed Application leaves is shown by every view, removed by name alone, and then by no view', async () => {
  const scene = await orphaned();
  const status = await scene.run('status');
  expect(status.code).toBe(0);
  expect(status.out).toMatch(new RegExp(`^${SCOPE} +Orphaned +no Application of the source refers to it$`, 'm'));
  expect(status.out).toMatch(/^ {2}HttpGatewayRule\/www +Orphaned +created by Portolan$/m);
  expect(status.out).toContain('1 application, 3 resources: 3 orphaned.');
  expect(status.out).toContain(`remove them with portolan orphans prune ${SCOPE}`);
  const tree = await scene.portolan(['tree', ...scene.options]);
  expect(tree.out).toMatch(/^└─ HttpGatewayRule\/www +orphaned +created by Portolan$/m);
  expect(tree.out).toContain('1 application: 3 orphaned.');
  // One application by name has no orphans of others.
  expect((await scene.portolan(['tree', 'blog', ...scene.options])).out).not.toContain('orphaned');
  const text = await orphans(scene);
  expect(text.code).toBe(0);
  expect(text.out).toMatch(/^ {2}HttpGatewayRule\/www +created +rule\//m);
  expect(text.out).toContain('3 resources orphaned in 1 application.');
  // A plan removes none of them, not even with --prune.
  expect((await scene.run('apply', ['--prune'])).code).toBe(0);
  expect(scene.traffic().writes).toEqual([]);

  for (const [names, code, said] of [
    [[], 3, "missing required argument 'scope'"],
    [['shop'], 3, 'shop is not orphaned'],
    [[SCOPE.replace(/\d+$/, '43')], 3, 'Application/blog refers to it'],
    [[SCOPE, SCOPE.replace(/\d+$/, '7')], 3, 'the ledger has nothing of this source there'],
    [[SCOPE], 3, 'Pass --yes'],
    [[SCOPE, '--yes', '--max-prunes', '1'], 4, 'guard/prunes'],
    [[SCOPE, '--yes', '--expect', 'f'.repeat(64)], 4, 'plan/not-expected'],
    [[SCOPE, '--dry-run', '--detailed-exitcode'], 2, 'delete rule www.example.com/'],
  ] as const) {
    const run = await orphans(scene, 'prune', ...names);
    expect(run.code, run.out + run.err).toBe(code);
    expect(run.out + run.err).toContain(said);
  }
  expect(scene.traffic().writes).toEqual([]);

  const pruned = await orphans(scene, 'prune', SCOPE, '--yes');
  expect(pruned.code, pruned.out + pruned.err).toBe(0);
  expect(pruned.out).toContain('it stays, because its manifest said portolan/prune: keep');
  expect(pruned.out).toMatch(new RegExp(`^orphaned application  ${SCOPE}$`, 'm'));
  expect(pruned.out).not.toContain('is in sync');
  expect(scene.traffic().writes).toContain('deleteRule');
  expect(domains(scene)).toEqual(['kept.example.com']);
  // Nothing is done twice; what stays is orphaned until it is let go of.
  expect((await orphans(scene, 'prune', SCOPE, '--yes')).code).toBe(0);
  expect(scene.traffic().writes).toEqual([]);
  expect(await listed(scene)).toEqual([`${SCOPE} HttpGatewayRule/kept`]);
  await scene.portolan(['ledger', 'forget', 'HttpGatewayRule/kept', '--reason', 'moved']);
  expect((await orphans(scene)).out).toBe('0 resources orphaned in 0 applications.\n');
  expect((await scene.run('status')).out).not.toContain('rphaned');
});

test('nothing is removed that another person or source made, or that has changed since', async () => {
  const documents = [web(PORTS), rule('www', 'www.example.com'), rule('own', 'own.example.com', 'weight: 50')];
  const scene = await setScene({ manifests: { 'a.yaml': shop(...documents), 'b.yaml': BLOG } });
  await scene.run('apply', ['--ledger', `${scene.folder}/another.db`]);
  await scene.run('apply', ['--adopt']);
  scene.write('a.yaml', shop(...documents, rule('mine', 'mine.example.com'), install('db')));
  await scene.run('apply');
  scene.write('a.yaml', undefined);
  const [mine] = [...scene.sandbox.state.rules.all()].filter(({ domain }) => domain === 'mine.example.com');
  if (mine === undefined) throw new Error('there is no such rule');
  scene.sandbox.alter((state) => state.rules.put({ ...mine, domain: 'other.example.com' }));
  scene.traffic();
  const run = await orphans(scene, 'prune', SCOPE, '--yes');
  expect(run.code).toBe(4);
  expect(run.out).toContain('that is not what was last applied, so it stays');
  expect(run.out).toContain('installs are never removed');
  expect(run.out).toContain('it was adopted, not created by Portolan, and stays unchanged');
  expect(scene.traffic().writes).toEqual([]);
  expect(domains(scene)).toEqual(['other.example.com', 'own.example.com', 'www.example.com']);
});

test('an empty source, a scope that Settings do not allow, and a spent budget remove nothing', async () => {
  const scene = await orphaned({}, [web(PORTS), rule('www', 'www.example.com'), rule('two', 'two.example.com')]);
  scene.configure({ settings: '{ scopes: { allow: ["team-a/*/43"] } }' });
  const forbidden = await orphans(scene, 'prune', SCOPE, '--yes');
  expect(forbidden).toMatchObject({ code: 4, out: expect.stringContaining('guard/scope') });
  // The application may have had the labels of a window.
  const window = '{ name: freeze, kind: deny, schedule: "* * * * *", duration: 2h, labels: { env: prod } }';
  scene.configure({ settings: `{ windows: [${window}] }` });
  const frozen = await orphans(scene, 'prune', SCOPE, '--yes');
  expect(frozen).toMatchObject({ code: 4, out: expect.stringContaining('guard/window') });
  scene.configure({ settings: '{ prune: { dailyObjects: 1, dailyShare: 0 } }' });
  scene.write('b.yaml', undefined);
  const empty = await orphans(scene, 'prune', SCOPE, '--yes');
  expect(empty).toMatchObject({ code: 4, out: expect.stringContaining('guard/empty-source') });
  scene.write('b.yaml', BLOG);
  // The rest of the budget of a day counts as for any removal.
  const spent = await orphans(scene, 'prune', SCOPE, '--yes');
  expect(spent).toMatchObject({ code: 4, out: expect.stringContaining('guard/budget') });
  expect(scene.traffic().writes).toEqual([]);
});

test('a removal that was allowed in one application allows none in the others', async () => {
  const cache = install('cache').replaceAll('shop', 'blog');
  const component = `apiVersion: portolan/v1
kind: Component
metadata: { name: cache }
spec: { application: blog, from: { install: cache, component: mysql }, ports: [{ port: 7000, protocol: tcp, inner: true }] }
`;
  const rules = Array.from({ length: 7 }, (_, at) => rule(`r${at}`, `r${at}.example.com`));
  const scene = await orphaned({
    manifests: { 'a.yaml': shop(web(PORTS), ...rules), 'b.yaml': [BLOG, cache, component].join('---\n') },
  });
  scene.write('b.yaml', `${BLOG}---\n${cache}`);
  const allowed = ['--yes', '--allow-shrunk', '--max-share', '1', '--max-prunes', '20'];
  const pruned = await orphans(scene, 'prune', SCOPE, ...allowed);
  expect(pruned.code, pruned.out + pruned.err).toBe(0);
  expect(domains(scene)).toEqual([]);
  const rest = await scene.run('apply', ['--prune']);
  expect(rest).toMatchObject({ code: 4, out: expect.stringContaining('guard/shrunk-source') });
});

test('an application that is only not named by -f, moved, suspended or unreadable is not orphaned', async () => {
  const scene = await setScene({
    manifests: {
      'a/shop.yaml': shop(web(PORTS), rule('www', 'www.example.com')),
      'b/blog.yaml': BLOG,
    },
  });
  const at = (...path: readonly string[]): string => join(scene.folder, 'manifests', ...path);
  expect((await scene.run('apply')).code).toBe(0);
  // Another file, another name, and a suspension.
  scene.write('a/shop.yaml', undefined);
  const moved = shop(web(PORTS), rule('www', 'www.example.com', '', 'annotations: { portolan/reconcile: suspend }'));
  scene.write(
    'b/store.yaml',
    moved.replace('name: shop }', 'name: store }').replaceAll('application: shop', 'application: store'),
  );
  expect(await listed(scene)).toEqual([]);
  // -f names a part of the source: the configuration knows the rest.
  mkdirSync(at('c'));
  writeFileSync(at('c', 'blog.yaml'), BLOG);
  const part = ['-f', at('c')];
  expect(await listed(scene, ...part)).toHaveLength(2);
  scene.configure({ settings: `{ source: { paths: [${JSON.stringify(at('b'))}] } }` });
  expect(await listed(scene, ...part)).toEqual([]);
  expect((await scene.run('plan', part)).out).not.toContain('any more');
  expect(await orphans(scene, 'prune', SCOPE, '--yes', ...part)).toMatchObject({ code: 3 });
  // Faulty manifests of the rest: nothing can be said of it.
  scene.write('b/store.yaml', SHOP.replace('kind', 'kin'));
  expect(await listed(scene, ...part)).toEqual([]);
  scene.write('b/store.yaml', undefined);
  expect(await listed(scene, ...part)).toHaveLength(2);
  rmSync(at('c'), { recursive: true });
  // An Application by name may be any application of its region until it is read.
  scene.write('b/blog.yaml', BLOG.replace('appId: 43', 'app: none'));
  const unread = await orphans(scene);
  expect(unread.code).toBe(1);
  expect(unread.out).toContain('0 resources orphaned');
});

test('what two sources have in one application, or one source by two Platforms, is not removed', async () => {
  const scene = await orphaned();
  // Another source may manage what this one left: then its manifests are held, or it has objects there of its own.
  rmSync(join(scene.folder, 'manifests', 'b.yaml'));
  scene.write('a.yaml', shop(...FULL));
  const second = await scene.run('apply', ['--source', 'second']);
  expect(second).toMatchObject({
    code: 4,
    out: expect.stringContaining('ledger forget HttpGatewayRule/www --source default'),
  });
  scene.write('a.yaml', undefined);
  scene.write('b.yaml', BLOG);
  expect((await orphans(scene, 'prune', SCOPE, '--dry-run')).err).toContain('this ledger has other sources (second)');
  scene.write('a.yaml', shop(API));
  expect((await scene.run('apply', ['--source', 'second'])).code).toBe(0);
  scene.write('a.yaml', undefined);
  scene.traffic();
  const shared = await orphans(scene, 'prune', SCOPE, '--yes');
  expect(shared).toMatchObject({ code: 4, err: expect.stringContaining('orphan/other-source') });
  await scene.portolan(['ledger', 'forget', 'Component/shop-api', '--source', 'second', '--reason', 'a test']);
  const config = scene.options[3] as string;
  const both = `${BLOG}---\n${SHOP.replace('spec: {', 'spec: { platform: second,')}`;
  scene.write('b.yaml', both);
  writeFileSync(
    config,
    ['default', 'second']
      .map(
        (name) => `apiVersion: portolan/v1
kind: Platform
metadata: { name: ${name} }
spec: { url: ${scene.sandbox.url}, auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }, dialect: extended }
`,
      )
      .join('---\n'),
  );
  const refuseSame = async (): Promise<void> => {
    const same = await orphans(scene, 'prune', SCOPE, '--yes');
    expect(same).toMatchObject({ code: 4, err: expect.stringContaining('orphan/other-platform') });
  };
  await refuseSame();
  // It cannot be read, so it may be this one.
  scene.write('b.yaml', both.replace(`appId: ${demo.appId}`, 'app: none'));
  await refuseSame();
  // Another source has adopted the same objects by the other Platform.
  scene.write('b.yaml', [SHOP.replace('spec: {', 'spec: { platform: second,'), ...FULL].join('---\n'));
  expect((await scene.run('apply', ['--source', 'third', '--adopt'])).code).toBe(0);
  scene.write('b.yaml', BLOG);
  await refuseSame();
  for (const name of ['Component/shop-web', 'HttpGatewayRule/www', 'HttpGatewayRule/kept'])
    await scene.portolan(['ledger', 'forget', name, '--source', 'third', '--reason', 'a test']);
  // The application was deleted on the platform, and its objects with it.
  scene.configure({});
  scene.write('b.yaml', BLOG);
  scene.sandbox.alter((state) => state.applications.delete(String(demo.appId)));
  const deleted = await orphans(scene, 'prune', SCOPE, '--yes');
  expect(deleted).toMatchObject({ code: 4, err: expect.stringContaining('orphan/no-application') });
  expect(scene.traffic().writes).toEqual([]);
});

test('status, tree and orphans of a controller show them with their time; an older server has no such list', async () => {
  const serving = await serve();
  const { source, counts, ...rest } = controllerStatus();
  const sinceMs = Date.UTC(2026, 10, 20, 12);
  const left = { scope: SCOPE, origin: 'created', objects: ['rule/a'], sinceMs } as const;
  serving.api.list = [application('blog')];
  serving.api.orphaned = [
    { ...left, id: 'HttpGatewayRule/www' },
    { ...left, id: 'HttpGatewayRule/api' },
  ];
  const env = { PORTOLAN_SERVER: serving.url, PORTOLAN_SERVER_TOKEN: TOKENS.viewer };
  serving.api.state = {
    ...rest,
    source: { ...source, error: null },
    counts: { ...counts, held: 0, failing: 0 },
    orphans: 2,
  };
  const status = await runHere(['status'], { env });
  expect(status.code, status.err).toBe(0);
  expect(status.out).toMatch(/^ {2}HttpGatewayRule\/www +False +Unknown +Orphaned +2026-11-20T12:00:00.000Z +created/m);
  expect(status.out).toContain('2 resources orphaned');
  expect(status.out).toContain(`→ ${SCOPE}: Put the Application back`);
  expect((await runHere(['tree'], { env })).out).toMatch(/^└─ HttpGatewayRule\/www +orphaned +created by Portolan$/m);
  const list = await runHere(['orphans'], { env });
  expect(list.out).toMatch(/^ {2}HttpGatewayRule\/api +created +2026-11-20T12:00:00.000Z +rule\/a$/m);
  const json = JSON.parse((await runHere(['orphans', 'list', '-o', 'json'], { env })).out) as { orphans: unknown };
  expect(json.orphans).toEqual(serving.api.orphaned.toReversed());
  serving.api.state = { ...rest, counts, orphans: undefined as never, source };
  for (const command of ['status', 'tree']) expect((await runHere([command], { env })).out).not.toContain('rphaned');
});

test('a removal whose answer is lost is decided by the next one', async () => {
  const scene = await orphaned({}, [web(PORTS), rule('www', 'www.example.com')]);
  scene.sandbox.setFaults([{ method: 'DELETE', path: '**', fault: { type: 'drop', when: 'after' }, times: 1 }]);
  const lost = await orphans(scene, 'prune', SCOPE, '--yes');
  expect(lost.code, lost.out + lost.err).toBe(4);
  expect(domains(scene)).toEqual([]);
  scene.clock.push(3_600_000);
  const next = await orphans(scene, 'prune', SCOPE, '--yes');
  expect(next.code, next.out + next.err).toBe(0);
  expect(scene.traffic().writes.filter((write) => write === 'deleteRule')).toHaveLength(1);
  expect(await listed(scene)).toEqual([]);
});
