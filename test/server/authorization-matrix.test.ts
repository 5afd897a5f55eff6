import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Role, ROLES } from '../../src/configuration/settings/roles-spec.ts';
import type { Route } from '../../src/server/route.ts';
import { routes } from '../../src/server/routes/table.ts';
import { fromPage, scene, type Scene, signIn } from './oidc-scene.ts';
import { ofTeam, TeamsController } from './teams.ts';

/**
 * Expectations of each route: the permission, and where it must reach. `one`: the application in the path; `own`: the answer
 * covers the caller's applications; `all`: the role must cover everything.
 */
const EXPECTED: Readonly<
  Record<string, readonly [permission: Permission | 'caller' | 'open', reach?: 'one' | 'own' | 'all']>
> = {
  getStatus: ['viewer', 'own'],
  getHealth: ['open'],
  getReadiness: ['open'],
  getMetrics: ['viewer', 'all'],
  receiveWebhook: ['open'],
  listApplications: ['viewer', 'own'],
  getApplication: ['viewer', 'one'],
  listResourcesOfApplication: ['viewer', 'one'],
  getResource: ['viewer', 'one'],
  listResources: ['viewer', 'own'],
  listOrphans: ['viewer', 'own'],
  listAttention: ['viewer', 'own'],
  listCommits: ['viewer', 'own'],
  getCommit: ['viewer', 'own'],
  planApplication: ['viewer', 'one'],
  planAll: ['viewer', 'own'],
  planManifests: ['viewer', 'own'],
  syncApplication: ['operate', 'one'],
  syncAll: ['operate', 'own'],
  suspendApplication: ['operate', 'one'],
  resumeApplication: ['operate', 'one'],
  approvePlan: ['approve', 'one'],
  rebindPlatform: ['admin', 'all'],
  planAdoption: ['viewer', 'one'],
  adoptResource: ['admin', 'one'],
  planOrphans: ['viewer', 'one'],
  pruneOrphans: ['admin', 'one'],
  forgetOrphans: ['admin', 'one'],
  listDoubts: ['viewer', 'one'],
  resolveIntent: ['admin', 'one'],
  retryResource: ['admin', 'one'],
  forgetResource: ['admin', 'one'],
  identifyResource: ['admin', 'one'],
  listEvents: ['viewer', 'own'],
  streamEvents: ['viewer', 'own'],
  listHistory: ['viewer', 'own'],
  listObjects: ['operate', 'one'],
  listIntents: ['operate', 'own'],
  getMonitoring: ['viewer', 'one'],
  getPlatform: ['viewer', 'all'],
  getReplicas: ['viewer', 'all'],
  getSignInWays: ['open'],
  startSession: ['open'],
  startOidcSession: ['open'],
  endSession: ['open'],
  finishOidcSession: ['open'],
  whoami: ['caller'],
  getDocument: ['viewer', 'own'],
};

type Permission = 'viewer' | 'operate' | 'approve' | 'admin';

const MAY: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['viewer'],
  operate: ['viewer', 'operate'],
  approve: ['viewer', 'approve'],
  operator: ['viewer', 'operate', 'approve'],
  admin: ['viewer', 'operate', 'approve', 'admin'],
};

const DIGEST = 'abcdef0123';
const SHOP = 'default/team-a/region-1/1';
const APPLICATIONS = [
  { ...ofTeam('shop', SHOP), approval: { digest: DIGEST, refusals: [], sinceMs: 1 } },
  // The same number in another region, another team, and not resolved.
  ofTeam('same-number', 'default/team-a/region-2/1'),
  ofTeam('store', 'default/team-b/region-1/3', 1),
  ofTeam('ghost', null, 2),
];

/**
 * The applications that a binding covers: everything, the shop, all but the shop; or all but the shop, beside another binding
 * as a viewer of the shop.
 */
const OUT = ['default/team-b/*/*', '*/team-a/region-2/*', 'other/*/*/*', 'default/team-a/region-1/11'];
const IN = [SHOP, 'default/team-a/region-1/77'];
const SCOPES = {
  all: undefined,
  in: IN,
  out: OUT,
  elsewhere: OUT,
} as const;
type ScopeName = keyof typeof SCOPES;

const VIAS = ['token', 'user', 'group'] as const;
const WHO = ROLES.flatMap((role) =>
  (Object.keys(SCOPES) as ScopeName[]).flatMap((scope) => VIAS.map((via) => ({ role, scope, via }))),
);
type Who = (typeof WHO)[number];

const nameOf = ({ role, scope }: Who): string => `${role}-${scope}`;
const tokenOf = (who: Who): string => `secret-of-${nameOf(who)}`;
const loginOf = (who: Who): string => `${who.via}-${nameOf(who)}@example.com`;

