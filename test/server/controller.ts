import type { ControllerApi, Dependencies, MonitoringReading, PlanRequest } from '../../src/controller/api.ts';
import type { SourceFile } from '../../src/manifest/text.ts';
import { PortolanError } from '../../src/model/errors.ts';
import type { ResourceId } from '../../src/model/ids.ts';
import type { HistoryRow, Intent, OwnedObject } from '../../src/model/owned.ts';
import type { Problem } from '../../src/model/problem.ts';
import type { ReplicaGroup } from '../../src/model/replicas.ts';
import type { TimeWindow } from '../../src/model/series.ts';
import type { Observed } from '../../src/model/shown.ts';
import type {
  ApplicationDetails,
  ApplicationStatus,
  ControllerEvent,
  ControllerStatus,
  OrphanStatus,
} from '../../src/model/status.ts';
import { planDocument, type PlanDocument } from '../../src/plan/document.ts';
import { ownedObject } from './decisions.ts';
import { dependencies, replicas, twoComponents } from './dependencies.ts';
import { HandMadeFleet } from './hand-made-fleet.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

/** An application in sync; what a test is about is said in `changes`. */
export function application(name: string, changes: Partial<ApplicationStatus> = {}): ApplicationStatus {
  const id: ResourceId = `Application/${name}`;
  return {
    id,
    scope: `default/team-a/region-1/${name.length}`,
    platform: 'default',
    region: 'region-1',
    labels: { env: 'prod' },
    conditions: [
      { type: 'Ready', status: 'True', reason: 'InSync', message: '', observedRevision: 'main@sha1:1', sinceMs: NOW },
    ],
    pause: null,
    approval: null,
    pending: null,
    lastAttemptedRevision: 'main@sha1:1',
    lastAppliedRevision: 'main@sha1:1',
    lastAttemptMs: NOW,
    lastSuccessMs: NOW,
    nextAttemptMs: NOW + 600_000,
    failures: 0,
    lastError: null,
    resources: [
      {
        id: `Component/${name}-web`,
        application: id,
        mode: 'heal',
        conditions: [
          { type: 'Ready', status: 'True', reason: 'InSync', message: '', observedRevision: null, sinceMs: NOW },
        ],
        drift: null,
        holds: [],
      },
    ],
    ...changes,
  };
}

const changes = [
  { path: 'ports[80].alias', before: 'A', after: 'B', lastApplied: null, cause: 'drift' },
  { path: 'weight', cause: 'git' },
] as const;

/** One with everything that a status can have. */
export function troubled(name: string): ApplicationStatus {
  const id: ResourceId = `Application/${name}`;
  const resource: ResourceId = `Component/${name}-web`;
  return application(name, {
    scope: null,
    labels: { env: 'test', tier: '' },
    conditions: [
      { type: 'Ready', status: 'False', reason: 'Held', message: 'no', observedRevision: null, sinceMs: NOW },
      { type: 'Stalled', status: 'True', reason: 'Held', message: 'no', observedRevision: null, sinceMs: NOW },
    ],
    pause: { type: 'suspended', by: 'ops', reason: 'a move', sinceMs: NOW },
    approval: {
      digest: 'abcdef0123',
      refusals: [{ code: 'guard/prunes', message: 'too many', override: '--max-prunes 11' }],
      sinceMs: NOW,
    },
    pending: {
      digest: 'abcdef0123',
      actions: [{ id: `${resource}#x`, resource, summary: 'open port 80' }],
      deferred: [{ resource, waitsFor: 'StoreInstall/db', desired: { a: [1] }, summary: 'later' }],
      waits: [{ resource, message: 'starts', untilMs: NOW }],
    },
    lastAppliedRevision: null,
    lastSuccessMs: null,
    nextAttemptMs: null,
    failures: 3,
    lastError: { code: 'platform/unreachable', message: 'no answer', remedy: 'look', atMs: NOW },
    resources: [
      {
        id: resource,
        application: id,
        mode: 'report',
        conditions: [
          { type: 'Ready', status: 'False', reason: 'Drifted', message: 'alias', observedRevision: null, sinceMs: NOW },
        ],
        drift: { sinceMs: NOW, changes },
        holds: [
          { code: 'rule/not-ours', resource, message: 'not ours', remedy: 'adopt', changes, untilMs: NOW },
          { code: 'rule/x', resource, message: 'm', remedy: 'r', changes: [] },
        ],
      },
    ],
  });
}

