import type { Lead } from '../ledger/shared.ts';
import { parseScopeKey } from '../model/ids.ts';
import type { ApplicationStatus, Condition } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import { createScopeReader } from '../reconcile/scope-reader.ts';
import { conditionOf } from './application-state.ts';
import type { ConditionState } from './conditions.ts';
import { type Core, publish, reachMilestone, RESYNC, untilResyncMs } from './core.ts';
import { CHECK_EVERY_MS, HEALTH_DUE, healthByStatus } from './health.ts';
import { healthEvents, type Requeue, requeueAt } from './judge-pass.ts';
import { type AppRecord, saveRecord } from './ledger-records.ts';
import { ledgerBy } from './replicas/unit-ledgers.ts';

/**
 * Reads whether a changed application runs, in place of a pass, if nothing else is due for it. This takes one request; a pass
 * would read all its components and rules, every few seconds until the application runs.
 * @param because why the queue requests a pass.
 * @returns when the application gets its next pass; undefined if it needs one now.
 */
export async function checkHealth(
  core: Core,
  record: AppRecord,
  lead: Lead,
  because: readonly string[],
): Promise<Requeue | undefined> {
  const { options, configuration } = core;
  const { work, kept } = record;
  const scope = record.status.scope === null ? undefined : parseScopeKey(record.status.scope);
  if (scope === undefined || kept.changedMs === null || !isOnlyHealthDue(core, record, because)) return undefined;
  const nowMs = options.clock.now();
  const dueMs = kept.changedMs + configuration.settings.controller.healthTimeoutMs;
  const reader = createScopeReader(configuration.client(scope.platform), scope, {});
  const health = await healthByStatus({ reader }, dueMs, nowMs);
  // The pass reports that the platform cannot be read.
  if (health.reason === 'Unreachable') return undefined;
  // A commit changed the application meanwhile, or another replica leads it. Either requests a pass.
  if (record.work !== work || lead.over.aborted) return { type: 'resync' };
  const isKnown = health.reason !== 'Progressing';
  const { status: former, revision } = record;
  record.status = withHealth(former, health, revision, nowMs);
  if (isKnown) record.kept = { ...record.kept, changedMs: null };
  publish(core, record, revision, healthEvents(record.id, former, record.status));
  if (health.status === 'True') reachMilestone(core, record, 'healthy');
  await saveRecord(ledgerBy(core, lead), record);
  return isKnown ? { type: 'resync' } : requeueAt(nowMs + CHECK_EVERY_MS, HEALTH_DUE);
}

/** Reasons with which a check is enough. The queue joins a resync that is due later to the check before it. */
const REASONS: ReadonlySet<string> = new Set([HEALTH_DUE, RESYNC]);

/** Returns whether the application is in sync, and nothing but its health is due or unknown. */
function isOnlyHealthDue(core: Core, record: AppRecord, because: readonly string[]): boolean {
  const { status, work, isUntried } = record;
  return (
    because.includes(HEALTH_DUE) &&
    because.every((reason) => REASONS.has(reason)) &&
    !isUntried &&
    status.pause === null &&
    conditionOf(status, 'Ready')?.status === 'True' &&
    untilResyncMs(core, record) > 0 &&
    core.gates.circuitOf(work.application.spec) === undefined
  );
}

/** Returns the status with another health of the application and of all its resources. */
function withHealth(
  status: ApplicationStatus,
  health: ConditionState,
  observedRevision: string,
  nowMs: EpochMs,
): ApplicationStatus {
  // Resources share their conditions, because a fleet has 60,000 of them.
  const changed = new Map<readonly Condition[], readonly Condition[]>();
  const changedOf = (conditions: readonly Condition[]): readonly Condition[] => {
    const known = changed.get(conditions);
    if (known !== undefined) return known;
    const found = conditions.map((condition): Condition => {
      if (condition.type !== 'Healthy') return condition;
      const sinceMs = condition.status === health.status ? condition.sinceMs : nowMs;
      return { type: 'Healthy', ...health, observedRevision, sinceMs };
    });
    changed.set(conditions, found);
    return found;
  };
  return {
    ...status,
    conditions: changedOf(status.conditions),
    resources: status.resources.map((resource) => ({ ...resource, conditions: changedOf(resource.conditions) })),
  };
}
