import type { ApplyWorld } from '../reconcile/apply/world.ts';
import { PortolanError } from '../model/errors.ts';
import { type ResourceId, scopeKey } from '../model/ids.ts';
import type { Action } from '../model/plan.ts';
import type { DesiredState } from '../model/resource.ts';
import type { ApprovalNeeded, Pause } from '../model/status.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import { expensesOf, movedOf } from '../plan/budget.ts';
import { planDigest } from '../plan/digest.ts';
import { type Counted, type GuardLimits, isApprovable, type Refusal } from '../plan/guard.ts';
import type { SkipReason } from '../plan/result.ts';
import { approvalOf } from '../reconcile/policies/interactive.ts';
import { guardPlan } from '../reconcile/guards.ts';
import { type Outcome, sentOf } from '../reconcile/outcome.ts';
import { type Admission, type Next, type PassPolicy, type Reservation, unlimited } from '../reconcile/policy.ts';
import type { PassOptions, Prepared, Seen } from '../reconcile/reconcile.ts';
import { unusedOf } from '../reconcile/removal-budget.ts';
import { sharedScope } from '../reconcile/survey.ts';
import { type Account, isNewer, type Reserved } from './account.ts';
import { isAdoptionAs } from './adopted-part.ts';
import { pauseMessage } from './conditions.ts';
import { type Core, passOptions, publish, withAdoption } from './core.ts';
import { draftEvent } from './events.ts';
import { type AppRecord, historyRow, type Kept, saveRecord, type StatusLedger, writeRecord } from './ledger-records.ts';
import { addAge, restartAges, setPendingRemovals, remainingMs } from './removal-age.ts';
import { referenceOf } from './resolved-scope.ts';

/** Result of a pass, before it is judged. */
export interface Passed {
  readonly outcome: Outcome;
  readonly prepared: Prepared | undefined;
  /** The last observation: after the writes, if the pass wrote anything. */
  readonly seen: Seen | undefined;
  /** Reason why nothing was written. */
  readonly pause: Pause | null;
  readonly approval: ApprovalNeeded | null;
  /** When the first pending removal has been gone from the source for long enough. */
  readonly nextRemovalMs: EpochMs | undefined;
}

/** Permits what the settings, the source and an operator's approval permit. */
export class DaemonPolicy implements PassPolicy {
  readonly options: PassOptions;
  readonly #core: Core;
  readonly #record: AppRecord;
  /** Revision of the source, for messages. */
  readonly #revision: string;
  readonly #planned: (prepared: Prepared) => void;
  /** Settings and source at the start of the pass. A reload or a new commit does not change what the pass may do. */
  readonly #pruneAfterMs: number;
  readonly #account: Account;
  readonly #source: DesiredState;
  #prepared: Prepared | undefined;
  #seen: Seen | undefined;
  #pause: Pause | null = null;
  /** The approval at the time of the first plan. */
  #approval: Kept['approved'] = null;
  /** An operator approved exactly this plan. */
  #isApproved: boolean | undefined;
  /** The adoption that a person requested before the pass. */
  readonly #adopting: Kept['adopting'];
  /** The plan adopts what a person wants to adopt exactly as the person saw it. */
  #adopts: boolean | undefined;
  #digest = '';
  #nowMs: EpochMs = 0;
  #removalRefusals: readonly Refusal[] = [];
  #named: (action: Action) => boolean = () => false;
  #mayRemove = false;
  /** Objects that may be removed. One that becomes due during the pass is not counted by `reserve`, so it waits for the next one. */
  #due: ReadonlySet<string> = new Set();
  /** A newer revision was accepted, so nothing of this pass is sent. */
  #isOutdated = false;
  readonly #limits: GuardLimits;

  readonly #ledger: StatusLedger;

