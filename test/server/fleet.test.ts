import { expect, test } from 'vitest';
import { attentionItems } from '../../src/views/attention.ts';
import { commitSummaries } from '../../src/views/commits.ts';
import { fleetPage } from '../../src/server/fleet-list.ts';
import { deriveEntries } from '../../src/views/fleet.ts';
import { permissionsOf } from '../../src/server/permissions.ts';
import { scopedApi } from '../../src/server/scoped-api.ts';
import { nothingKept } from '../../src/controller/ledger-records.ts';
import type { ApplicationRow, AttentionItem, CommitDetails } from '../../src/model/fleet.ts';
import type { ApplicationStatus, Condition } from '../../src/model/status.ts';
import type { CommitRecord } from '../../src/controller/commits.ts';
import { COMMIT } from './hand-made-fleet.ts';
import { application, HandMadeController, troubled } from './controller.ts';
import { serve } from './serving.ts';

interface Rows {
  readonly items: readonly ApplicationRow[];
  readonly nextCursor: string | null;
  readonly total: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly facets?: Readonly<Record<string, readonly { readonly value: string; readonly count: number }[]>>;
}

const NOW = Date.UTC(2026, 10, 20, 12);

const condition = (type: Condition['type'], status: Condition['status'], reason: string, sinceMs = NOW): Condition => ({
  type,
  status,
  reason,
  message: `because of ${reason}`,
  observedRevision: null,
  sinceMs,
});

const failing: Partial<ApplicationStatus> = {
  conditions: [condition('Ready', 'False', 'Failing', NOW - 3000)],
  failures: 2,
  lastError: { code: 'x/y', message: 'no answer', remedy: 'Check the network.', atMs: NOW },
};
const drift = { sinceMs: NOW - 9000, changes: [] };

/** One application in each state. */
function fleet(): HandMadeController {
  const api = new HandMadeController();
  const suspended = { by: 'ops', reason: 'a move', sinceMs: NOW - 7000 };
  api.kept.set('Application/asleep', { ...nothingKept, suspended });
  const drifted = application('drifted', { conditions: [condition('Ready', 'False', 'Pending')] });
  api.list = [
    application('calm', { labels: { owner: 'Platform' } }),
    application('failing', { ...failing, scope: 'default/team-b/region-2/9', region: 'region-2' }),
    { ...drifted, resources: drifted.resources.map((resource) => ({ ...resource, drift })) },
    application('pending', { conditions: [condition('Ready', 'False', 'Pending')] }),
    application('held', {
      conditions: [condition('Ready', 'False', 'ApprovalNeeded'), condition('Stalled', 'True', 'ApprovalNeeded')],
      approval: {
        digest: 'abcdef0123',
        refusals: [{ code: 'guard/prunes', message: 'too many', override: '--max-prunes 11' }],
        sinceMs: NOW - 5000,
      },
    }),
    application('asleep', {
      conditions: [condition('Ready', 'True', 'InSync')],
      pause: { type: 'suspended', ...suspended },
    }),
    application('sick', {
      conditions: [condition('Ready', 'True', 'InSync'), condition('Healthy', 'False', 'NotRunning')],
    }),
    application('new', { scope: null, conditions: [condition('Ready', 'Unknown', 'NotObserved')] }),
  ];
  return api;
}

const names = ({ items }: Rows): readonly string[] => items.map(({ id }) => id.slice('Application/'.length));

async function asking(api = fleet()) {
  const { ask } = await serve({ api });
  return async (query: string): Promise<Rows> => {
    const { status, body, text } = await ask(`/api/v1/applications?view=row${query === '' ? '' : `&${query}`}`);
    expect(status, text).toBe(200);
    return body as Rows;
  };
}

test('each application has one state, and the order by state begins with the most urgent', async () => {
  const ask = await asking();
  const { items, total, counts } = await ask('sort=state');
  expect(items.map(({ id, state, reason, sinceMs }) => [id.slice(12), state, reason, (NOW - sinceMs) / 1000])).toEqual([
    ['failing', 'failing', 'no answer', 3],
    ['held', 'held', 'too many', 5],
    ['drifted', 'drifted', 'because of Pending', 9],
    ['pending', 'pending', 'because of Pending', 0],
    ['sick', 'unhealthy', 'because of NotRunning', 0],
    ['new', 'unknown', 'because of NotObserved', 0],
    ['asleep', 'suspended', 'suspended by ops: a move', 7],
    ['calm', 'in-sync', '', 0],
  ]);
  expect(total).toBe(8);
  expect(Object.values(counts)).toEqual(Array.from({ length: 8 }, () => 1));
  expect(names(await ask('sort=-state'))).toEqual(names(await ask('sort=state')).toReversed());
});

