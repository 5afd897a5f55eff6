import type { Route } from '../../../src/server/route.ts';

/** A request of each route, about an application that another replica leads. */
export interface Example {
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly query?: string;
  /** Why the answers of two replicas differ. */
  readonly differs?: string;
}

export const DIGEST = 'abcdef0123';

/** Requests by operation. A new route needs one. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  getStatus: {},
  getHealth: { differs: 'it is about the process' },
  getReadiness: {},
  getMetrics: { differs: 'each process has its own' },
  receiveWebhook: { differs: 'its answer is empty' },
  listApplications: {},
  getApplication: {},
  listResourcesOfApplication: {},
  getResource: {},
  listResources: {},
  listOrphans: {},
  listAttention: {},
  listCommits: {},
  getCommit: {},
  planApplication: {},
  planAll: {},
  planManifests: {},
  syncApplication: {},
  syncAll: {},
  suspendApplication: { body: { reason: 'a test' } },
  resumeApplication: {},
  approvePlan: { body: { digest: DIGEST } },
  rebindPlatform: { body: { reason: 'a test' } },
  planAdoption: {},
  adoptResource: { body: { digest: DIGEST, reason: 'a test' } },
  planOrphans: {},
  pruneOrphans: { body: { digest: DIGEST, reason: 'a test' } },
  forgetOrphans: { body: { reason: 'a test' } },
  listDoubts: {},
  resolveIntent: { body: { decision: 'applied', reason: 'a test' } },
  retryResource: {},
  forgetResource: { path: { kind: 'Component', resource: 'nothing' }, body: { reason: 'a test' } },
  identifyResource: { path: { kind: 'Component', resource: 'nothing' }, body: { reason: 'a test' } },
  listEvents: {},
  streamEvents: { differs: 'another test reads it' },
  listHistory: {},
  listObjects: {},
  listIntents: {},
  getMonitoring: { query: '?from=0&to=60000' },
  getPlatform: {},
  getReplicas: {},
  getSignInWays: {},
  startSession: { differs: 'another test signs in' },
  startOidcSession: { differs: 'no provider is configured' },
  endSession: { differs: 'another test signs out' },
  finishOidcSession: { differs: 'no provider is configured' },
  whoami: {},
  getDocument: {},
};

/** A commit that only git has, which only the leader of the source reads. */
export const OLDER = { id: 'abcd'.padEnd(40, '0'), committedMs: 1, author: 'Ann <ann@example.com>', subject: 'Older' };

const PATH: Readonly<Record<string, string>> = {
  name: 'east',
  kind: 'Component',
  resource: 'east-web',
  intent: 'no-intent',
  platform: 'east',
  team: 'team-a',
  region: 'region-1',
  app: '77',
};

/** Returns the address of the example of a route. */
export function addressOf(route: Route, { path = {}, query = '' }: Example): string {
  const values: Readonly<Record<string, string>> = {
    ...PATH,
    sha: OLDER.id,
    ...(route.path.includes('/platforms/') ? { name: 'east' } : {}),
    ...path,
  };
  return `${route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? name)}${query}`;
}

/** Members that differ between two processes, or two moments. */
const OWN: ReadonlySet<string> = new Set([
  'startedMs',
  'nextAttemptMs',
  'atMs',
  'asOfMs',
  'ageMs',
  'seenAgoMs',
  'leaseLeftMs',
  'isSelf',
  'process',
  'readMs',
  'location',
  'queued',
  'running',
]);

/** Returns an answer without what is about the process that gave it, or about the moment. */
export function comparable(body: unknown, method: string): unknown {
  // After a command, an application shows how far its next pass is.
  if (method === 'POST' && typeof body === 'object' && body !== null && 'conditions' in body)
    return { id: (body as { readonly id?: unknown }).id };
  return JSON.parse(
    JSON.stringify(body, (key, value: unknown) => {
      if (OWN.has(key)) return undefined;
      return Array.isArray(value) ? value.filter((item) => !isOwnFault(item)) : value;
    }),
  );
}

/** On a busy machine, one of two processes may have had to wait. */
function isOwnFault(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'part' in value && value.part === 'process';
}
