import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Reader } from '../../src/cli/commands/status/table.ts';
import { displayWidth } from '../../src/cli/terminal/text.ts';
import type { HistoryRow } from '../../src/model/owned.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { historyLines } from '../../src/cli/commands/history/text.ts';
import { historyEntries } from '../../src/views/history.ts';
import { commit, git, repository } from '../source/repositories.ts';
import { collectingTerminal, runHere } from './running.ts';
import { rule, setScene, shop, web } from './scene.ts';

const PORTS = `ports:
  - { port: 8080, protocol: http, inner: true, outer: true }
  # The alias is a prefix of variables.
  - { port: 9000, protocol: grpc, alias: RPC, inner: true, outer: false }`;
const www = rule('www', 'www.example.com');
const api = rule('api', 'api.example.com');
const renamed = PORTS.replace('RPC', 'GRPC');

/** A repository with a commit for each text, the oldest first, in a scene that can apply them. */
async function historyOf(...texts: readonly string[]) {
  const scene = await setScene({ manifests: {} });
  const root = repository();
  const ids = texts.map((text) => commit(root, { 'manifests/shop.yaml': text }));
  const manifests = join(root, 'manifests');
  return {
    scene,
    root,
    ids,
    apply: (ref: string) => scene.run('apply', ['-f', manifests, '--revision', ref]),
    history: (...args: readonly string[]) => scene.portolan(['history', 'shop', ...args]),
    revert: (ref: string, name = 'shop') => scene.portolan(['history', name, '--revert', ref, '-f', manifests]),
    shop: () => readFileSync(join(manifests, 'shop.yaml'), 'utf8'),
  };
}

test('history shows each run with commit, author, time, values and causes, newest first', async () => {
  const { scene, ids, apply, history } = await historyOf(shop(web(PORTS), www), shop(web(renamed), www));
  expect((await apply('HEAD~1')).code).toBe(0);
  expect((await apply('main')).code).toBe(0);
  scene.alterPort(demo.webServiceId, 9000, { alias: 'BY_HAND' });
  expect((await apply('main')).code).toBe(0);

  const { out, code } = await history();
  expect(code).toBe(0);
  expect(out.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME').replace(/by somebody.*/g, 'by …')).toBe(
    `Application/shop  default/${demo.team}/${demo.region}/${demo.appId}

TIME  main@${ids[1]?.slice(0, 12)}  run 3
  Tester <tester@example.com>, committed TIME
  portolan apply by …
  ~ Component/shop-web: change alias of port 9000 to GRPC (drift: changed on the platform)
      ports[9000].alias: "BY_HAND" → "GRPC"  last applied: "GRPC"

TIME  main@${ids[1]?.slice(0, 12)}  run 2
  Tester <tester@example.com>, committed TIME
  portolan apply by …
  ~ Component/shop-web: change alias of port 9000 to GRPC (changed in git)
      ports[9000].alias: "RPC" → "GRPC"

TIME  HEAD~1@${ids[0]?.slice(0, 12)}  run 1
  Tester <tester@example.com>, committed TIME
  portolan apply by …
  + Component/shop-web: add port 9000 (grpc, inner open) (new in git)
  + HttpGatewayRule/www: create rule www.example.com/ on port 8080 of Component/shop-web (new in git)
`,
  );
  const json = JSON.parse((await history('-o', 'json', '--limit', '1')).out) as object;
  expect(json).toMatchObject({ formatVersion: 1, application: 'shop', hasMore: true });
  expect(json).toHaveProperty('entries.0.changes.0.changes.0', {
    path: 'ports[9000].alias',
    before: 'BY_HAND',
    after: 'GRPC',
    lastApplied: 'GRPC',
    cause: 'drift',
  });
  expect((await history('--limit', '2')).err).toBe('This is not the whole history. --limit 4 shows more.\n');

  const { terminal, text } = collectingTerminal({ isTerminal: true, columns: 80 });
  await runHere(['history', 'shop', '--ledger', scene.ledgerFile], { terminal });
  expect(text.out.split('\n').filter((line) => displayWidth(line) > 80)).toEqual([]);
  expect(text.out).toContain('(drift: changed on\n    the platform)');

  const byScope = await scene.portolan(['history', `default/${demo.team}/${demo.region}/${demo.appId}`]);
  expect(byScope.out).toContain('run 3');
  const unknown = await scene.portolan(['history', 'shpo']);
  expect(unknown).toMatchObject({ code: 3, out: '' });
  expect(unknown.err).toContain(`It has: default/${demo.team}`.replace('It has', 'The ledger has'));
});

test('history --revert writes a patch that git takes and that keeps comments, and changes nothing itself', async () => {
  const texts = [shop(web(PORTS), www), shop(web(renamed), www), shop(web(renamed), www, api)];
  const { scene, root, ids, revert, shop: file } = await historyOf(...texts);
  const before = git(root, 'status', '--porcelain');
  const { code, out, err } = await revert(ids[1]?.slice(0, 10) as string);
  expect(code).toBe(0);
  expect(err).toContain('note: this patch is for manifests/shop.yaml; to apply it, pipe it into git -C ');
  expect({ file: file(), status: git(root, 'status', '--porcelain') }).toEqual({ file: texts[2], status: before });
  execFileSync('git', ['apply'], { cwd: root, input: out });
  // The later commit stays, and so does the comment.
  expect(file()).toBe(shop(web(PORTS), www, api));
  expect(scene.traffic()).toEqual({ reads: [], writes: [] });
});