export function controllerStatus(changed: Partial<ControllerStatus> = {}): ControllerStatus {
  return {
    version: '0.1.0',
    startedMs: NOW,
    phase: 'running',
    source: {
      name: 'default',
      location: '/srv/checkout main',
      observedRevision: 'main@sha1:2',
      observedMs: NOW,
      acceptedRevision: 'main@sha1:1',
      acceptedMs: NOW,
      error: { code: 'source/refused', message: 'm', remedy: 'r', atMs: NOW },
      resources: 4,
    },
    regions: [{ platform: 'default', region: 'region-1', state: 'open', message: '' }],
    orphans: 0,
    counts: {
      applications: 2,
      ready: 1,
      drifted: 1,
      held: 1,
      failing: 1,
      suspended: 1,
      queued: 0,
      running: 0,
    },
    ...changed,
  };
}

/** A plan with one of everything. */
export function planOf(applicationId: ResourceId = 'Application/shop'): PlanDocument {
  const resource: ResourceId = 'Component/shop-web';
  return planDocument({
    source: 'default',
    revision: 'main@sha1:1',
    ledger: 'known',
    scopes: [
      {
        application: applicationId,
        scope: { platform: 'default', team: 'team-a', region: 'region-1', appId: 42 },
        actions: [
          {
            id: `${resource}#port-80`,
            resource,
            verb: 'update',
            step: { type: 'open-outer', port: 80 },
            object: 'port/x/80',
            summary: 'open outer access of port 80',
            changes,
            effects: ['creates the default rule'],
            cause: 'git',
            after: [],
            prune: false,
            takesAlong: ['rule/1'],
            obligation: { outer: true },
          },
        ],
        deferred: [{ resource, waitsFor: 'StoreInstall/db', desired: {}, summary: 'later' }],
        holds: [],
        notes: [{ code: 'rule/orphan', message: 'n', resource, changes }],
        inSync: ['HttpGatewayRule/www'],
        unchangedFields: 3,
      },
    ],
    unobserved: [],
    refusals: [],
    notes: [{ code: 'x/y', message: 'n' }],
  });
}

function event(sequence: number, changed: Partial<ControllerEvent> = {}): ControllerEvent {
  return {
    sequence,
    id: `e-${sequence}`,
    atMs: NOW + sequence,
    type: 'drift.detected',
    severity: 'warning',
    application: 'Application/shop',
    scope: 'default/team-a/region-1/42',
    resource: 'Component/shop-web',
    revision: 'main@sha1:1',
    labels: { env: 'prod' },
    message: `event ${sequence}`,
    detail: { ageMs: sequence },
    ...changed,
  };
}

export function historyRow(serial: number): HistoryRow {
  return {
    serial,
    scope: 'default/team-a/region-1/42',
    atMs: NOW,
    actor: 'ops',
    event: 'applied',
    uid: null,
    detail: { serial },
    previousHash: '0',
    hash: '1',
  };
}

export function intent(id: string): Intent {
  return {
    id,
    uid: 'u',
    scope: 'default/team-a/region-1/42',
    resource: 'Component/shop-web',
    operation: 'addPort',
    idempotence: 'target-state',
    action: { type: 'add' },
    epoch: 1,
    requestHash: 'h',
    preimage: null,
    state: 'unknown',
    createdMs: NOW,
    sendDeadlineMs: NOW,
    settleMs: NOW,
    settleMark: '',
    outcome: null,
    resolvedBy: null,
  };
}

/** A controller that does nothing but remember what it was asked; tests change what it holds. */
export class HandMadeController extends HandMadeFleet implements ControllerApi {
  state = controllerStatus();
  override list: ApplicationStatus[] = [application('shop'), troubled('blog')];
  /** Those of one transaction have one serial. */
  rows: HistoryRow[] = [3, 3, 2, 2, 2, 2, 2, 1].map(historyRow);
  planned: (
    files: readonly SourceFile[],
    options: PlanRequest,
    signal: AbortSignal,
  ) => Promise<PlanDocument | readonly Problem[]> = async () => planOf();
  ledgerFails = false;

  /** Kept at most so many, oldest forgotten first. */
  eventsKept = 1_000;
  #events: ControllerEvent[] = [];
  readonly #listeners = new Set<(event: ControllerEvent) => void>();

