import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ApplicationStatus } from '../../src/model/status.ts';
import { routes } from '../../src/server/routes/table.ts';
import { startServing, type Serving } from './serving.ts';
import { ofTeam, TeamsController } from './teams.ts';

const LIMITED = 'limited-limited-limited-1';

interface Member {
  readonly name: string;
  readonly team: string;
  readonly region: string;
  readonly appId: number;
  readonly isResolved: boolean;
  readonly faults: number;
}

const member: fc.Arbitrary<Member> = fc.record({
  name: fc.constantFrom('shop', 'shop2', 'blog', 'store', 'mail', 'wiki', 'cart', 'feed', 'chat', 'docs'),
  team: fc.constantFrom('team-a', 'team-b', 'team-ab'),
  region: fc.constantFrom('region-1', 'region-2'),
  appId: fc.integer({ min: 1, max: 30 }),
  isResolved: fc.constantFrom(true, true, true, false),
  faults: fc.constantFrom(0, 0, 1),
});
const fleet = fc
  .uniqueArray(member, { maxLength: 10, selector: ({ name }) => name })
  .map((members) => members.filter(({ appId }, at) => members.findIndex((one) => one.appId === appId) === at));
const part = (...names: string[]) => fc.constantFrom('*', ...names);
const pattern = fc
  .tuple(part('default'), part('team-a', 'team-*', 'team-b'), part('region-1'), part('1', '7'))
  .map((segments) => segments.join('/'));
const patterns = fc.array(pattern, { minLength: 1, maxLength: 3 });

const statusOf = ({ name, team, region, appId, isResolved, faults }: Member): ApplicationStatus =>
  ofTeam(name, isResolved ? `default/${team}/${region}/${appId}` : null, faults);

/** The rule of the patterns, in other words than the program's. */
function isCovered(wanted: readonly string[], scope: string | null): boolean {
  const parts = scope?.split('/') ?? [];
  return wanted.some((one) =>
    one.split('/').every((text, at) => {
      if (parts[at] === undefined) return false;
      return text.endsWith('*') ? parts[at].startsWith(text.slice(0, -1)) : text === parts[at];
    }),
  );
}

/** A server with these applications, a token for each role, and one that covers the patterns as an operator. */
async function serving(members: readonly Member[], wanted: readonly string[]): Promise<Serving> {
  const api = new TeamsController(members.map(statusOf));
  for (const { id, scope } of api.list) {
    api.happen({
      application: id,
      scope,
      message: `something happened to ${id}`,
      atMs: 1,
      detail: null,
      id: `of ${id}`,
    });
  }
  const message = api.list.map(({ id }) => id).join();
  const quoted = 'portolan.yaml:3: a fault in spec.roles';
  api.happen({
    type: 'controller.reload-refused',
    application: null,
    scope: null,
    message: quoted,
    atMs: 1,
    id: 'kept',
  });
  api.happen({ type: 'source.refused', application: null, scope: null, message, atMs: 1, id: 'of the source' });
  const started = await startServing({ api, secrets: { limited: LIMITED } });
  started.reload({
    ...started.settings,
    tokens: [...started.settings.tokens, { name: 'limited', value: { env: 'limited' } }],
    roles: [{ role: 'operator', tokens: ['limited'], users: [], groups: [], applications: wanted }],
  });
  return started;
}

const asLimited = { headers: { authorization: `Bearer ${LIMITED}` } };
type Item = Readonly<Record<string, unknown>>;

/** All items of a list, page by page, and the rest of its last page. */
async function listed(at: Serving, path: string, who: Parameters<Serving['ask']>[1]): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const query: string = `${path.includes('?') ? '&' : '?'}limit=2${cursor === null ? '' : `&cursor=${cursor}`}`;
    const { body } = await at.ask(path + query, who);
    const page = body as { readonly items: readonly Item[]; readonly nextCursor: string | null };
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}

