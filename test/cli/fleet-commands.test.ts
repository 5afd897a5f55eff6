import { expect, test } from 'vitest';
import { nothingKept } from '../../src/controller/ledger-records.ts';
import { application, HandMadeController, troubled } from '../server/controller.ts';
import { COMMIT } from '../server/hand-made-fleet.ts';
import { serve, TOKENS } from '../server/serving.ts';
import { runHere } from './running.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

async function scene(api = new HandMadeController()) {
  const serving = await serve({ api });
  const env = { PORTOLAN_SERVER: serving.url, PORTOLAN_SERVER_TOKEN: TOKENS.viewer };
  return { api, run: (...args: readonly string[]) => runHere(args, { env }) };
}

test('status asks the controller for some applications only, and says how many there are', async () => {
  const { api, run } = await scene();
  api.list = [...api.list, application('shop-test', { labels: { env: 'test' } })];
  const found = await run('status', '--search', 'shop', '--label', 'env=test');
  expect(found.out).toMatch(/\nApplication\/shop-test +True/);
  expect(found.out).not.toMatch(/Application\/(?:shop|blog) /);
  expect(found.out).not.toContain('Component/blog-web');
  expect(found.out).toContain('1 application shown of 2, ');
  const held = await run('status', '--state', 'in-sync', '--state', 'suspended', '-o', 'json');
  const { applications } = JSON.parse(held.out) as { readonly applications: readonly { readonly id: string }[] };
  expect(applications.map(({ id }) => id)).toEqual(['Application/shop', 'Application/shop-test']);
  expect((await run('status', '--on-platform', 'other')).out).toContain('0 applications shown of 2');
});

test('a filter without a server, and a state that there is not, are mistakes', async () => {
  const alone = await runHere(['status', '--team', 'a', '-f', '.'], {});
  expect([alone.code, alone.err]).toEqual([3, expect.stringContaining('--team works only with --server.')]);
  const { run } = await scene();
  const wrong = await run('status', '--state', 'fine');
  expect([wrong.code, wrong.err]).toEqual([3, expect.stringContaining('Expected one of failing, held,')]);
});

test('commits answers whether a commit is live, and its exit code says it to scripts', async () => {
  const { api, run } = await scene();
  const { revision, id } = COMMIT;
  api.kept.set('Application/shop', { ...nothingKept, commits: [{ revision, appliedMs: NOW }] });
  api.kept.set('Application/blog', { ...nothingKept, commits: [{ revision, appliedMs: null }] });
  const list = await run('commits');
  expect(list.out).toBe(`COMMIT         STATE      APPLIED   OBSERVED                   SUBJECT
c0ffee000000   applying   1/2       2026-11-20T12:00:00.000Z   Open port 80
`);
  const one = await run('commits', 'c0ffee');
  expect(one.code).toBe(4);
  expect(one.out).toBe(`main@c0ffee000000  Open port 80
  author    Ann <ann@example.com>
  committed 2026-11-20T12:00:00.000Z
  observed  2026-11-20T12:00:00.000Z
  accepted  2026-11-20T12:00:00.000Z

Applied to 1 of 2 applications that it changed; 1 waits.

WAITS              STATE     SINCE                      REASON
Application/blog   failing   2026-11-20T12:00:00.000Z   too many
`);
  api.kept.set('Application/blog', { ...nothingKept, commits: [{ revision, appliedMs: NOW }] });
  const live = await run('commits', id);
  expect([live.code, live.out]).toEqual([0, expect.stringContaining('This commit is live: applied to 2 of 2')]);
  expect(JSON.parse((await run('commits', id, '-o', 'json')).out)).toMatchObject({ id, state: 'applied' });
  const fault = { code: 'yaml/x', file: 'a.yaml', line: 3, column: 7, message: 'a fault' };
  const error = { code: 'source/faulty', message: 'rejected', remedy: 'Correct it.', atMs: NOW };
  api.records = [{ ...COMMIT, acceptedMs: null, error, problems: [fault] }];
  const rejected = await run('commits', 'c0ffee');
  expect([rejected.code, rejected.out]).toEqual([1, expect.stringContaining('\na.yaml:3:7: a fault\n')]);
  const unknown = await run('commits', 'beef');
  expect([unknown.code, unknown.err]).toEqual([expect.any(Number), expect.stringContaining('has no commit beef')]);
});

test('attention lists what requires manual action with its remedy, and its exit code is 4', async () => {
  const { api, run } = await scene();
  api.state = { ...api.state, source: { ...api.state.source, error: null } };
  api.list = [application('shop'), { ...troubled('blog'), pause: null }];
  const found = await run('attention');
  expect(found.code).toBe(4);
  expect(found.out).toContain(`Approval needed: Application/blog  since 2026-11-20T12:00:00.000Z
  too many
  → Look at its plan, and approve it if it is right. Otherwise correct the manifests in git.
    portolan approve blog
`);
  expect(found.out).toMatch(/\n3 items require manual action\.\n$/);
  expect(JSON.parse((await run('attention', '--application', 'shop', '-o', 'json')).out)).toEqual([]);
  api.list = [application('shop')];
  const nothing = await run('attention');
  expect([nothing.code, nothing.out]).toEqual([0, 'Nothing requires manual action.\n']);
});