test('search, filters and facets meet on the server; counts leave only the state out', async () => {
  const ask = await asking();
  expect(names(await ask('search=OWNER%3Dplat'))).toEqual(['calm']);
  expect(names(await ask('search=team-b'))).toEqual(['failing']);
  expect(names(await ask('search=end+PEN'))).toEqual(['pending']);
  expect(names(await ask('team=team-b'))).toEqual(['failing']);
  expect(names(await ask('region=region-2&region=elsewhere'))).toEqual(['failing']);
  expect(names(await ask('platform=other'))).toEqual([]);
  expect(names(await ask('label=owner'))).toEqual(['calm']);
  const found = await ask('state=failing&state=held&facets=true');
  expect(names(found)).toEqual(['failing', 'held']);
  expect(found).toMatchObject({ total: 2, counts: { failing: 1, held: 1, drifted: 1, 'in-sync': 1 } });
  expect(found.facets).toEqual({
    platform: [{ value: 'default', count: 2 }],
    region: [
      { value: 'region-1', count: 1 },
      { value: 'region-2', count: 1 },
    ],
    team: [
      { value: 'team-a', count: 1 },
      { value: 'team-b', count: 1 },
    ],
  });
  // The other teams can be chosen in place of the present one.
  const { facets } = await ask('team=team-b&facets=true');
  expect(facets?.['team']?.map(({ value, count }) => `${value} ${count}`)).toEqual(['team-a 6', 'team-b 1']);
  expect(facets?.['region']).toEqual([{ value: 'region-2', count: 1 }]);
});