  happen(changed: Partial<ControllerEvent> = {}): void {
    const next = event(this.events.newest + 1, changed);
    this.#events = [...this.#events, next].slice(-this.eventsKept);
    for (const listener of this.#listeners) listener(next);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  readonly events: ControllerApi['events'] = this.#stream();

  #stream(): ControllerApi['events'] {
    const all = (): readonly ControllerEvent[] => this.#events;
    const listeners = this.#listeners;
    return {
      get newest() {
        return all().at(-1)?.sequence ?? 0;
      },
      since: (sequence, limit) => {
        const events = all()
          .filter((one) => one.sequence > sequence)
          .slice(0, limit);
        const isComplete = (all()[0]?.sequence ?? 1) <= sequence + 1;
        return { events, isComplete, through: events.at(-1)?.sequence ?? sequence };
      },
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
  }

  readonly leads = () => true;
  get startedMs(): number {
    return this.state.startedMs;
  }

  status(): ControllerStatus {
    return this.state;
  }

  applications(): readonly ApplicationStatus[] {
    return this.list;
  }

  /** What it has observed of every application. */
  observed: Observed | null = null;

  application(id: ResourceId): ApplicationStatus | undefined {
    return this.list.find((one) => one.id === id);
  }

  async details(id: ResourceId): Promise<ApplicationDetails | undefined> {
    const found = this.application(id);
    return found && { ...found, observed: this.observed, sources: [] };
  }

  orphaned: readonly OrphanStatus[] = [];

  orphans(): readonly OrphanStatus[] {
    return this.orphaned;
  }

  async sync(ids: readonly ResourceId[] | 'all', by: string): Promise<readonly ResourceId[]> {
    this.asked.push(`sync ${ids === 'all' ? ids : ids.join(' ')} by ${by}`);
    return ids === 'all' ? this.list.map(({ id }) => id) : ids;
  }

  async pokeSource(because: string): Promise<void> {
    this.asked.push(`poke: ${because}`);
  }

  async suspend(id: ResourceId, by: string, reason: string): Promise<void> {
    this.asked.push(`suspend ${id} by ${by}: ${reason}`);
  }

  async rebind(platform: string, by: string, reason: string) {
    this.asked.push(`rebind ${platform} by ${by}: ${reason}`);
    return { url: 'https://console.example.com', before: null };
  }

  async resume(id: ResourceId, by: string): Promise<void> {
    this.asked.push(`resume ${id} by ${by}`);
  }

  async approve(id: ResourceId, digest: string, by: string): Promise<void> {
    const wanted = this.application(id)?.approval?.digest;
    if (wanted !== digest) {
      throw new PortolanError({
        code: wanted === undefined ? 'controller/nothing-to-approve' : 'controller/other-plan',
        disposition: 'ask-human',
        message: `${id} has no such plan.`,
        remedy: `The digest of now is ${wanted ?? 'none'}.`,
      });
    }
    this.asked.push(`approve ${id} ${digest} by ${by}`);
  }

  async plan(ids: readonly ResourceId[] | 'all', signal: AbortSignal): Promise<PlanDocument> {
    const planned = await this.planned(
      [],
      { variables: new Map(), prune: false, adopt: [], targets: undefined },
      signal,
    );
    return 'formatVersion' in planned ? planned : planOf(ids === 'all' ? undefined : ids[0]);
  }

  async planManifests(files: readonly SourceFile[], options: PlanRequest, signal: AbortSignal) {
    const planned = await this.planned(files, options, signal);
    return 'formatVersion' in planned
      ? ({ type: 'planned', document: planned } as const)
      : ({ type: 'invalid', problems: planned } as const);
  }

  series = twoComponents;

  async monitoring(id: ResourceId, window: TimeWindow): Promise<MonitoringReading> {
    this.asked.push(`monitoring ${id}`);
    return { scope: 'default/team-a/region-1/42', readMs: NOW, ...this.series(window) };
  }

  backing: Dependencies = dependencies;

  async dependencies(): Promise<Dependencies> {
    return this.backing;
  }

  group: ReplicaGroup = replicas;
  replicas = async (): Promise<ReplicaGroup> => this.group;

  async history({ limit, beforeSerial = Number.POSITIVE_INFINITY }: { limit: number; beforeSerial?: number }) {
    if (this.ledgerFails) throw new Error('the disk is gone');
    return this.rows.filter(({ serial }) => serial < beforeSerial).slice(0, limit);
  }

  async objects(_id: ResourceId): Promise<readonly OwnedObject[]> {
    return ['b', 'a', 'c'].map(ownedObject);
  }

  async intents(_id: ResourceId | 'all'): Promise<readonly Intent[]> {
    return ['2', '1'].map(intent);
  }
}
