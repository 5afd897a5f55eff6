import type { ApplyWorld } from '../apply/world.ts';
import { PortolanError } from '../model/errors.ts';
import { type ResourceId, type Scope, type ScopeKey, scopeKey } from '../model/ids.ts';
import type { Action } from '../model/plan.ts';
import type { ApprovalNeeded, Pause } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import { planDigest } from '../plan/digest.ts';
import { isApprovable, type Refusal } from '../plan/guard.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import { approvalOf, carryOut, type PassOptions, prepare, type Prepared, untouched } from '../reconcile/reconcile.ts';
import { sharedScope } from '../reconcile/survey.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Account, Reservation } from './account.ts';
import { type Keeping, keepRecord } from './keeping.ts';
import type { AppRecord } from './record.ts';

/** What a pass needs of the controller around it. */
export interface PassEnvironment {
  readonly clock: Clock;
  readonly keeping: Keeping;
  readonly options: PassOptions;
  readonly pruneAfterMs: number;
  readonly account: Account;
  /** Writes down what of the allowance is spent, while the snapshot is still the accepted one. */
  keepAccount(account: Account): Promise<void>;
  /** The accepted snapshot is what the source says right now, as far as anybody can tell. */
  isStanding(): boolean;
  /** Why what the snapshot no longer names stays all the same. */
  keeps(prunes: number): readonly Refusal[];
  /** Which applications mean a scope: several that do are all in the wrong. */
  readonly claims: Map<ScopeKey, Set<ResourceId>>;
  recordOf(id: ResourceId): AppRecord | undefined;
  /** Why nothing is written for it now, by its resolved scope. */
  pauseOf(scope: Scope): Pause | null;
  /** Called once the plan is made. */
  planned(prepared: Prepared): void;
}

/** How a pass went, before anybody judges it. */
export interface Passed {
  readonly prepared: Prepared | undefined;
  readonly outcome: Outcome;
  /** Why nothing was written. */
  readonly pause: Pause | null;
  readonly approval: ApprovalNeeded | null;
  /** When something that is to be removed has been gone for long enough. */
  readonly ripeMs: EpochMs | undefined;
}

/** One look at one application and, unless it is paused, what follows from it. Never throws what was thrown on purpose. */
export async function runPass(record: AppRecord, world: ApplyWorld, environment: PassEnvironment): Promise<Passed> {
  try {
    const prepared = await prepare(record.work, world, environment.options);
    claim(record, prepared, environment);
    environment.planned(prepared);
    const pause = environment.pauseOf(prepared.scope);
    if (pause !== null) return { ...nothingCarried, pause, prepared, outcome: untouched(prepared) };
    return await carry(record, prepared, world, environment);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const outcome: Outcome = { type: 'unobserved', application: record.id, error };
    return { ...nothingCarried, prepared: undefined, outcome };
  }
}

const nothingCarried = { pause: null, approval: null, ripeMs: undefined };

/** Two documents that mean one application would undo each other: neither is touched. */
function claim(record: AppRecord, { scope }: Prepared, { claims, recordOf }: PassEnvironment): void {
  const key = scopeKey(scope);
  const claimants = claims.get(key) ?? new Set();
  claims.set(key, claimants.add(record.id));
  const others = [...claimants].filter((id) => id !== record.id).map((id) => recordOf(id)?.work);
  const works = others.filter((work) => work !== undefined);
  if (works.length > 0) throw sharedScope(key, [record.work, ...works]);
}

async function carry(
  record: AppRecord,
  prepared: Prepared,
  world: ApplyWorld,
  environment: PassEnvironment,
): Promise<Passed> {
  const { clock, options, keeping } = environment;
  const { plan } = prepared;
  const nowMs = clock.now();
  const digest = planDigest([plan]);
  const isApproved = record.kept.approved?.digest === digest;
  const removals = plan.actions.filter((action) => action.prune);
  const goneSince = Object.fromEntries(
    removals.map(({ object }) => [object, record.kept.goneSince[object] ?? nowMs] as const),
  );
  record.kept = { ...record.kept, goneSince };

  const keeps = isApproved || removals.length === 0 ? [] : environment.keeps(removals.length);
  const dueMs = ({ object }: Action): EpochMs => (goneSince[object] ?? nowMs) + environment.pruneAfterMs;
  // Nothing is removed in the first pass of a process, nor while nobody can tell what the source says.
  const mayRemove = record.passes > 1 && environment.isStanding() && keeps.length === 0;
  const isRipe = (action: Action): boolean => isApproved || (mayRemove && dueMs(action) <= nowMs);
  const named = approvalOf(plan);
  const may = (action: Action): boolean => named(action) && (!action.prune || isRipe(action));

  const overruled = isApproved && prepared.refusals.every(isApprovable);
  const refusals = overruled ? [] : prepared.refusals;
  if (refusals.length > 0) return refused(record, prepared, refusals, digest, nowMs);
  const going = plan.actions.filter(may);
  const reservation = isApproved ? undefined : environment.account.reserve(scopeKey(plan.scope), going, options.limits);
  if (reservation !== undefined && !('settle' in reservation))
    return refused(record, prepared, reservation, digest, nowMs);

  if (isApproved) {
    // Let through once: what is left of it afterwards is another plan.
    record.kept = { ...record.kept, approved: null };
    await keepRecord(keeping, record);
  }
  if (reservation !== undefined) await keepReserved(environment, reservation);
  const unlimited = { ...options, limits: { ...options.limits, maxShare: 1, maxPrunes: Number.MAX_SAFE_INTEGER } };
  const outcome = await carryOut({ ...prepared, refusals: [] }, world, isApproved ? unlimited : options, may);
  if (reservation !== undefined && outcome.type === 'ended') {
    const sent = outcome.results.filter(({ status }) => status === 'done' || status === 'in-doubt');
    reservation.settle(new Set(sent.map(({ action }) => action.id)));
    await environment.keepAccount(environment.account);
  }
  const left = outcome.type === 'ended' ? outcome.plan : plan;
  const kept = left.actions.filter((action) => action.prune);
  return {
    prepared,
    outcome,
    pause: null,
    approval: keeps.length > 0 && kept.length > 0 ? approvalFor(record, planDigest([left]), keeps, nowMs) : null,
    ripeMs:
      keeps.length > 0 || kept.length === 0 || !environment.isStanding()
        ? undefined
        : Math.max(nowMs + 1000, Math.min(...kept.map(dueMs))),
  };
}

/** Before anything is sent: a process that dies on the way has spent what it may have sent. */
async function keepReserved({ account, keepAccount }: PassEnvironment, reservation: Reservation): Promise<void> {
  try {
    await keepAccount(account);
  } catch (error) {
    reservation.settle(new Set());
    throw error;
  }
}

function refused(
  record: AppRecord,
  prepared: Prepared,
  refusals: readonly Refusal[],
  digest: string,
  nowMs: EpochMs,
): Passed {
  const { plan } = prepared;
  const waits = refusals.every(isApprovable);
  return {
    prepared,
    outcome: { type: 'refused', application: record.id, plan, refusals },
    pause: null,
    approval: waits ? approvalFor(record, digest, refusals, nowMs) : null,
    ripeMs: undefined,
  };
}

function approvalFor(
  { status }: AppRecord,
  digest: string,
  refusals: readonly Refusal[],
  nowMs: EpochMs,
): ApprovalNeeded {
  const sinceMs = status.approval?.digest === digest ? status.approval.sinceMs : nowMs;
  return { digest, refusals, sinceMs };
}