test('history --revert refuses what it cannot undo, and says why', async () => {
  const blog = shop().replace('name: shop', 'name: blog').replace(`appId: ${demo.appId}`, 'appId: 43');
  const { root, ids, revert } = await historyOf(shop(web(PORTS), www), shop(web(renamed), www));
  const later = commit(root, { 'manifests/shop.yaml': shop(web(PORTS.replace('RPC', 'THIRD')), www) });
  const ofBlog = commit(root, { 'manifests/blog.yaml': blog });
  const faulty = commit(root, { 'manifests/shop.yaml': shop(web(PORTS), 'kind: [') });
  const refused = async (ref: string, code: number, why: RegExp): Promise<void> => {
    const run = await revert(ref);
    expect(run, ref).toMatchObject({ code, out: '' });
    expect(run.err.replace(/\s+/g, ' '), ref).toMatch(why);
  };
  await refused(ids[1] as string, 4, /later changes touch the same lines.* Run git -C \S+ revert [0-9a-f]{12}, /);
  await refused(ids[0] as string, 3, /has no parent/);
  await refused(ofBlog, 3, /changes no manifest of Application\/shop\. .* It changes manifests of: blog\./);
  await refused(faulty, 3, /manifests of commit [0-9a-f]{12} have a fault.* git revert/);
  await refused('nowhere', 3, /no commit "nowhere"/);
  // Files that several applications share are named.
  git(root, 'reset', '-q', '--hard', later);
  const both = commit(root, { 'manifests/shop.yaml': `${shop(web(renamed), www)}---\n${blog}` });
  expect((await revert(both)).err).toContain('the same files also have documents of Application/blog');
  // The name of a file cannot add a line.
  const forged = commit(root, { 'manifests/x\nnote: forged.yaml': api });
  expect((await revert(forged)).err).toContain('this patch is for manifests/x\\nnote: forged.yaml;');
});

test('an event names the user who requested it, not the process that recorded it', async () => {
  const common = { atMs: 0, scope: 's', uid: null, previousHash: '', hash: '', actor: 'portolan run by root, pid 7' };
  const application = 'Application/shop';
  const rows: readonly HistoryRow[] = [
    { ...common, serial: 3, event: 'suspended', detail: { application, by: 'ops', reason: 'night' } },
    { ...common, serial: 2, event: 'resumed', detail: { application, by: 'ops' } },
    { ...common, serial: 1, event: 'window-ignored', detail: { reason: 'incident' } },
  ];
  const reader = { isTerminal: false, columns: 80, paint: (_role: string, text: string) => text };
  const lines = historyLines('shop', null, await Array.fromAsync(historyEntries(rows)), reader as unknown as Reader);
  expect(lines.filter((line) => line !== '').slice(1)).toEqual([
    '1970-01-01T00:00:00Z  suspended by ops: reason=night',
    '1970-01-01T00:00:00Z  resumed by ops',
    '1970-01-01T00:00:00Z  window-ignored by portolan run by root, pid 7: reason=incident',
  ]);
});

test('a history of an earlier version shows its summaries and says what was not recorded', async () => {
  const row = (serial: number, event: string, detail: HistoryRow['detail'], atMs = serial): HistoryRow => ({
    serial,
    event,
    detail,
    atMs,
    scope: 's',
    actor: 'portolan run by ops',
    uid: null,
    previousHash: '',
    hash: '',
  });
  const rows = [
    row(6, 'approved', { by: 'ops', digest: 'd1', application: 'Application/shop', refusals: [] }),
    row(5, 'applied', { intent: 'b', action: 'x#2' }),
    row(4, 'intent', { intent: 'b', action: 'x#2', summary: 'open port 2', request: 'PUT /2' }),
    row(3, 'window-ignored', { reason: 'incident' }),
    row(2, 'recorded', { resource: 'Component/x' }),
    row(1, 'intent', { intent: 'a', action: 'x#1', summary: 'open port 1', request: 'PUT /1' }),
    row(0, 'intent', { intent: 'z', action: 'x#0', summary: 'open port 0', request: 'PUT /0' }, -61_000),
  ];
  const entries = await Array.fromAsync(historyEntries(rows));
  const unknown = { type: 'run', run: null, revision: null, author: null };
  expect(entries).toMatchObject([
    { type: 'approval', by: 'ops', digest: 'd1' },
    {
      ...unknown,
      changes: [
        { summary: 'open port 1', outcome: 'open', changes: null, resource: null },
        { summary: 'open port 2', outcome: 'applied' },
      ],
    },
    { type: 'event', event: 'window-ignored' },
    { ...unknown, changes: [{ summary: 'open port 0' }] },
  ]);
});
