import { PortolanError } from '../model/errors.ts';
import { checkedInteger } from './request-values.ts';
import type { PlatformRequest } from './transport.ts';
import type { AppAddress } from './writes.ts';

/** Every reading request there is. */
export type ReadOperation =
  | 'listRegions'
  | 'listTeamRegions'
  | 'getApplication'
  | 'listApplications'
  | 'listComponents'
  | 'listPorts'
  | 'listRules'
  | 'listAllRules'
  | 'getRule'
  | 'listEndpoints'
  | 'listInstalled'
  | 'listCertificates'
  | 'listEvents'
  | 'eventLog'
  | 'monitor'
  | 'queryRegion';

/** One row of the table of operations. */
export interface Operation {
  /** The dialect that has it; every server of the extended dialect has the documented ones too. */
  readonly dialect: 'documented' | 'extended';
  /** The largest answer that is read; a larger one is a failure, not a truncated list. */
  readonly answerBytesMax: number;
  /** Of reads, the most that one may take; undefined: they take the timeout of the operator's limits. */
  readonly timeoutMs: number | undefined;
}

export const RECORD_BYTES_MAX = 4 * 1024 * 1024;
export const LIST_BYTES_MAX = 64 * 1024 * 1024;
/** A real server gives a request up after about 75 s: waiting longer than that turns an unknown into an answer. */
export const WRITE_TIMEOUT_MS = 90_000;
/** The platform asks the cluster for the status of an application, and hangs for minutes where that does not answer. */
const STATUS_TIMEOUT_MS = 10_000;

function read(dialect: Operation['dialect'], answerBytesMax: number): Operation {
  return { dialect, answerBytesMax, timeoutMs: undefined };
}

/** Every operation of the API that is used. Documented ones are those of `platform-api` section 4. */
export const operations: Readonly<Record<ReadOperation, Operation>> = {
  listRegions: read('documented', LIST_BYTES_MAX),
  getApplication: { ...read('documented', RECORD_BYTES_MAX), timeoutMs: STATUS_TIMEOUT_MS },
  listPorts: read('documented', LIST_BYTES_MAX),
  monitor: read('documented', LIST_BYTES_MAX),
  queryRegion: read('extended', LIST_BYTES_MAX),
  listTeamRegions: read('extended', LIST_BYTES_MAX),
  listApplications: read('extended', LIST_BYTES_MAX),
  listComponents: read('extended', LIST_BYTES_MAX),
  listRules: read('extended', LIST_BYTES_MAX),
  listAllRules: read('extended', LIST_BYTES_MAX),
  getRule: read('extended', RECORD_BYTES_MAX),
  listEndpoints: read('extended', LIST_BYTES_MAX),
  listInstalled: read('extended', LIST_BYTES_MAX),
  listEvents: read('extended', RECORD_BYTES_MAX),
  eventLog: read('extended', RECORD_BYTES_MAX),
  listCertificates: read('extended', LIST_BYTES_MAX),
};

/** The row of an operation by its name; undefined: a kind declares it. */
export function listedOperation(name: string): Operation | undefined {
  return Object.hasOwn(operations, name) ? operations[name as ReadOperation] : undefined;
}

/** Longest answer that is read; operations of unknown names get the smaller limit. */
export function answerBytesMax(request: Pick<PlatformRequest, 'operation' | 'answerBytesMax'>): number {
  return request.answerBytesMax ?? listedOperation(request.operation)?.answerBytesMax ?? RECORD_BYTES_MAX;
}

const API = '/openapi/v1';

/** @throws PortolanError `invalid` where the number of the application cannot be one. */
export function checkedApp(app: AppAddress): AppAddress {
  checkedInteger(app.appId, 'application id', 1);
  return app;
}

/** What no encoding changes and nobody objects to. */
const PLAIN_SEGMENT = /^[\w-]{1,256}$/;

/**
 * One segment of a path, percent-encoded. `.` and `..` are refused: no encoding survives a URL parser, which would
 * take them for steps up the path.
 */
function segment(value: string, what: string): string {
  if (PLAIN_SEGMENT.test(value)) return value;
  // A lone surrogate cannot be encoded at all, so `encodeURIComponent` would throw a bare URIError.
  if (value === '' || value === '.' || value === '..' || value.length > 256 || !value.isWellFormed()) {
    throw new PortolanError({
      code: 'platform/invalid-request',
      disposition: 'invalid',
      message: `${what} ${JSON.stringify(value.slice(0, 80))} cannot be part of an address; nothing was sent`,
      remedy: `Correct the ${what} in the manifest.`,
    });
  }
  return encodeURIComponent(value);
}

function appPath(app: AppAddress): string {
  return `${teamAppsPath(app.team, app.region)}/${segment(String(app.appId), 'application id')}`;
}

function teamAppsPath(team: string, region: string): string {
  return `${API}/teams/${segment(team, 'team')}/regions/${segment(region, 'region')}/apps`;
}

/** The absolute path of every address of the API, each segment percent-encoded, without a query. */
export const paths = {
  regions: (): string => `${API}/regions`,
  teamRegions: (team: string): string => `${API}/teams/${segment(team, 'team')}/regions`,
  /** The listing only: the address of one certificate gives its private key, so no path leads there. */
  certificates: (team: string): string => `${API}/teams/${segment(team, 'team')}/certificates`,
  regionMetrics: (): string => `${API}/monitor/query_range`,
  allRules: (): string => `${API}/httpdomains`,
  teamApps: teamAppsPath,
  app: appPath,
  /** What a kind declares below the address of an application. */
  below: (app: AppAddress, segments: readonly string[]): string =>
    [appPath(app), ...segments.map((one) => segment(one, 'part of an address'))].join('/'),
  components: (app: AppAddress): string => `${appPath(app)}/services`,
  ports: (app: AppAddress, serviceId: string): string =>
    `${appPath(app)}/services/${segment(serviceId, 'component id')}/ports`,
  port: (app: AppAddress, serviceId: string, port: number): string =>
    `${appPath(app)}/services/${segment(serviceId, 'component id')}/ports/${segment(String(port), 'port')}`,
  rules: (app: AppAddress): string => `${appPath(app)}/httpdomains`,
  rule: (app: AppAddress, ruleId: string): string => `${appPath(app)}/httpdomains/${segment(ruleId, 'rule id')}`,
  endpoints: (app: AppAddress): string => `${appPath(app)}/domains`,
  events: (app: AppAddress, serviceId: string): string =>
    `${appPath(app)}/services/${segment(serviceId, 'component id')}/events`,
  eventLog: ({ team, region }: AppAddress, eventId: string): string =>
    `${API}/teams/${segment(team, 'team')}/regions/${segment(region, 'region')}/events/${segment(eventId, 'event id')}/logs`,
  install: (app: AppAddress): string => `${appPath(app)}/install`,
  upgrade: (app: AppAddress): string => `${appPath(app)}/upgrade`,
  monitor: (app: AppAddress): string => `${appPath(app)}/monitor/query_range`,
} as const;
