import { type ApplyWorld, type Origin, timingOf, type WorldHooks } from '../reconcile/apply/world.ts';
import { isLedgerLost } from '../ledger/errors.ts';
import type { Lead } from '../ledger/shared.ts';
import { PortolanError } from '../model/errors.ts';
import type { ResourceId, ScopeKey } from '../model/ids.ts';
import type { OrphanStatus } from '../model/status.ts';
import type { MonotonicMs } from '../model/time.ts';
import { shareLimits } from '../plan/guard.ts';
import { policyJudge } from '../reconcile/policy-judge.ts';
import type { PassOptions, Work } from '../reconcile/reconcile.ts';
import type { RemovalBudget } from '../reconcile/removal-budget.ts';
import type { SharedReadings } from '../reconcile/shared-readings.ts';
import type { Account } from './account.ts';
import { type MilestoneFacts, unknownApplication } from './api.ts';
import type { EventDraft } from './events.ts';
import type { Gates } from './gates.ts';
import type { Intake } from './intake.ts';
import type { ControllerConfiguration, CoreBase } from './options.ts';
import type { AppRecord, Kept } from './ledger-records.ts';
import type { Leadership } from './replicas/leadership.ts';
import type { ScopeClaims } from './scope-claims.ts';
import type { Slots } from './slots.ts';
import type { RecordTurns } from './record-turns.ts';

/** The orphans of a source, and what its applications referred to when they were found. */
interface FoundOrphans {
  readonly orphans: readonly OrphanStatus[];
  readonly places: ReadonlySet<string>;
}

/** State that the parts of the controller share. */
export interface Core extends CoreBase {
  readonly intake: Intake;
  readonly slots: Slots;
  readonly gates: Gates;
  readonly claims: ScopeClaims;
  /** Aborted when no new work may start. */
  readonly stop: AbortSignal;
  account: Account;
  readonly budget: RemovalBudget;
  /** Listings that answer for many applications at once. */
  shared: SharedReadings | undefined;
  /** undefined: not looked for yet. */
  found: FoundOrphans | undefined;
  /** Scopes without an application in which a person has something removed at this moment. */
  readonly orphanWork: Set<ScopeKey>;
  /** Looks for orphans again, after those of a platform may have changed. */
  refreshOrphans(platform: string): Promise<void>;
  /** The decisions of users since the accepted source was last followed. A record that was restored meanwhile may lack them. */
  readonly decided: Map<ResourceId, Partial<Kept>>;
  readonly recordTurns: RecordTurns;
  /** Lets a reload of the configuration wait for work that uses the former one. */
  track(work: Promise<unknown>): void;
  /** Reads the source again after it exceeded a limit. @throws its failure, which is logged, and why the process ends. */
  retrySource(): Promise<void>;
  /** Reports that this process has lost the ledger. */
  lose(error: PortolanError): void;
  /** Number of passes that this process has started. */
  passes: number;
}

/**
 * Returns the record of an application.
 * @throws PortolanError `invalid` when the accepted source does not have it.
 */
export function known({ records }: Core, id: ResourceId): AppRecord {
  const record = records.get(id);
  if (record === undefined) throw unknownApplication(id);
  return record;
}

/** Reason of the routine pass after the resync interval. */
export const RESYNC = 'resync';
const JITTER = 0.1;

/** Returns the delay in ms until the next resync of an application that needs nothing. */
export function resyncMs({ configuration, options }: Core): number {
  return configuration.settings.controller.resyncIntervalMs * (1 - JITTER + 2 * JITTER * options.random.next());
}

/** Returns the delay in ms until the next resync of an application, counted from its last pass. */
export function untilResyncMs(core: Core, { passedMs }: AppRecord): number {
  return resyncMs(core) - (core.options.clock.monotonic() - (passedMs ?? Number.NEGATIVE_INFINITY));
}

/** Returns what the settings permit. Each removal needs further permission, which DaemonPolicy decides. */
export function passOptions({ settings }: ControllerConfiguration): PassOptions {
  return {
    permissions: {
      // Adoption requires a person's decision at the command line.
      adopt: () => false,
      adoptNamed: () => false,
      prune: settings.prune.enabled,
      firstInstall: () => settings.controller.firstInstalls === 'allow',
    },
    limits: {
      ...shareLimits(settings.prune.maxShare),
      maxPrunes: settings.prune.maxObjects,
      allowedScopes: settings.scopes.allow,
      hidesAllowed: true,
    },
    targets: undefined,
    readOnly: false,
    ledgerKnown: true,
  };
}

/** Returns the same with the permission to adopt one resource, which a person named. */
export function withAdoption(options: PassOptions, resource: ResourceId | undefined): PassOptions {
  if (resource === undefined) return options;
  const isNamed = (id: ResourceId): boolean => id === resource;
  return { ...options, permissions: { ...options.permissions, adopt: isNamed, adoptNamed: isNamed } };
}

/**
 * Returns the world of one pass.
 * @throws PortolanError when the configuration does not have the application's platform.
 */
export function worldOf(
  { options, sourceLedger, configuration, leadership }: Core,
  { application }: Work,
  { snapshot, hooks, origin, lead }: PassParts,
): ApplyWorld {
  const { kinds, random } = options;
  const { stores, settings } = configuration;
  const client = configuration.client(application.spec.platform);
  const policies = policyJudge(settings.policies, options.workbench);
  const timing = timingOf(settings);
  const ledger = lead?.ledger ?? sourceLedger.ledger;
  const sendUntilMs = lead && lastSendOf(lead, leadership);
  const parts = { policies, kinds, client, random, stores, timing, snapshot, origin, ledger, sendUntilMs };
  return { ...sourceLedger, ...parts, ...hooks };
}

/** Parts of the world of one pass. */
interface PassParts {
  readonly snapshot: string;
  readonly hooks: WorldHooks;
  readonly origin?: Origin;
  /** undefined: the pass writes nothing. */
  readonly lead: Lead | undefined;
}

/** Returns until when a leader sends: early enough that no byte leaves after another process may have taken the lease. */
function lastSendOf(lead: Lead, { sendMarginMs }: Leadership): () => MonotonicMs {
  return () => (lead.over.aborted ? Number.NEGATIVE_INFINITY : lead.validUntilMs() - sendMarginMs);
}

/** Publishes events of an application. */
export function publish(
  { events }: Core,
  { id, status }: AppRecord,
  revision: string,
  drafts: readonly EventDraft[],
): void {
  for (const draft of drafts)
    events.publish({ application: id, scope: status.scope, labels: status.labels, revision, ...draft });
}

/** Reports a milestone to the observer, once for each application and revision that changed it. */
export function reachMilestone({ options }: Core, record: AppRecord, reached: MilestoneFacts['milestone']): void {
  const { changedRevision: revision, committedMs, observedMs } = record;
  if (record.reached.revision !== revision) record.reached = { revision, milestones: new Set() };
  if (record.reached.milestones.has(reached)) return;
  record.reached.milestones.add(reached);
  const nowMs = options.clock.now();
  options.observer.milestone({
    application: record.id,
    revision,
    milestone: reached,
    sinceCommitMs: committedMs === null ? null : Math.max(0, nowMs - committedMs),
    sinceObservedMs: Math.max(0, nowMs - observedMs),
  });
}

/** Logs an expected error. @throws any other error, which is a bug. */
export function logExpected(core: Core, error: unknown): void {
  if (!(error instanceof PortolanError)) throw error;
  if (isLedgerLost(error)) core.lose(error);
  core.options.log.error(error.message, { code: error.code, remedy: error.remedy });
}
