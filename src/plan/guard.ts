import type { Refusal } from '../model/plan-document.ts';
import { type Scope, scopeKey } from '../model/ids.ts';
import { scopeMatches } from '../model/scope-pattern.ts';
import type { Action, ScopePlan } from '../model/plan.ts';
import type { PolicyResult } from '../policies/spec.ts';
import { amount } from './words.ts';
import type { EpochMs } from '../model/time.ts';

export type { Refusal } from '../model/plan-document.ts';

/** Limits how much one run may change or remove without an approval. */
export interface GuardLimits {
  /** Share of the objects on record, 0 to 1, that one scope, run or revision may change or remove. */
  readonly maxShare: number;
  /** With fewer objects on record than this, the share is not checked. */
  readonly shareFrom: number;
  /** Removals in one run. */
  readonly maxPrunes: number;
  /** `team/region/app` patterns, `*` for any. */
  readonly allowedScopes: readonly string[];
  /** Messages do not list the patterns: callers of the API may not know the other teams. */
  readonly hidesAllowed?: true;
  /** The daemon has no flags: a person approves the plan, or the operator changes the settings. */
  readonly isDaemon?: true;
  /** undefined: there are none, or the daemon waits for them. */
  readonly windows?: Windows;
  /** Reason for which a user ignores the policies; undefined where they apply. */
  readonly policiesIgnoredBecause?: string | undefined;
}

/** Below this many objects a share says nothing: one of three is a third. */
export const SHARE_FROM_OBJECTS = 10;

/** Default of the share. */
const SHARE_DEFAULT = 0.3;

/**
 * Returns the limit for a share, for commands and the daemon alike. A given share applies to every scope, run and revision,
 * however few objects are on record: 0.1 lets no one of nine be removed. The default spares those with fewer than ten.
 * @param given by a flag or by Settings.
 */
export function shareLimits(given: number | undefined): Pick<GuardLimits, 'maxShare' | 'shareFrom'> {
  if (given !== undefined) return { maxShare: given, shareFrom: 0 };
  return { maxShare: SHARE_DEFAULT, shareFrom: SHARE_FROM_OBJECTS };
}

const APPROVABLE: ReadonlySet<string> = new Set([
  'guard/share',
  'guard/prunes',
  'guard/budget',
  'guard/shrunk-source',
  'guard/not-descendant',
]);

/** Whether a person may overrule it by approving the plan: the others say what may never be, or not now. */
export function isApprovable({ code }: Refusal): boolean {
  return APPROVABLE.has(code);
}

/** Objects that plans change, by scope and natural key. Each counts once, even if several actions touch it. */
export interface Toll {
  /** Objects that are changed or removed because the manifests changed. */
  readonly changed: ReadonlySet<string>;
  /** Put back: what moved away from what was applied, and what was changed only for a moment. */
  readonly healed: ReadonlySet<string>;
  /** Objects of `changed` that are removed or closed by the rules of pruning. */
  readonly removed: ReadonlySet<string>;
}

/** A plan as the guards count it. */
export interface Counted extends Pick<ScopePlan, 'scope' | 'actions'> {
  /**
   * Natural keys of objects that were ours before the snapshot at hand. Others are new: what it wants of them is not done
   * yet. undefined: all were.
   */
  readonly ours?: ReadonlySet<string>;
}

/**
 * Says once what counts. The side effects of an action count as well. A creation never does, nor does the first change of an
 * object that is new to us, unless that closes it: an application that is taken on is changed as a whole.
 */
export function tollOf(plans: readonly Counted[]): Toll {
  const changed = new Set<string>();
  const healed = new Set<string>();
  const removed = new Set<string>();
  for (const { scope, actions, ours } of plans)
    for (const action of actions) {
      const isCounted = action.verb !== 'create' && !isOfFirstApply(action, ours);
      const into = isCounted ? (isHealing(action) ? healed : changed) : undefined;
      for (const object of [action.object, ...(action.takesAlong ?? [])]) {
        const key = `${scopeKey(scope)} ${object}`;
        into?.add(key);
        if (action.prune) removed.add(key);
      }
    }
  return { changed, healed, removed };
}

function isHealing({ cause }: Action): boolean {
  return cause === 'drift' || cause === 'obligation';
}

function isOfFirstApply(action: Action, ours: ReadonlySet<string> | undefined): boolean {
  const { object, verb, prune, step, cause, changes } = action;
  if (ours === undefined || ours.has(object) || cause === 'adopt') return false;
  if (verb === 'delete' || prune || CLOSING.has(step.type)) return false;
  return changes.every(({ lastApplied }) => lastApplied === undefined);
}

/** Types of steps that take access away. */
const CLOSING: ReadonlySet<string> = new Set(['close_outer', 'close_inner']);

