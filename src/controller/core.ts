import { type ApplyWorld, timingOf, type WorldHooks } from '../reconcile/apply/world.ts';
import { isLedgerLost } from '../ledger/errors.ts';
import { PortolanError } from '../model/errors.ts';
import type { ResourceId, ScopeKey } from '../model/ids.ts';
import { shareLimits } from '../plan/guard.ts';
import type { PassOptions, Work } from '../reconcile/reconcile.ts';
import type { RemovalBudget } from '../reconcile/removal-budget.ts';
import type { SharedReadings } from '../reconcile/shared-readings.ts';
import type { Account } from './account.ts';
import type { MilestoneFacts } from './api.ts';
import type { EventDraft } from './events.ts';
import type { Gates } from './gates.ts';
import type { Intake } from './intake.ts';
import type { ControllerConfiguration, CoreBase } from './options.ts';
import type { AppRecord } from './ledger-records.ts';
import type { Slots } from './slots.ts';

/** What the parts of the controller share. */
export interface Core extends CoreBase {
  readonly intake: Intake;
  readonly slots: Slots;
  readonly gates: Gates;
  /** Which applications mean a scope: several that do are all in the wrong. */
  readonly claims: Map<ScopeKey, Set<ResourceId>>;
  /** Aborted: begin nothing new. */
  readonly stop: AbortSignal;
  account: Account;
  readonly budget: RemovalBudget;
  /** Listings that answer for many applications at once. */
  shared: SharedReadings | undefined;
  /** Reads again what exceeded the limits of the source before. */
  retrySource(): void;
  /** The ledger is no longer ours. */
  lose(error: PortolanError): void;
}

const JITTER = 0.1;

/** @returns ms until an application that needs nothing is looked at again. */
export function resyncMs({ configuration, options }: Core): number {
  return configuration.settings.controller.resyncIntervalMs * (1 - JITTER + 2 * JITTER * options.random.next());
}

/** What the settings let through. Whether it removes anything is decided action by action. */
export function passOptions({ settings }: ControllerConfiguration): PassOptions {
  return {
    permissions: {
      // Taking over what is not ours is a person's decision, and a person is at the command line.
      adopt: () => false,
      adoptNamed: () => false,
      prune: settings.prune.enabled,
      firstInstall: () => settings.controller.firstInstalls === 'allow',
    },
    limits: {
      ...shareLimits(settings.prune.maxShare),
      maxPrunes: settings.prune.maxObjects,
      allowedScopes: settings.scopes.allow,
    },
    targets: undefined,
    readOnly: false,
    ledgerKnown: true,
  };
}

/** @throws PortolanError when the configuration does not have its platform. */
export function worldOf(
  { options, sourceLedger, configuration }: Core,
  { application }: Work,
  snapshot: string,
  hooks: WorldHooks,
): ApplyWorld {
  const { kinds, clock, random, source, actor } = options;
  return {
    kinds,
    client: configuration.client(application.spec.platform),
    ledger: sourceLedger.ledger,
    clock,
    random,
    stores: configuration.stores,
    timing: timingOf(configuration.settings),
    actor,
    source,
    snapshot,
    ...hooks,
  };
}

/** Tells what happened to an application. */
export function publish(
  { events }: Core,
  { id, status }: AppRecord,
  revision: string,
  drafts: readonly EventDraft[],
): void {
  for (const draft of drafts)
    events.publish({ application: id, scope: status.scope, labels: status.labels, revision, ...draft });
}

/** Tells observers, once per application and per revision that changed something of it. */
export function milestone({ options }: Core, record: AppRecord, reached: MilestoneFacts['milestone']): void {
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

/** Logs what was thrown on purpose; anything else is a fault of ours and goes on its way. */
export function expected(core: Core, error: unknown): void {
  if (!(error instanceof PortolanError)) throw error;
  if (isLedgerLost(error)) core.lose(error);
  core.options.log.error(error.message, { code: error.code, remedy: error.remedy });
}
