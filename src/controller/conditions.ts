import { compact } from '../manifest/compact.ts';
import type { PortolanError } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import { type Json, sameJson } from '../model/json.ts';
import type { Hold, ScopePlan, Wait } from '../model/plan.ts';
import type { Refusal } from '../model/plan-document.ts';
import { POLICY_WARNING } from '../plan/guard.ts';
import { withRemedy } from '../plan/words.ts';
import type { Resource } from '../model/resource.ts';
import type {
  ApprovalNeeded,
  Condition,
  ConditionType,
  Drift,
  HealMode,
  Pause,
  ResourceStatus,
  StatusError,
} from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Work } from '../reconcile/reconcile.ts';

/** A condition without revision and time. */
export type ConditionState = Pick<Condition, 'status' | 'reason' | 'message'>;
export type ConditionStates = Readonly<Record<ConditionType, ConditionState>>;

/** Results of a pass that conditions are derived from. */
export interface Findings {
  readonly work: Work;
  /** `undefined` if the application could not be observed. */
  readonly plan: ScopePlan | undefined;
  readonly waits: readonly Wait[];
  readonly drifts: ReadonlyMap<ResourceId, Drift>;
  readonly error: PortolanError | undefined;
  /** Failures of this pass by resource. */
  readonly failed: ReadonlyMap<ResourceId, string>;
  /** Resources with a write in doubt: it is unknown whether the platform carried it out. */
  readonly inDoubt: ReadonlySet<ResourceId>;
  readonly pause: Pause | null;
  readonly approval: ApprovalNeeded | null;
  /** Refusals by policies of Settings. */
  readonly denied: readonly Refusal[];
  /** The first refusal that no approval permits, by a policy or another one. Nothing is sent, not even to correct drift. */
  readonly refused: Pick<StatusError, 'message' | 'remedy'> | undefined;
  readonly health: ConditionState;
}

/** Reason while a write in doubt waits for the end of its settle window. */
const IN_SETTLE_WINDOW = 'Settling';

/** Returns conditions with revision and time. A condition whose status stays the same keeps its time. */
export function withSince(
  states: ConditionStates,
  former: readonly Condition[],
  revision: string | null,
  nowMs: EpochMs,
): readonly Condition[] {
  return CONDITIONS.map((type) => {
    const { status, reason, message } = states[type];
    const before = former.find((condition) => condition.type === type);
    const sinceMs = before?.status === status ? before.sinceMs : nowMs;
    // Named one by one, because V8 then stores them in one piece.
    return { type, status, reason, message, observedRevision: revision, sinceMs };
  });
}

const CONDITIONS: readonly ConditionType[] = ['Ready', 'Reconciling', 'Stalled', 'Healthy'];

export const no = (reason: string, message = ''): ConditionState => ({ status: 'False', reason, message });
export const yes = (reason: string, message = ''): ConditionState => ({ status: 'True', reason, message });
export const unknown = (reason: string, message = ''): ConditionState => ({ status: 'Unknown', reason, message });

/** Conditions before the first observation. */
export const notObserved: ConditionStates = {
  Ready: unknown('NotObserved', 'not observed yet'),
  Reconciling: yes('Queued', 'its first pass is due'),
  Stalled: no('Queued'),
  Healthy: unknown('NotObserved', 'not observed yet'),
};

/** Returns the conditions of an application after a pass. */
export function applicationConditions(findings: Findings): ConditionStates {
  return { Ready: ready(findings), ...progress(findings), Healthy: findings.health };
}

/**
 * Codes that say clearly that the platform does not have it. Any other 404 may come from a proxy, or from a wrong
 * address.
 */
const ABSENT: ReadonlySet<string> = new Set([
  'application/not-found',
  'platform/unknown-application',
  'platform/unknown-team',
  'platform/unknown-region',
]);

/** Returns the state of an application that could not be observed: the platform does not have it, or gave no answer. */
function unobserved(error: PortolanError | undefined, otherwise?: string): ConditionState {
  const isAbsent = error !== undefined && ABSENT.has(error.code);
  return unknown(isAbsent ? 'NotFound' : 'Unreachable', error?.message ?? otherwise);
}