/** The size of a scope, run or revision, and what it has used up already. */
export interface Allowance {
  /** Name for messages: `scope a/b/c/1`, `this run`, `this revision of the source`. */
  readonly of: string;
  /** Objects on record: what a share is a share of. */
  readonly owned: number;
  /** Objects that earlier plans of the same revision changed. */
  readonly spent: { readonly changed: number; readonly removed: number };
}

export const NOTHING_SPENT = { changed: 0, removed: 0 };

/**
 * Whether a scope, a run or a revision may take so much. Healing drift counts for the present plan, and never uses up
 * what a revision may change: over months it would use up any allowance.
 */
export function guardToll(toll: Toll, { of, owned, spent }: Allowance, limits: GuardLimits): readonly Refusal[] {
  const refusals: Refusal[] = [];
  const alone = new Set([...toll.changed, ...toll.healed]).size;
  const together = toll.changed.size === 0 ? 0 : spent.changed + toll.changed.size;
  const touched = Math.max(alone, together);
  const earlier = (count: number, isTold: boolean): string =>
    isTold && count > 0 ? `, ${count} of them by earlier plans` : '';
  // Changed objects may lack a ledger record: ports are managed without adoption.
  const share = Math.min(1, touched / owned);
  if (owned >= limits.shareFrom && share > limits.maxShare) {
    const raised = Math.ceil(share * 100) / 100;
    refusals.push({
      code: 'guard/share',
      message: `${of} would change or remove ${amount(touched, 'object')}${earlier(spent.changed, together >= alone)}, with ${owned} on record (${percent(share)}), more than the limit of ${percent(limits.maxShare)}; nothing was sent`,
      override: limits.isDaemon
        ? `approve this plan, or raise spec.prune.maxShare of Settings to ${raised}`
        : `--max-share ${raised}`,
    });
  }
  const removals = spent.removed + toll.removed.size;
  if (toll.removed.size > 0 && removals > limits.maxPrunes) {
    refusals.push({
      code: 'guard/prunes',
      message: `${of} would remove or close ${amount(removals, 'object')} removed from git${earlier(spent.removed, true)}, more than the limit of ${limits.maxPrunes}; nothing was sent`,
      override: limits.isDaemon
        ? `approve this plan, or raise spec.prune.maxObjects of Settings to ${removals}`
        : `--max-prunes ${removals}`,
    });
  }
  return refusals;
}

/** Resolved values are matched, never what a manifest calls itself. */
export function guardScope(plan: Pick<ScopePlan, 'scope' | 'application'>, limits: GuardLimits): Refusal | undefined {
  const { team, region, appId } = plan.scope;
  const resolved = `${team}/${region}/${appId}`;
  if (limits.allowedScopes.some((pattern) => scopeMatches(pattern, resolved))) return undefined;
  const allowed = limits.hidesAllowed === true ? '' : ` (${limits.allowedScopes.join(', ')})`;
  return {
    code: 'guard/scope',
    message: `${plan.application} refers to ${resolved}, which the operator's Settings do not allow${allowed}; nothing was sent`,
    override: `add "${resolved}" to spec.scopes.allow of Settings in the file given by --config`,
  };
}

/** Code of the refusal by a policy that denies, and of the note about one that warns. */
export const POLICY_REFUSAL = 'guard/policy';
export const POLICY_WARNING = 'policy/warning';
/** Code of the note about a policy that denies and that a user ignores. */
export const POLICY_IGNORED = 'policy/ignored';

/** Policies that deny a manifest or the plan refuse all of the application: nothing is healed either. */
export function guardPolicies(
  application: string,
  denied: readonly PolicyResult[],
  { policiesIgnoredBecause, isDaemon }: GuardLimits,
): readonly Refusal[] {
  if (policiesIgnoredBecause !== undefined) return [];
  const flag = isDaemon ? '' : ', or --ignore-policies --reason "…"';
  return denied.map(({ policy, resource, message, isError }) => ({
    code: POLICY_REFUSAL,
    message: `policy "${policy}" denies ${resource ?? `the plan of ${application}`}: ${message}; nothing was sent`,
    override: isError
      ? `correct policy "${policy}" in spec.policies of Settings${flag}`
      : `correct the ${resource === undefined ? 'manifests' : 'manifest'}${flag}`,
    policy,
    ...(resource === undefined ? {} : { resource }),
  }));
}

/** The one status of a region that takes writes. */
export const REGION_ENABLED = '1';

/** A region's status as the end of "region x is …". */
export function regionState(status: string): string {
  const words: Record<string, string> = {
    [REGION_ENABLED]: 'enabled',
    '0': 'being edited',
    '2': 'disabled',
    '3': 'under maintenance',
  };
  return words[status] ?? `in state "${status}"`;
}