test('pages follow each other in every order, and keep their place while applications come, go and change', async () => {
  const api = fleet();
  const ask = await asking(api);
  for (const sort of ['name', '-name', 'state', '-state', 'change', '-change', 'since', '-since']) {
    const all = names(await ask(`sort=${sort}`));
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Rows = await ask(`sort=${sort}&limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...names(page));
      cursor = page.nextCursor;
    }
    expect(seen, sort).toEqual(all);
  }
  const { nextCursor } = await ask('limit=3');
  api.list = [application('aaa'), ...api.list.filter(({ id }) => id !== 'Application/asleep')];
  expect(names(await ask(`limit=3&cursor=${nextCursor}`))).toEqual(['failing', 'held', 'new']);
  const { ask: raw } = await serve({ api });
  const wrong = await raw(`/api/v1/applications?sort=state&cursor=${nextCursor}`);
  expect(wrong).toMatchObject({ status: 400, body: { code: 'server/bad-cursor' } });
});

test('an answer is not older than the status that it shows', async () => {
  const api = fleet();
  const ask = await asking(api);
  await ask('');
  api.list = api.list.map((one) => (one.id === 'Application/calm' ? { ...one, ...failing } : one));
  expect((await ask('state=failing')).total).toBe(2);
  api.kept.set('Application/calm', { ...nothingKept, lastChange: { doneMs: NOW, revision: 'main@sha1:2' } });
  const [first] = (await ask('sort=change')).items;
  expect(first).toMatchObject({ id: 'Application/calm', change: { doneMs: NOW, revision: 'main@sha1:2' } });
});

const ID = '5a2e33990000'.padEnd(40, '0');

const record = (id: string): CommitRecord => ({ ...COMMIT, id, revision: `main@sha1:${id}` });

test('a commit is found by the first digits, or as a whole revision; several are said, and so is none', async () => {
  const api = fleet();
  api.records = [record(ID), record(`5a2e44${'0'.repeat(34)}`)];
  api.kept.set('Application/calm', { ...nothingKept, commits: [{ revision: `main@sha1:${ID}`, appliedMs: NOW }] });
  api.kept.set('Application/failing', { ...nothingKept, commits: [{ revision: `main@sha1:${ID}`, appliedMs: null }] });
  const { ask } = await serve({ api });
  for (const text of ['5a2e3', ID, `main@sha1:${ID}`, 'MAIN@5A2E33990000'])
    expect(await ask(`/api/v1/commits/${encodeURIComponent(text)}`), text).toMatchObject({
      status: 200,
      body: {
        id: ID,
        state: 'applying',
        progress: { changed: 2, applied: 1, waiting: 1, superseded: 0, unknown: 0 },
        waiting: [{ application: 'Application/failing', blocker: 'failure', reason: 'no answer' }],
        applied: [{ application: 'Application/calm', appliedMs: NOW }],
      } satisfies Partial<Record<keyof CommitDetails, unknown>>,
    });
  expect(await ask('/api/v1/commits/5a2e')).toMatchObject({ status: 409, body: { code: 'source/ambiguous-commit' } });
  expect(await ask('/api/v1/commits/beef')).toMatchObject({ status: 404, body: { code: 'source/unknown-commit' } });
  expect(await ask('/api/v1/commits/main')).toMatchObject({ status: 400, body: { code: 'source/bad-commit' } });
  const list = (await ask('/api/v1/commits?limit=1')).body as {
    readonly items: readonly CommitRecord[];
    nextCursor: string;
  };
  expect(list.items.map(({ id }) => id)).toEqual([ID]);
  const next = (await ask(`/api/v1/commits?limit=1&cursor=${list.nextCursor}`)).body;
  // No record of an application reaches back to it.
  expect(next).toMatchObject({
    items: [{ state: 'unknown', progress: { changed: 2, unknown: 2 }, successor: `main@sha1:${ID}` }],
  });
});

test('a commit between two that were read belongs to the first one that contains it', async () => {
  const api = fleet();
  const ids = ['d', 'c', 'b', 'a'].map((digit) => digit.repeat(40));
  api.records = ids.map((id) => record(id));
  const asked: string[] = [];
  const older = (containing: readonly string[]) => ({
    found: 'one' as const,
    commit: { id: 'beef'.padEnd(40, '0'), committedMs: NOW, author: 'Bo', subject: 'Between' },
    descent: async (id: string) => {
      asked.push(id);
      return containing.includes(id) ? ('descends' as const) : ('does-not-descend' as const);
    },
  });
  const { ask } = await serve({ api });
  for (const count of [4, 3, 2, 1]) {
    api.older.set('beef', older(ids.slice(0, count)));
    expect((await ask('/api/v1/commits/beef')).body).toMatchObject({
      state: 'contained',
      successor: `main@sha1:${ids[count - 1]}`,
    });
  }
  api.older.set('beef', older([]));
  expect((await ask('/api/v1/commits/beef')).body).toMatchObject({
    state: 'not-accepted',
    successor: null,
    subject: 'Between',
  });
  api.older.set('beef', { found: 'several' });
  expect((await ask('/api/v1/commits/beef')).status).toBe(409);
});

test('everything that requires manual action is listed, the oldest first, with its remedy', async () => {
  const api = fleet();
  const held = troubled('blog');
  api.list = [
    ...api.list,
    { ...held, approval: null, pause: null, scope: 'default/team-a/region-1/42', lastError: null },
  ];
  api.kept.set('Application/asleep', {
    ...nothingKept,
    ...api.kept.get('Application/asleep'),
    remindedMs: NOW,
  });
  api.orphaned = [
    {
      scope: 'default/team-a/region-1/77',
      id: 'Component/left',
      origin: 'created',
      objects: ['port/1/2'],
      sinceMs: NOW - 100,
    },
  ];
  const { ask } = await serve({ api });
  const { items, counts, total } = (await ask('/api/v1/attention')).body as {
    readonly items: readonly AttentionItem[];
    readonly counts: object;
    readonly total: number;
  };
  expect(items.map(({ kind, application: of }) => [kind, of])).toEqual([
    ['suspended', 'Application/asleep'],
    ['approval', 'Application/held'],
    ['failure', 'Application/failing'],
    ['orphan', null],
    ['hold', 'Application/blog'],
    ['source', null],
    ['unhealthy', 'Application/sick'],
  ]);
  expect({ counts, total }).toEqual({
    counts: { source: 1, suspended: 1, approval: 1, failure: 1, orphan: 1, hold: 1, unhealthy: 1 },
    total: 7,
  });
  expect(items[1]).toMatchObject({ command: 'portolan approve held', digest: 'abcdef0123', message: 'too many' });
  expect(items[3]).toMatchObject({ command: 'portolan orphans prune default/team-a/region-1/77' });
  expect((await ask('/api/v1/attention?kind=approval&kind=orphan')).body).toMatchObject({ total: 2, counts });
  expect((await ask('/api/v1/attention?application=held')).body).toMatchObject({ total: 1, counts: { approval: 1 } });
});

test('a write in doubt has its evidence beside its hold', async () => {
  const api = new HandMadeController();
  const resource = 'Component/shop-web';
  const hold = {
    code: 'intent/in-doubt',
    resource,
    message: 'its outcome is not known',
    remedy:
      'Look at the platform, then say what happened: portolan ledger resolve 1 --applied|--not-applied --reason "…"',
    changes: [],
  } as const;
  const shop = application('shop', { scope: 'default/team-a/region-1/42' });
  api.list = [{ ...shop, resources: shop.resources.map((one) => ({ ...one, holds: [hold] })) }];
  const { ask } = await serve({ api });
  expect((await ask('/api/v1/attention?kind=doubt')).body).toMatchObject({
    items: [
      {
        kind: 'doubt',
        resource,
        sinceMs: NOW,
        command: 'portolan ledger resolve 1 --applied|--not-applied --reason "…"',
        doubt: { id: expect.any(String), resource },
      },
    ],
  });
});

test.for([
  ['Run `portolan ledger confirm a/b/c/1`, or apply --first-install a/b/c/1.', 'portolan ledger confirm a/b/c/1'],
  ['Change the manifest, or run `portolan ledger retry 7` to try again.', 'portolan ledger retry 7'],
  ['Resolve intent 1.2 first. `portolan ledger show 1.2` shows its state.', 'portolan ledger show 1.2'],
  ['Change it in the console.', null],
] as const)('the command of a hold can be run as it is: %s', async ([remedy, command]) => {
  const api = new HandMadeController();
  const hold = {
    code: 'prune/in-doubt',
    resource: 'Component/shop-web',
    message: 'it waits',
    remedy,
    changes: [],
  } as const;
  const shop = application('shop', { scope: 'default/team-a/region-1/42' });
  api.list = [{ ...shop, resources: shop.resources.map((one) => ({ ...one, holds: [hold] })) }];
  const { ask } = await serve({ api });
  expect((await ask('/api/v1/attention?kind=hold')).body).toMatchObject({ items: [{ remedy, command }] });
});

test('a caller with some applications sees no trace of others in rows, counts, commits and attention', async () => {
  const api = fleet();
  const faulty = { code: 'x', file: 'secret/app.yaml', line: 1, column: 1, message: 'of Application/calm' };
  const [, mine, theirs] = ['a', 'b', 'c'].map((digit) => record(digit.repeat(40)));
  if (mine === undefined || theirs === undefined) throw new Error('there are two');
  const error = { code: 'source/faulty', message: 'secret/app.yaml:1:1', remedy: 'r', atMs: NOW };
  api.records = [{ ...record('d'.repeat(40)), acceptedMs: null, error, problems: [faulty] }, theirs, mine];
  const marks = (revision: string) => ({ ...nothingKept, commits: [{ revision, appliedMs: NOW }] });
  api.kept.set('Application/failing', marks(mine.revision));
  api.kept.set('Application/calm', marks(theirs.revision));
  api.state = { ...api.state, source: { ...api.state.source, error, problems: [faulty] } };
  api.older.set('beef', {
    found: 'one',
    commit: { id: 'beef'.padEnd(40, '0'), committedMs: NOW, author: 'Bo', subject: 'Fix calm' },
    descent: async () => 'unknown',
  });
  const permissions = permissionsOf([{ role: 'operator', applications: ['default/team-b/*/*'] }]);
  const limited = scopedApi(api, undefined, () => permissions);
  const entries = await deriveEntries(limited.standings(), async () => {});
  const page = fleetPage(entries, { limit: 10, sort: 'name', facets: true });
  expect(page.items.map(({ row }) => row.id)).toEqual(['Application/failing']);
  expect(page).toMatchObject({ total: 1, counts: { failing: 1, held: 0, 'in-sync': 0 } });
  expect(page.facets?.team).toEqual([{ value: 'team-b', count: 1 }]);
  const world = { commits: limited.commits(), standings: limited.standings(), acceptedRevision: theirs.revision };
  const [rejected, other, own] = commitSummaries(world);
  expect(own).toMatchObject({ subject: 'Open port 80', progress: { changed: 1, applied: 1 } });
  expect(other).toMatchObject({ subject: null, author: null, removed: null, progress: { changed: 0 } });
  expect(rejected).toMatchObject({ state: 'rejected', error: { message: '1 fault outside your scope.' } });
  const { source } = limited.status();
  const items = attentionItems({
    standings: limited.standings(),
    source,
    orphans: limited.orphans(),
    doubts: new Map(),
    nowMs: NOW,
  });
  expect(items.map(({ kind, application: of }) => [kind, of])).toEqual([
    ['failure', 'Application/failing'],
    ['source', null],
  ]);
  const found = await limited.findCommit('beef');
  expect(JSON.stringify([world.commits, items, found, source])).not.toMatch(/secret|calm|Bo\b/);
});

test('rows of many applications are derived in parts, and only those that are new', async () => {
  const standings = Array.from({ length: 1_200 }, (_, at) => application(`app-${at}`)).map((status) => ({
    id: status.id,
    status,
    kept: nothingKept,
  }));
  let turns = 0;
  const turn = async (): Promise<void> => void (turns += 1);
  await deriveEntries(standings, turn);
  expect(turns).toBe(2);
  await deriveEntries(standings, turn);
  expect(turns).toBe(2);
});