const BODIES: Readonly<Record<string, object>> = {
  planManifests: { files: [] },
  suspendApplication: { reason: 'x' },
  approvePlan: { digest: DIGEST },
  rebindPlatform: { reason: 'x' },
  resolveIntent: { decision: 'applied', reason: 'x' },
  forgetResource: { reason: 'x' },
  identifyResource: { reason: 'x' },
  adoptResource: { digest: DIGEST, reason: 'x' },
  pruneOrphans: { digest: DIGEST, reason: 'x' },
  forgetOrphans: { reason: 'x' },
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A request that the route would carry out for the shop. */
async function send(serving: Scene, route: Route, headers: Record<string, string>, name = 'shop'): Promise<Answer> {
  const values: Readonly<Record<string, string>> = {
    name: route.path.includes('/platforms/') ? 'default' : name,
    kind: 'Component',
    resource: 'shop-web',
    intent: '1',
    sha: 'c0ffee',
    platform: 'default',
    team: 'team-a',
    region: 'region-1',
    app: '77',
  };
  const body = BODIES[route.operationId];
  const stop = new AbortController();
  const response = await fetch(
    serving.url + route.path.replaceAll(/\{(\w+)\}/g, (_, one: string) => values[one] ?? one),
    {
      method: route.method,
      signal: stop.signal,
      redirect: 'manual',
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    },
  );
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? '' : await response.text();
  stop.abort(); // A stream would go on.
  return { status: response.status, text };
}

describe('every route, for every role, in and out of scope, as a token, a user and a member of a group', () => {
  let serving: Scene;
  let api: TeamsController;
  const headersOf = new Map<string, Record<string, string>>();
  const end: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    api = new TeamsController(APPLICATIONS);
    const users = WHO.filter(({ via }) => via !== 'token');
    serving = await scene({
      api,
      limits: { signInsOfAddress: 1_000, signIns: 1_000 },
      provider: {
        people: Object.fromEntries(
          users.map((who) => [loginOf(who), { email: loginOf(who), groups: who.via === 'group' ? [nameOf(who)] : [] }]),
        ),
      },
      server: {
        maxStreams: 1_000,
        tokens: WHO.filter(({ via }) => via === 'token').map((who) => ({
          name: nameOf(who),
          value: { env: nameOf(who) },
        })),
        roles: WHO.flatMap((who) => {
          const { role, scope, via } = who;
          const binding = {
            role,
            tokens: via === 'token' ? [nameOf(who)] : [],
            users: via === 'user' ? [loginOf(who)] : [],
            groups: via === 'group' ? [nameOf(who)] : [],
            ...(SCOPES[scope] === undefined ? {} : { applications: SCOPES[scope] }),
          };
          return scope === 'elsewhere'
            ? [binding, { ...binding, role: 'viewer' as const, applications: IN }]
            : [binding];
        }),
      },
      secrets: Object.fromEntries(WHO.map((who) => [nameOf(who), tokenOf(who)])),
      finished: (close) => end.push(close),
    });
    for (const who of WHO) {
      const key = JSON.stringify(who);
      if (who.via === 'token') headersOf.set(key, { authorization: `Bearer ${tokenOf(who)}` });
      else headersOf.set(key, fromPage(serving, (await signIn(serving, loginOf(who))).session));
    }
  });
  afterAll(async () => {
    for (const close of end.reverse()) await close();
  });

  test('every route has an expectation, and every expectation a route', () => {
    expect(routes.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  test.for(routes.filter(({ operationId }) => EXPECTED[operationId]?.[0] !== 'open'))(
    '$method $path',
    async (route) => {
      const [permission, reach] = EXPECTED[route.operationId] ?? ['open'];
      for (const who of WHO) {
        const headers = headersOf.get(JSON.stringify(who)) ?? {};
        const what = `${who.via} ${nameOf(who)}`;
        const before = api.asked.length;
        const answer = await send(serving, route, headers);
        const has = permission === 'caller' || MAY[who.role].includes(permission as Permission);
        const isElsewhere = who.scope === 'elsewhere' && permission !== 'viewer';
        if (!has || (reach === 'all' && who.scope !== 'all') || (reach === 'one' && isElsewhere)) {
          expect(answer.status, what).toBe(403);
          expect(JSON.parse(answer.text), what).toMatchObject({ code: 'server/wrong-role' });
          expect(api.asked.slice(before), what).toEqual([]);
        } else if (reach === 'one' && who.scope === 'out') {
          expect(api.asked.slice(before), what).toEqual([]);
          // It answers as a controller that does not have the application.
          const { list, orphaned } = api;
          api.list = list.filter(({ id }) => id !== 'Application/shop');
          api.orphaned = [];
          const unknown = await send(serving, route, headers);
          Object.assign(api, { list, orphaned });
          expect(answer, what).toEqual(unknown);
          expect([404, 409], what).toContain(answer.status);
        } else {
          expect([200, 202], `${what}: ${answer.text}`).toContain(answer.status);
          if (who.scope === 'out' || isElsewhere) expect(api.asked.slice(before).join(), what).not.toContain('/shop');
        }
      }
    },
  );
});