export function guardRegion(plan: Pick<ScopePlan, 'scope'>, status: string | undefined): Refusal | undefined {
  if (status === REGION_ENABLED) return undefined;
  const word = status === undefined ? 'not in the list of regions' : regionState(status);
  return {
    code: 'guard/region',
    message: `region ${plan.scope.region} is ${word}; only an enabled region (status 1) is written to, so nothing was sent`,
    override: 'none: run this again when the region is enabled',
  };
}

/** A source that names nothing although objects of it are on record is a mistake until a person says otherwise. */
export function guardEmpty(source: string, resources: number, owned: number): Refusal | undefined {
  if (resources > 0 || owned === 0) return undefined;
  return {
    code: 'guard/empty-source',
    message: `the source "${source}" names nothing, and the ledger holds ${amount(owned, 'object')} of it; nothing was sent`,
    override: '--allow-empty',
  };
}

/** Below this share of the last accepted source, removals wait for a person: half of the files may be gone by mistake. */
const SHRUNK_SHARE = 0.5;

/** A source that has lost much of what it named never prunes until a person says so. */
export function guardShrunk(source: string, resources: number, before: number, prunes: number): Refusal | undefined {
  if (prunes === 0 || before < SHARE_FROM_OBJECTS || resources >= before * SHRUNK_SHARE) return undefined;
  return {
    code: 'guard/shrunk-source',
    message: `the source "${source}" named ${before} resources since it last removed anything and names ${resources} now; ${amount(prunes, 'removal')} would follow from that, and nothing was sent`,
    override: '--allow-shrunk',
  };
}

/** Relates a commit to the one that was accepted before it from the same source. */
export interface Succession {
  readonly commit: string;
  readonly before: string;
  readonly descent: 'descends' | 'does-not-descend' | 'unknown';
  /** false: the commit before was itself a rewind, and no person has confirmed it. */
  readonly isConfirmed: boolean;
}

/** Returns whether resources that are missing in a commit may be pruned: the commit is newer than everything applied. */
export function mayPrune({ descent, isConfirmed }: Succession): boolean {
  return descent === 'descends' && isConfirmed;
}

/** A commit that was rewound or rewritten lacks what later ones added: it never prunes until a person says so. */
export function guardSuccession(source: string, succession: Succession, prunes: number): Refusal | undefined {
  if (prunes === 0 || mayPrune(succession)) return undefined;
  const commit = succession.commit.slice(0, 12);
  const before = succession.before.slice(0, 12);
  const why = {
    'does-not-descend': `commit ${commit} of the source "${source}" does not descend from ${before}, which was applied before it: the branch was rewound or rewritten`,
    unknown: `it is not known whether commit ${commit} of the source "${source}" descends from ${before}, which was applied before it: the clone is shallow (git fetch --unshallow decides it)`,
    descends: `the branch of the source "${source}" was rewound or rewritten before commit ${before}, which was applied, and this was not confirmed as intended`,
  }[succession.descent];
  return {
    code: 'guard/not-descendant',
    message: `${why}; ${amount(prunes, 'removal')} would follow, and nothing was sent`,
    override: '--allow-rewind',
  };
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

/** Whether an application may be changed. */
export type WindowState =
  | { readonly type: 'open' }
  | {
      readonly type: 'closed';
      /** `denied`: a deny window lasts. `not-allowed`: no allow window lasts, `window` is the one that comes next. */
      readonly why: 'denied' | 'not-allowed';
      readonly window: string;
      /** When it may be changed again; null: not in any time that is worth waiting for. */
      readonly untilMs: EpochMs | null;
    };

/** The operator's windows, as a command has them: the daemon waits in place of refusing. */
export interface Windows {
  at(scope: Scope, labels: Readonly<Record<string, string>>): WindowState;
  /** Reason for which a person ignores the windows; undefined where they apply. */
  readonly ignoredBecause: string | undefined;
}

/** Returns the window that keeps an application from being changed now; undefined: none does, or they are ignored. */
export function closedWindow(
  windows: Windows | undefined,
  scope: Scope,
  labels: Readonly<Record<string, string>>,
): Extract<WindowState, { type: 'closed' }> | undefined {
  const state = windows?.ignoredBecause === undefined ? windows?.at(scope, labels) : undefined;
  return state?.type === 'closed' ? state : undefined;
}

/** Looking is always allowed: only what would be changed is refused. */
export function guardWindow(
  plan: Pick<ScopePlan, 'application' | 'actions' | 'deferred'>,
  state: WindowState,
): Refusal | undefined {
  if (state.type === 'open' || plan.actions.length + plan.deferred.length === 0) return undefined;
  const why = {
    denied: `the window "${state.window}" keeps ${plan.application} from being changed`,
    'not-allowed': `${plan.application} is changed only within its windows, of which "${state.window}" comes next`,
  }[state.why];
  const until = state.untilMs === null ? '' : `, until ${new Date(state.untilMs).toISOString()}`;
  return {
    code: 'guard/window',
    message: `${why}${until}; nothing was sent`,
    override: '--ignore-windows --reason "…"',
  };
}