/** Lists, and the scope of one of their items. */
const LISTS: readonly (readonly [path: string, scopeOf: (item: Item, api: TeamsController) => unknown])[] = [
  ...['', '?search=s', '?sort=-name', '?sort=state', '?state=failing', '?team=team-a&team=team-b'].map(
    (query) => [`/api/v1/applications${query}`, ({ scope }: Item) => scope] as const,
  ),
  ['/api/v1/resources', ({ application }, api) => api.list.find(({ id }) => id === application)?.scope],
  ['/api/v1/orphans', ({ scope }) => scope],
  ['/api/v1/history', ({ scope }) => scope],
  ['/api/v1/intents', ({ scope }) => scope],
];

test('each list of a limited caller is the list of an admin without the applications of others', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fleet, patterns, async (members, wanted) => {
      const at = await serving(members, wanted);
      try {
        for (const [path, scopeOf] of LISTS) {
          const all = await listed(at, path, { role: 'admin' });
          const own = all.filter((item) =>
            isCovered(wanted, (scopeOf(item, at.api as TeamsController) ?? null) as string | null),
          );
          expect(await listed(at, path, asLimited), path).toEqual(own);
        }
        const events = (await listed(at, '/api/v1/events', { role: 'admin' })).filter(
          ({ application }) => application !== null,
        );
        const own = events.filter(({ scope }) => isCovered(wanted, scope as string | null));
        const shown = await listed(at, '/api/v1/events', asLimited);
        expect(shown.filter(({ application }) => application !== null)).toEqual(own);
        const ofSource = shown.filter(({ application }) => application === null);
        const allowed = new Set(['1 fault outside your scope', 'a changed configuration was refused']);
        expect(new Set(ofSource.map(({ message }) => message)).isSubsetOf(allowed)).toBe(true);
        const { body } = await at.ask('/api/v1/applications', asLimited);
        expect(body).toMatchObject({
          total: members.map(statusOf).filter(({ scope }) => isCovered(wanted, scope)).length,
        });
      } finally {
        await at.close();
      }
    }),
    { numRuns: 20 },
  );
});

/** Facts that still depend on other applications: how many faults, and how far shared numberings have come. */
const RESIDUAL = new Set(['outside', 'serial', 'sequence', 'position', 'nextCursor', 'previousHash', 'hash']);
const masked = (text: string): string =>
  text.startsWith('{')
    ? JSON.stringify(JSON.parse(text, (key, value: unknown) => (RESIDUAL.has(key) ? undefined : value)))
    : text;

const READS = routes.filter(
  ({ method, access, operationId }) =>
    method === 'GET' &&
    ['viewer', 'operate', 'caller'].includes(access) &&
    !['streamEvents', 'getDocument'].includes(operationId),
);

test('nothing that a limited caller reads changes with the applications of others', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fleet, fleet, patterns, async (members, others, wanted) => {
      const isOwn = (one: Member): boolean => isCovered(wanted, statusOf(one).scope);
      const own = members.filter(isOwn);
      const names = new Set(own.map(({ name }) => name));
      // The same applications of the caller, beside different ones of others.
      const left = await serving(members, wanted);
      const right = await serving([...own, ...others.filter((one) => !isOwn(one) && !names.has(one.name))], wanted);
      try {
        for (const { path } of READS)
          for (const name of path.includes('{name}') ? ['shop', 'blog', 'shop2', 'none'] : ['-']) {
            const address = path
              .replace('{name}', name)
              .replace('{kind}/{resource}', `Component/${name}-web`)
              .replace('{sha}', 'c0ffee');
            const range = path.endsWith('/monitoring') ? '?from=1000&to=3600000' : '';
            const [one, other] = await Promise.all([left, right].map((at) => at.ask(address + range, asLimited)));
            expect(one?.status, address).toBe(other?.status);
            expect(masked(one?.text ?? ''), address).toBe(masked(other?.text ?? ''));
          }
      } finally {
        await Promise.all([left.close(), right.close()]);
      }
    }),
    { numRuns: 20 },
  );
});
