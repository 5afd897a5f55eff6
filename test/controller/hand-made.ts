import type { ControllerApi, EventStream } from '../../src/controller/api.ts';
import type { DeliveryCounts } from '../../src/controller/delivery.ts';
import { type Kept, nothingKept } from '../../src/controller/ledger-records.ts';
import type { Intent } from '../../src/model/owned.ts';
import type {
  ApplicationStatus,
  ConditionType,
  ControllerEvent,
  ControllerStatus,
  ResourceStatus,
  SourceStatus,
} from '../../src/model/status.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Log, LogFields } from '../../src/runtime/log.ts';
import { systemClock } from '../../src/runtime/clock.ts';

export const COMMIT = '0123456789abcdef0123456789abcdef01234567';
export const REVISION = `main@sha1:${COMMIT}`;
export const NOON_MS = Date.UTC(2026, 10, 20, 12);

let sequence = 0;

/** An event of which a test says only what it is about. */
export function event(facts: Partial<ControllerEvent> = {}): ControllerEvent {
  sequence += 1;
  return {
    sequence,
    id: `event-${sequence}`,
    atMs: NOON_MS,
    type: 'drift.detected',
    severity: 'warning',
    application: 'Application/shop',
    scope: 'default/team-a/region-1/42',
    resource: 'Component/shop-web',
    revision: REVISION,
    labels: { env: 'prod' },
    message: 'port 8080: outer is false on the platform, true in git',
    detail: { changes: [{ path: 'ports.8080.outer', before: true, after: false }], ageMs: 0 },
    ...facts,
  };
}

export function condition(type: ConditionType, status: 'True' | 'False' | 'Unknown', reason = 'Because') {
  return { type, status, reason, message: '', observedRevision: REVISION, sinceMs: NOON_MS } as const;
}

export function application(name: string, facts: Partial<ApplicationStatus> = {}): ApplicationStatus {
  return {
    id: `Application/${name}`,
    scope: `default/team-a/region-1/${name.length}`,
    platform: 'default',
    region: 'region-1',
    labels: { env: 'prod' },
    conditions: [condition('Ready', 'True'), condition('Stalled', 'False')],
    pause: null,
    approval: null,
    pending: null,
    lastAttemptedRevision: REVISION,
    lastAppliedRevision: REVISION,
    lastAttemptMs: NOON_MS,
    lastSuccessMs: NOON_MS,
    nextAttemptMs: null,
    failures: 0,
    lastError: null,
    resources: [],
    ...facts,
  };
}

export function resource(name: string, facts: Partial<ResourceStatus> = {}): ResourceStatus {
  return {
    id: `Component/${name}`,
    application: 'Application/shop',
    mode: 'heal',
    conditions: [],
    drift: null,
    holds: [],
    ...facts,
  };
}

export const sourceStatus: SourceStatus = {
  name: 'default',
  location: '/srv/checkout main',
  observedRevision: REVISION,
  observedMs: NOON_MS,
  acceptedRevision: REVISION,
  acceptedMs: NOON_MS,
  error: null,
  resources: 3,
};

export interface HandMadeApi extends ControllerApi {
  applicationsNow: ApplicationStatus[];
  sourceNow: SourceStatus;
  ledNow: (unit: string) => boolean;
  keptNow: Partial<Kept>;
  statusFacts: Partial<ControllerStatus>;
  intentsNow: () => Promise<readonly Intent[]>;
  emit(event: ControllerEvent): void;
  /** Another process publishes it. */
  emitElsewhere(event: ControllerEvent): void;
  readonly listeners: number;
}

const never = (): never => {
  throw new Error('nobody may ask for this here');
};

/** A controller of which a test says how it stands and what happens. */
export function handMadeApi(applications: readonly ApplicationStatus[] = []): HandMadeApi {
  const listeners = new Set<(event: ControllerEvent) => void>();
  const ofAll = new Set<(event: ControllerEvent) => void>();
  const events: EventStream = {
    newest: 0,
    since: () => ({ events: [], isComplete: true, through: 0 }),
    subscribe(listener, of = 'all') {
      listeners.add(listener);
      if (of === 'all') ofAll.add(listener);
      return () => void (listeners.delete(listener), ofAll.delete(listener));
    },
  };
  const api: HandMadeApi = {
    startedMs: NOON_MS,
    applicationsNow: [...applications],
    sourceNow: sourceStatus,
    ledNow: () => true,
    keptNow: {},
    statusFacts: {},
    intentsNow: async () => [],
    emit: (next) => {
      for (const listener of listeners) listener(next);
    },
    emitElsewhere: (next) => {
      for (const listener of ofAll) listener(next);
    },
    get listeners() {
      return listeners.size;
    },
    events,
    leads: (unit) => api.ledNow(unit),
    standings: () =>
      api.applicationsNow.map((status) => ({ id: status.id, status, kept: { ...nothingKept, ...api.keptNow } })),
    commits: never,
    findCommit: never,
    orphans: () => [],
    resource: never,
    doubts: never,
    resolve: never,
    retry: never,
    forget: never,
    adoptById: never,
    planAdoption: never,
    adopt: never,
    planPrune: never,
    prune: never,
    forgetOrphan: never,
    status: () => ({
      version: '1.2.3',
      startedMs: NOON_MS,
      phase: 'running',
      source: api.sourceNow,
      regions: [],
      orphans: 0,
      counts: {
        applications: api.applicationsNow.length,
        ready: 0,
        drifted: 0,
        held: 0,
        failing: 0,
        suspended: 0,
        queued: 0,
        running: 0,
      },
      ...api.statusFacts,
    }),
    applications: () => api.applicationsNow,
    application: (id) => api.applicationsNow.find((one) => one.id === id),
    details: async (id) => {
      const found = api.applicationsNow.find((one) => one.id === id);
      return found && { ...found, observed: null, sources: [] };
    },
    sync: never,
    pokeSource: never,
    suspend: never,
    resume: never,
    approve: never,
    rebind: never,
    plan: never,
    planManifests: never,
    monitoring: never,
    dependencies: never,
    replicas: never,
    history: never,
    objects: never,
    intents: () => api.intentsNow(),
  };
  return api;
}

/** What was counted: `ops sent`, `ops dropped overflow`, in the order it happened. */
export function countsInto(words: string[]): DeliveryCounts {
  return {
    opened() {},
    sent: (receiver) => void words.push(`${receiver} sent`),
    dropped: (receiver, reason) => void words.push(`${receiver} dropped ${reason}`),
    collapsed: (receiver) => void words.push(`${receiver} collapsed`),
  };
}

/** A log whose lines can be read: `warn message key=value`. */
export function logInto(lines: string[]): Log {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      const facts = Object.entries(fields).map(([key, value]) => ` ${key}=${value}`);
      lines.push(`${level} ${message}${facts.join('')}`);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Real time that passes `speed` times as fast, for tests with sockets. */
export function hurriedClock(speed: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() * speed,
    sinceBoot: () => systemClock.sinceBoot(),
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  };
}