function ready(findings: Findings): ConditionState {
  const { plan, error, pause, approval, denied, refused, waits, drifts, inDoubt } = findings;
  if (plan === undefined) return unobserved(error, pauseMessage(pause));
  if (approval !== null) return no('ApprovalNeeded', approval.refusals.map(({ message }) => message).join('; '));
  if (denied.length > 0) return no('Denied', listed(denied.map(({ message }) => message)));
  if (refused !== undefined) return no('Failing', refused.message);
  const [hold] = plan.holds;
  if (hold !== undefined) return no('Held', `${hold.resource}: ${hold.message}`);
  if (error !== undefined) return no('Failing', error.message);
  if (inDoubt.size > 0)
    return no('InDoubt', `writes in doubt, which may have been carried out: ${[...inDoubt].join(', ')}`);
  if (plan.actions.length > 0) {
    const changes = plan.actions.filter(({ continues }) => continues === undefined);
    const summaries = changes.slice(0, 3).map(({ resource, summary }) => `${resource}: ${summary}`);
    const more = changes.length - summaries.length;
    const text = `${summaries.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
    return no(pause === null ? 'Pending' : 'Paused', pause === null ? text : `${pauseMessage(pause)}: ${text}`);
  }
  if (plan.deferred.length + waits.length > 0)
    return no('Waiting', waits[0]?.message ?? `waits for ${plan.deferred[0]?.waitsFor}`);
  if (drifts.size > 0)
    return no('Drifted', `${[...drifts.keys()].join(', ')}: only reported, because of the annotation`);
  const aside = plan.notes.some(({ code }) => code.startsWith('reconcile/'));
  const inSync = aside ? 'all that is compared is in sync with the source' : 'in sync with the source';
  const warnings = plan.notes.filter(({ code }) => code === POLICY_WARNING).map(({ message }) => message);
  return yes('InSync', listed([inSync, ...warnings]));
}

/** Returns the first texts, and the number of the others: a policy may deny, or a commit change, thousands of things. */
function listed(texts: readonly string[]): string {
  const more = texts.length - LISTED_MAX;
  return [...texts.slice(0, LISTED_MAX), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

const LISTED_MAX = 4;

/** Returns whether work continues by itself, or requires manual action. */
function progress(findings: Findings): Pick<ConditionStates, 'Reconciling' | 'Stalled'> {
  const { plan, error, approval, denied, refused, pause, waits, failed, inDoubt } = findings;
  const stalled = (reason: string, message: string, reconciling = no(reason)) => ({
    Stalled: yes(reason, message),
    Reconciling: reconciling,
  });
  const retrying = yes('Retrying', 'it is retried automatically');
  if (approval !== null)
    return stalled(
      'ApprovalNeeded',
      approval.refusals.map(({ message, override }) => `${message} (${override})`).join('; '),
    );
  if (denied.length > 0)
    return stalled('Denied', listed(denied.map(({ message, override }) => `${message} (${override})`)));
  if (refused !== undefined) return stalled('Failing', withRemedy(refused), retrying);
  const hold = plan?.holds.find(requiresManualAction);
  if (hold !== undefined) return stalled('Held', withRemedy(hold));
  if (pause?.type === 'suspended') return stalled('Suspended', pauseMessage(pause));
  if (error !== undefined && requiresOperator(error)) return stalled('Failing', withRemedy(error), retrying);
  if (error !== undefined || failed.size > 0) return { Stalled: no('Retrying'), Reconciling: retrying };
  if (pause !== null) return { Stalled: no('Paused'), Reconciling: no('Paused', pauseMessage(pause)) };
  const doubt = plan?.holds[0]?.message ?? (inDoubt.size > 0 ? 'a write in doubt is checked again' : undefined);
  if (doubt !== undefined) return { Stalled: no(IN_SETTLE_WINDOW), Reconciling: yes(IN_SETTLE_WINDOW, doubt) };
  const isBusy = plan !== undefined && plan.actions.length + plan.deferred.length + waits.length > 0;
  return { Stalled: no('Progressing'), Reconciling: isBusy ? yes('Progressing') : no('Idle') };
}

/** Returns whether a hold requires manual action: it has no time at which it ends. */
function requiresManualAction({ untilMs }: Hold): boolean {
  return untilMs === undefined;
}

function requiresOperator({ disposition }: PortolanError): boolean {
  return disposition === 'invalid' || disposition === 'ask-human';
}

/** Returns the reason of a pause as a text. */
export function pauseMessage(pause: Pause | null): string {
  if (pause === null) return '';
  switch (pause.type) {
    case 'suspended':
      return `suspended by ${pause.by}${pause.reason === '' ? '' : `: ${pause.reason}`}`;
    case 'window':
      return `outside its sync window ${pause.window}`;
    case 'region':
      return `region ${pause.region} is ${pause.state}`;
    case 'circuit':
      return `too many failures in a row in region ${pause.region}`;
    default:
      return unreachable(pause);
  }
}

/** Returns what the annotation of a resource says about its differences. */
export function modeOf({ annotations }: Resource): HealMode {
  const mode = annotations['portolan/reconcile'];
  return mode === 'report' || mode === 'suspend' ? mode : 'heal';
}

/** Returns the status of each resource of an application after a pass, in the order of the source. */
export function resourceStatuses(
  findings: Findings,
  former: readonly ResourceStatus[],
  revision: string | null,
  nowMs: EpochMs,
): readonly ResourceStatus[] {
  const { work, plan, drifts } = findings;
  const before = new Map(former.map((status) => [status.id, status]));
  const inSync = new Set(plan?.inSync);
  let conditions: readonly Condition[] = [];
  return [...work.resources.values()].map((resource) => {
    const { id } = resource;
    const known = before.get(id);
    const own = withSince(
      { ...resourceConditions(resource, findings, inSync), Healthy: findings.health },
      known?.conditions ?? [],
      plan === undefined ? (known?.conditions[0]?.observedRevision ?? null) : revision,
      nowMs,
    );
    // Most resources have the conditions of the one before, and those of the former pass. They share them, because a fleet has
    // 60,000 resources.
    if (!isSame(own, conditions))
      conditions = known !== undefined && isSame(own, known.conditions) ? known.conditions : own;
    const status: ResourceStatus = {
      id,
      application: work.application.id,
      mode: modeOf(resource),
      conditions,
      drift: plan === undefined ? (known?.drift ?? null) : (drifts.get(id) ?? null),
      holds: compact(plan?.holds.filter((hold) => hold.resource === id) ?? known?.holds ?? []),
    };
    return known?.conditions === conditions && isSame(status, known) ? known : status;
  });
}

function isSame(left: unknown, right: unknown): boolean {
  return sameJson(left as Json, right as Json);
}

function stands(isReady: ConditionState, reconciling: ConditionState, stalled: ConditionState) {
  return { Ready: isReady, Reconciling: reconciling, Stalled: stalled };
}

function resourceConditions(
  resource: Resource,
  { plan, inDoubt, failed, drifts, waits, error, approval, denied }: Findings,
  inSync: ReadonlySet<ResourceId>,
): Omit<ConditionStates, 'Healthy'> {
  const { id } = resource;
  const isOf = (one: { readonly resource: ResourceId }): boolean => one.resource === id;
  if (modeOf(resource) === 'suspend')
    return stands(
      unknown('Suspended', 'suspended by its annotation portolan/reconcile: it is neither compared nor changed'),
      no('Suspended'),
      yes('Suspended'),
    );
  if (plan === undefined) return stands(unobserved(error), yes('Retrying'), no('Retrying'));
  const denial = denied.find((refusal) => refusal.resource === id);
  if (denial !== undefined) return stands(no('Denied', denial.message), no('Denied'), yes('Denied', denial.override));
  const hold = plan.holds.find(isOf);
  if (hold !== undefined)
    return requiresManualAction(hold)
      ? stands(no('Held', hold.message), no('Held'), yes('Held', hold.remedy))
      : stands(no('Held', hold.message), yes(IN_SETTLE_WINDOW, hold.message), no(IN_SETTLE_WINDOW));
  if (inDoubt.has(id)) return stands(no('InDoubt'), yes(IN_SETTLE_WINDOW), no(IN_SETTLE_WINDOW));
  const failure = failed.get(id);
  if (failure !== undefined) return stands(no('Failing', failure), yes('Retrying'), no('Retrying'));
  const actions = plan.actions.filter((action) => isOf(action) && action.continues === undefined);
  if (actions.length > 0) {
    const text = listed(actions.map(({ summary }) => summary));
    return approval === null
      ? stands(no('Pending', text), yes('Pending', text), no('Pending'))
      : stands(no('ApprovalNeeded', text), no('ApprovalNeeded'), yes('ApprovalNeeded', 'it requires an approval'));
  }
  const deferred = plan.deferred.find(isOf);
  const wait = waits.find(isOf)?.message ?? (deferred && `waits for ${deferred.waitsFor}`);
  if (wait !== undefined) return stands(no('Waiting', wait), yes('Waiting'), no('Waiting'));
  if (drifts.has(id))
    return stands(no('Drifted', 'only reported, because of the annotation'), no('Drifted'), no('Drifted'));
  if (plan.notes.some((note) => note.resource === id && note.changes !== undefined))
    return stands(no('Reported', 'only reported, because of the annotation'), no('Reported'), no('Reported'));
  return stands(
    inSync.has(id) ? yes('InSync', 'in sync with the source') : unknown('NotCompared'),
    no('Idle'),
    no('Idle'),
  );
}