  /** @param planned is called once, when the plan is made. */
  constructor(
    core: Core,
    pass: {
      readonly record: AppRecord;
      readonly revision: string;
      readonly ledger: StatusLedger;
      readonly wantedMs: MonotonicMs;
    },
    planned: (prepared: Prepared) => void,
  ) {
    const { configuration, shared, intake, account } = core;
    const { record, revision, ledger, wantedMs } = pass;
    this.#ledger = ledger;
    this.#adopting = record.kept.adopting;
    this.options = {
      ...withAdoption(passOptions(configuration), this.#adopting?.resource),
      ...(shared === undefined ? {} : { shared: shared.wantedAt(wantedMs), isAlone: record.isAlone }),
    };
    this.#limits = { ...this.options.limits, isDaemon: true };
    this.#core = core;
    this.#record = record;
    this.#revision = revision;
    this.#planned = planned;
    this.#pruneAfterMs = configuration.settings.controller.pruneAfterMs;
    this.#account = account;
    this.#source = intake.accepted?.desired ?? record.work.resources;
  }

  async refusals(seen: Seen, world: ApplyWorld): Promise<readonly Refusal[]> {
    this.#seen = seen;
    if (this.#isApproved === undefined) {
      this.#approval = this.#record.kept.approved;
      this.#digest = planDigest([seen.plan]);
      this.#isApproved = this.#approval?.digest === this.#digest;
    }
    this.#adopts ??= isAdoptionAs(this.#adopting, seen.plan);
    if (!this.#adopts) return [adoptionChanged(this.#adopting?.resource)];
    const overruled = { ...this.#limits, maxShare: 1, maxPrunes: Number.MAX_SAFE_INTEGER };
    return guardPlan(seen, this.#isApproved ? overruled : this.#limits, world);
  }

  async admit(prepared: Prepared): Promise<Admission> {
    const record = this.#record;
    const { options, intake, gates, commits } = this.#core;
    if (!claim(this.#core, record, prepared)) return 'observe';
    this.#prepared = prepared;
    this.#planned(prepared);
    if (this.#adopts === false) await this.#endAdoption();
    if (this.#isApproved === false && this.#approval !== null) await this.#endApproval(this.#approval);
    const removals = prepared.plan.actions.filter((action) => action.prune);
    restartAges(record, commits);
    addAge(record, options.clock.monotonic(), this.#isCurrent(), this.#pruneAfterMs);
    const moved = movedOf(options.kinds, prepared, this.#source);
    setPendingRemovals(record, removals, moved, commits.acceptedMs(this.#revision));
    this.#pause = gates.pauseOf(record, prepared.scope);
    if (this.#pause !== null) return this.#pause;
    this.#nowMs = options.clock.now();
    this.#named = approvalOf(prepared.plan);
    this.#removalRefusals =
      this.#isApproved === true || removals.length === 0 ? [] : intake.removalRefusals(removals.length);
    // Nothing is removed in the first pass of a process, or while the present source is unknown.
    this.#mayRemove = record.passes > 1 && this.#isCurrent() && this.#removalRefusals.length === 0;
    this.#due = new Set(removals.filter((action) => this.#remainingMs(action) <= 0).map(({ object }) => object));
    return 'go';
  }

  permits(action: Action): boolean {
    if (!this.#named(action)) return false;
    return !action.prune || this.#isApproved === true || (this.#mayRemove && this.#due.has(action.object));
  }

  withheld({ scope }: Prepared): SkipReason | undefined {
    const { gates, intake, sharedState } = this.#core;
    // Another replica accepted a newer revision, or may have. The next pass has it.
    const isOutdated = this.#isOutdated || intake.isBehind || sharedState?.isStale === true;
    // Another replica has stored the application, perhaps with a decision.
    if (isOutdated || this.#record.moved !== undefined || this.#removesInDoubt()) return { type: 'interrupted' };
    const pause = gates.pauseOf(this.#record, scope);
    return pause === null ? undefined : { type: 'paused', by: pauseMessage(pause) };
  }

  async reserve(
    actions: readonly Action[],
    prepared: Prepared,
    world: ApplyWorld,
  ): Promise<Reservation | readonly Refusal[]> {
    // An adoption is valid for one pass, as an approval is.
    await this.#endAdoption();
    try {
      return this.#isApproved === true
        ? await this.#reserveApproved(world.snapshot)
        : await this.#reserveWithin(actions, prepared);
    } catch (error) {
      if (!isNewer(error)) throw error;
      this.#isOutdated = true;
      return unlimited;
    }
  }

  /** Takes nothing from the allowance. @throws PortolanError `source/newer` when a newer revision was accepted. */
  async #reserveApproved(snapshot: string): Promise<Reservation> {
    // The approval is for a plan of this revision, and no write to the account would show that another replica accepted a newer one.
    if (this.#core.leadership.isShared) await this.#account.refresh(this.#ledger);
    await this.#useApproval(snapshot);
    return unlimited;
  }

  /** Takes from the allowance of the revision and from the budget of the platform. @throws PortolanError as `Reserved.save`. */
  async #reserveWithin(actions: readonly Action[], prepared: Prepared): Promise<Reservation | readonly Refusal[]> {
    const { scope, ours } = prepared;
    const { budget, options } = this.#core;
    const reserved = await this.#reserveShare({ scope, actions, ours });
    if (!('confirm' in reserved)) return reserved;
    const expenses = expensesOf(options.kinds, prepared, actions, this.#source, this.#record.kept.moved);
    const giveBack = (objects: readonly string[]): Promise<void> =>
      budget.giveBack(scope.platform, objects, this.#revision);
    try {
      // Spent before anything is sent: a process that dies in between has spent what it may have sent.
      const refusals = await budget.spend(scope.platform, expenses, this.#revision, false);
      const late = refusals.length > 0 ? refusals : await this.#saveShare(reserved);
      if (late.length > 0) {
        reserved.abandon();
        if (refusals.length === 0) await giveBack(expenses.map(({ object }) => object));
        return late;
      }
    } catch (error) {
      reserved.abandon();
      if (isNewer(error)) await giveBack(expenses.map(({ object }) => object));
      throw error;
    }
    return {
      release: async (outcome) => {
        const sent = new Set(sentOf(outcome).map(({ id }) => id));
        if (this.#isAccountOpen()) await reserved.confirm(sent, this.#ledger);
        await giveBack(unusedOf(expenses, outcome, scope));
      },
    };
  }

  /** Counts the actions against the allowance, in this process. */
  async #reserveShare(plan: Counted): Promise<Reserved | readonly Refusal[]> {
    const reserved = this.#account.reserve(plan, this.#limits);
    if ('confirm' in reserved || !this.#core.leadership.isShared) return reserved;
    // Another replica may have given something back.
    await this.#account.refresh(this.#ledger);
    return this.#account.reserve(plan, this.#limits);
  }

  /** Stores what was counted. @returns refusals if another replica was faster. */
  async #saveShare(reserved: Reserved): Promise<readonly Refusal[]> {
    return this.#isAccountOpen() ? reserved.save(this.#ledger) : [];
  }

  /** Returns whether to store what is counted: unless this process has accepted another snapshot meanwhile. */
  #isAccountOpen(): boolean {
    return this.#account === this.#core.account || this.#core.leadership.isShared;
  }

  /**
   * Ends the approval, which is valid for one pass: the rest of the plan is another plan. A second person who approves the same
   * plan meanwhile approves what is being done already. It must not be carried out again when an equal plan comes.
   */
  async #useApproval(snapshot: string): Promise<void> {
    const record = this.#record;
    record.approvedSnapshot = snapshot;
    await record.turns.run(record.id, async () => {
      if (record.kept.approved?.digest === this.#digest) record.kept = { ...record.kept, approved: null };
      if (record.status.approval?.digest === this.#digest) record.status = { ...record.status, approval: null };
      await writeRecord(this.#ledger, record, []);
    });
  }

  /** Ends an approval of an earlier plan. Otherwise a plan that only equals it, weeks later, would be carried out without a question. */
  async #endApproval(approval: NonNullable<Kept['approved']>): Promise<void> {
    const record = this.#record;
    const { by, digest } = approval;
    await record.turns.run(record.id, async () => {
      // A person may have approved another plan meanwhile.
      if (record.kept.approved !== approval) return;
      record.kept = { ...record.kept, approved: null };
      const line = historyRow('approval-ended', { application: record.id, by, digest, now: this.#digest });
      await writeRecord(this.#ledger, record, [line]);
      const message = `the plan ${digest.slice(0, 12)} of ${record.id}, which ${by} approved, has changed: nothing of it was sent, and the approval ended`;
      const event = draftEvent('approval.ended', message, { detail: { by, digest, now: this.#digest } });
      publish(this.#core, record, this.#revision, [event]);
    });
  }

  async #endAdoption(): Promise<void> {
    // A person may request another one during the pass.
    if (this.#adopting === null || this.#record.kept.adopting !== this.#adopting) return;
    this.#record.kept = { ...this.#record.kept, adopting: null };
    await saveRecord(this.#ledger, this.#record);
  }

  /** Ends after one pass. The work queue starts another one when it is due. */
  next(): Next {
    return 'end';
  }

  /** Returns the result of the pass with pause, approval and the time of the next removal. */
  conclude(outcome: Outcome): Passed {
    const found = {
      outcome,
      prepared: this.#prepared,
      seen: this.#seen,
      pause: this.#pause,
      approval: null,
      nextRemovalMs: undefined,
    };
    if (outcome.type === 'unobserved') return { ...found, prepared: undefined, seen: undefined, pause: null };
    if (this.#pause !== null) return found;
    if (outcome.type === 'refused') {
      const waits = outcome.refusals.every(isApprovable);
      return { ...found, approval: waits ? this.#needed(this.#digest, outcome.refusals) : null };
    }
    const kept = outcome.plan.actions.filter((action) => action.prune);
    if (kept.length === 0) return found;
    if (this.#removalRefusals.length > 0)
      return { ...found, approval: this.#needed(planDigest([outcome.plan]), this.#removalRefusals) };
    if (!this.#isCurrent()) return found;
    const leftMs = Math.min(...kept.map((action) => this.#remainingMs(action)));
    return { ...found, nextRemovalMs: this.#core.options.clock.now() + Math.max(1000, leftMs) };
  }

  /**
   * Returns whether the plan was made from the present source, as far as is known. An application that has not followed
   * the last commit has a plan of an earlier revision.
   */
  #isCurrent(): boolean {
    const { intake } = this.#core;
    return intake.isCurrent && this.#record.snapshot === intake.accepted?.snapshot;
  }

  /** Returns whether the pass may remove something by a source that was the present one when it began, and may not be any more. */
  #removesInDoubt(): boolean {
    const hasRemovals = Object.keys(this.#record.kept.goneForMs).length > 0;
    return this.#mayRemove && hasRemovals && this.#isApproved !== true && !this.#isCurrent();
  }

  #remainingMs({ object }: Action): number {
    return remainingMs(this.#record, object, this.#pruneAfterMs);
  }

  #needed(digest: string, refusals: readonly Refusal[]): ApprovalNeeded {
    const { approval } = this.#record.status;
    const sinceMs = approval?.digest === digest ? approval.sinceMs : this.#nowMs;
    return { digest, refusals, sinceMs };
  }
}

/**
 * Records which application resolves to a scope.
 * @returns false if a commit has made the manifest refer to another scope since the pass began. The former one stays free for the
 * applications that refer to it now.
 * @throws PortolanError when another one resolves to the same scope, because they would undo each other's changes.
 */
function claim({ claims, records, orphanWork }: Core, record: AppRecord, { scope, work }: Prepared): boolean {
  if (referenceOf(work.application.spec) !== referenceOf(record.work.application.spec)) return false;
  const key = scopeKey(scope);
  if (orphanWork.has(key)) throw beingPruned(record.id, key);
  claims.claim(key, record.id);
  const others = claims.of(key).filter((id) => id !== record.id);
  const works = others.flatMap((id) => records.get(id)?.work ?? []);
  if (works.length > 0) throw sharedScope(key, [record.work, ...works]);
  return true;
}

function adoptionChanged(resource = 'the resource'): Refusal {
  return {
    code: 'adopt/changed',
    message: `${resource} or its manifest changed after a person looked at its adoption, so nothing was adopted`,
    override: 'look at the adoption again and confirm it',
  };
}

function beingPruned(id: ResourceId, scope: string): PortolanError {
  return new PortolanError({
    code: 'application/being-pruned',
    disposition: 'retry',
    message: `${id} refers to ${scope}, from which a person has orphaned resources removed at this moment.`,
    remedy: 'The next pass works on it when that has ended.',
  });
}
