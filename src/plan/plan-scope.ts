import type { ReconciledKind } from '../kinds/define.ts';
import {
  type DiffContext,
  type Difference,
  type HoldProposal,
  type Memory,
  type Permissions,
  type Recording,
  remembered,
  type WithdrawContext,
} from '../kinds/reconciled.ts';
import { reconciledKinds } from '../kinds/registry.ts';
import { type ResourceId, type Scope, scopeKey } from '../model/ids.ts';
import { type Intent, objectUid, type OwnedObject } from '../model/owned.ts';
import type { Action, DeferredAction, Hold, Note, ScopePlan, Wait } from '../model/plan.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import type { EpochMs } from '../model/time.ts';
import { attribute, overallCause } from './attribution.ts';
import { planDigest } from './digest.ts';
import { type OrderedSteps, orderSteps, type PlacedStep, stepId } from './order.ts';

/** How often a write may be accepted without effect, or refused, before a person is asked. */
export const FAILURES_MAX = 3;

export interface PlanInput {
  readonly application: ResourceId;
  readonly scope: Scope;
  readonly source: string;
  /** The resources of this application. */
  readonly resources: DesiredState;
  /** What each kind observed; a resource that is missing here could not be observed and is left alone. */
  readonly live: ReadonlyMap<ResourceId, unknown>;
  readonly withdrawal: Omit<WithdrawContext, 'permissions'>;
  readonly memory: Memory;
  readonly permissions: Permissions;
  /** Only these resources; nothing is withdrawn then. */
  readonly targets: ReadonlySet<ResourceId> | undefined;
  /** Intents whose outcome is not known: nothing else is begun on their objects. */
  readonly inDoubt: readonly DoubtfulIntent[];
  readonly nowMs: EpochMs;
}

export interface DoubtfulIntent {
  readonly intent: Intent;
  /** `settling`: too early to conclude. `due`: not looked at yet. `held`: observation could not decide, a person must. */
  readonly state: 'settling' | 'due' | 'held';
  readonly evidence: string;
  /** Until then nothing at all is sent for its scope: the platform may still be at work on it. */
  readonly scopeUntilMs?: EpochMs;
}

/** What the ledger is to be told without any write to the platform. */
export interface Bookkeeping {
  readonly settled: readonly { readonly resource: ResourceId; readonly kind: string; readonly recording: Recording }[];
  readonly forget: readonly OwnedObject[];
}

export interface PlannedScope {
  readonly plan: ScopePlan;
  readonly bookkeeping: Bookkeeping;
  readonly waits: readonly Wait[];
}

interface Draft {
  readonly steps: PlacedStep[];
  readonly deferred: DeferredAction[];
  readonly holds: Hold[];
  readonly notes: Note[];
  readonly waits: Wait[];
  readonly settled: { resource: ResourceId; kind: string; recording: Recording }[];
  readonly forget: OwnedObject[];
  readonly expects: {
    resource: ResourceId;
    condition: string;
    otherwise: { code: string; message: string; remedy: string };
  }[];
  readonly claimed: Set<string>;
  /** Resources whose objects nobody may call withdrawn: not compared in this pass. */
  readonly unread: Set<ResourceId>;
  unchangedFields: number;
}

/** Desired minus observed, in the light of the ledger. Pure: equal input, equal plan. */
export function planScope(input: PlanInput): PlannedScope {
  const draft: Draft = {
    steps: [],
    deferred: [],
    holds: [],
    notes: [],
    waits: [],
    settled: [],
    forget: [],
    expects: [],
    claimed: new Set(),
    unread: new Set(),
    unchangedFields: 0,
  };
  const resources = [...input.resources.values()]
    .filter((resource) => reconciledKinds.has(resource.kind))
    .sort(byKindAndName);
  for (const resource of resources) draftResource(input, draft, resource);
  if (input.targets === undefined) draftWithdrawn(input, draft);

  const ordered = orderSteps(withoutDoubtful(input, draft));
  holdBlocked(draft, ordered);
  holdDoubts(input, draft);
  const actions = ordered.steps.map(({ step, after }) => toAction(input, step, after, ordered.steps));
  holdUnmetExpectations(draft, ordered);

  const busy = new Set<ResourceId>(
    [...actions, ...draft.holds, ...draft.deferred, ...draft.waits].map((entry) => entry.resource),
  );
  const reported = new Set(
    draft.notes.flatMap((note) =>
      note.code.startsWith('reconcile/') && note.resource !== undefined ? [note.resource] : [],
    ),
  );
  const inSync = resources
    .map((resource) => resource.id)
    .filter((id) => !busy.has(id) && !reported.has(id) && input.live.has(id) && isTarget(input, id));
  const body = {
    application: input.application,
    scope: input.scope,
    actions,
    deferred: draft.deferred,
    holds: draft.holds,
    notes: draft.notes,
    inSync,
    unchangedFields: draft.unchangedFields,
  };
  return {
    plan: { ...body, digest: planDigest([body]) },
    bookkeeping: { settled: draft.settled, forget: draft.forget },
    waits: draft.waits,
  };
}

function draftResource(input: PlanInput, draft: Draft, resource: Resource): void {
  const kind = kindOf(resource.kind);
  const mode = resource.annotations['portolan/reconcile'];
  if (mode === 'suspend') {
    draft.notes.push({
      code: 'reconcile/suspended',
      resource: resource.id,
      message: `${resource.id} is suspended by its annotation portolan/reconcile: nothing is compared or changed`,
    });
  }
  if (mode === 'suspend' || !input.live.has(resource.id) || !isTarget(input, resource.id)) {
    draft.unread.add(resource.id);
    return;
  }
  const context: DiffContext<unknown, unknown> = {
    resource,
    live: input.live.get(resource.id),
    siblings: input.resources,
    memory: input.memory,
    permissions: input.permissions,
    source: input.source,
    scope: scopeKey(input.scope),
    nowMs: input.nowMs,
  };
  const difference = kind.diff(context);
  if (difference.claims.length === 0) draft.unread.add(resource.id);
  const changes = difference.steps.flatMap((step) =>
    step.changes.map((change) => attributed(input, resource.kind, change.object ?? step.object, change)),
  );
  if (mode === 'report' && difference.steps.length > 0) {
    draft.notes.push({
      code: 'reconcile/report-only',
      resource: resource.id,
      message: `${resource.id} differs in ${changes.map((change) => change.path).join(', ')}; it is only reported, by its annotation portolan/reconcile: report`,
      changes,
    });
  }
  const reported = mode === 'report' ? { ...difference, steps: [], expects: [] } : difference;
  // What was found may be what is in doubt: taking it over, or deleting it as somebody else's, would be the wrong advice.
  const isDoubted = isCreationInDoubt(input, resource.kind, difference);
  take(input, draft, kind, resource.id, isDoubted ? { ...reported, holds: [], notes: [], settled: [] } : reported);
}

/** Whether the one object that a resource speaks for was sent and nobody knows yet what came of it. */
function isCreationInDoubt(input: PlanInput, kind: string, { claims }: Difference): boolean {
  const [only, second] = claims;
  if (only === undefined || second !== undefined) return false;
  const uid = objectUid(input.source, scopeKey(input.scope), kind, only);
  return input.inDoubt.some(({ intent }) => intent.uid === uid && intent.idempotence !== 'target-state');
}

/** Objects of this source that no manifest speaks for any more. */
function draftWithdrawn(input: PlanInput, draft: Draft): void {
  for (const object of input.memory.objects) {
    const kind = reconciledKinds.get(object.kind);
    if (kind === undefined || object.source !== input.source) continue;
    if (draft.claimed.has(`${object.kind} ${object.naturalKey}`)) continue;
    // Its manifest is there but was not compared: that is no proof that it is not wanted.
    if (draft.unread.has(object.resource)) continue;
    if (object.state === 'gone') {
      draft.forget.push(object);
      continue;
    }
    take(
      input,
      draft,
      kind,
      object.resource,
      kind.withdraw(object, { ...input.withdrawal, permissions: input.permissions }),
    );
  }
}

function take(
  input: PlanInput,
  draft: Draft,
  kind: ReconciledKind,
  resource: ResourceId,
  difference: Difference,
): void {
  for (const claim of difference.claims) draft.claimed.add(`${kind.kind} ${claim}`);
  for (const proposal of difference.steps)
    draft.steps.push({ id: stepId(resource, proposal.key), resource, kindOrder: kind.order, proposal });
  for (const hold of difference.holds) draft.holds.push(attributedHold(input, kind.kind, resource, hold));
  for (const note of difference.notes) draft.notes.push({ resource, ...note });
  for (const deferred of difference.deferred) draft.deferred.push({ resource, ...deferred });
  for (const wait of difference.waits) draft.waits.push({ resource, ...wait });
  for (const expected of difference.expects) draft.expects.push({ resource, ...expected });
  for (const recording of difference.settled) draft.settled.push({ resource, kind: kind.kind, recording });
  for (const key of difference.forget) {
    const object = remembered(input.memory, kind.kind, key);
    if (object !== undefined) draft.forget.push(object);
  }
  draft.unchangedFields += difference.unchangedFields;
}

/** Leaves out steps on objects with an intent in doubt, and on objects that failed too often; each is held and says so. */
function withoutDoubtful(input: PlanInput, draft: Draft): PlacedStep[] {
  const waiting = input.inDoubt.find((doubt) => doubt.scopeUntilMs !== undefined);
  const said = new Set<string>();
  return draft.steps.filter((step) => {
    const kind = step.resource.slice(0, step.resource.indexOf('/'));
    const uid = objectUid(input.source, scopeKey(input.scope), kind, step.proposal.object);
    const doubt = input.inDoubt.find(
      ({ intent }) => intent.uid === uid || (intent.idempotence === 'duplicate-accepting' && isInstall(step)),
    );
    // One write at a time for an application: another one might overtake what is still on its way.
    const held = doubt === undefined ? scopeHold(waiting) : doubtHold(doubt);
    const hold =
      held === undefined
        ? tooOften(input, kind, step)
        : { ...held, changes: step.proposal.changes, object: step.proposal.object };
    if (hold === undefined) return true;
    const key = `${step.resource} ${hold.code}`;
    if (!said.has(key)) draft.holds.push(attributedHold(input, kind, step.resource, hold));
    said.add(key);
    return false;
  });
}

function isInstall(step: PlacedStep): boolean {
  return step.proposal.step.type === 'install' || step.proposal.step.type === 'upgrade';
}

/** What is held only because something else of its application is in doubt. */
function scopeHold(doubt: DoubtfulIntent | undefined): HoldProposal | undefined {
  if (doubt?.scopeUntilMs === undefined) return undefined;
  const until = new Date(doubt.scopeUntilMs).toISOString();
  return {
    code: 'intent/scope-waits',
    message: `${whatIsInDoubt(doubt)} and may still be at work, so nothing else is sent for this application before ${until}`,
    remedy: `Run the same command again after ${until}, or with --wait.`,
    changes: [],
    untilMs: doubt.scopeUntilMs,
  };
}

function whatIsInDoubt({ intent }: DoubtfulIntent): string {
  return `${intent.operation} for ${intent.resource} (intent ${intent.id}) was sent and its outcome is not known`;
}

function doubtHold(doubt: DoubtfulIntent): HoldProposal {
  const { intent, state, evidence } = doubt;
  const what = whatIsInDoubt(doubt);
  if (state === 'settling') {
    const until = new Date(intent.settleMs).toISOString();
    return {
      code: 'intent/settling',
      message: `${what}; it may still arrive, so nothing is concluded or sent before ${until}`,
      remedy: `Run the same command again after ${until}, or with --wait.`,
      changes: [],
      untilMs: intent.settleMs,
    };
  }
  if (state === 'due') {
    return {
      code: 'intent/due',
      message: `${what}; enough time has passed to look, which the next apply does`,
      remedy: 'Run apply: it looks at the platform first, and asks a person only if that cannot decide it.',
      changes: [],
    };
  }
  return {
    code: 'intent/in-doubt',
    message: `${what}, and observation cannot decide it: ${evidence}`,
    remedy: `Look at the platform, then say what happened: portolan ledger resolve ${intent.id} --applied|--not-applied --reason "…"`,
    changes: [],
  };
}

/** An intent in doubt is named even where nothing is left to do: what was seen may be older than what arrives. */
function holdDoubts(input: PlanInput, draft: Draft): void {
  for (const doubt of input.inDoubt) {
    const hold = { ...doubtHold(doubt), resource: doubt.intent.resource };
    if (!draft.holds.some((other) => other.resource === hold.resource && other.message === hold.message))
      draft.holds.push({ ...hold, changes: [] });
  }
}

function tooOften(input: PlanInput, kind: string, step: PlacedStep): HoldProposal | undefined {
  const object = remembered(input.memory, kind, step.proposal.object);
  if (object === undefined || object.failures < FAILURES_MAX) return undefined;
  const changes = step.proposal.changes.map((change) =>
    attributed(input, kind, change.object ?? step.proposal.object, change),
  );
  // A change in git is a new wish: it is tried afresh.
  if (changes.some((change) => change.cause === 'git' || change.cause === 'git+drift')) return undefined;
  const shown = changes
    .map(
      (change) =>
        `${change.path} is ${JSON.stringify(change.before ?? null)}, wanted ${JSON.stringify(change.after ?? null)}`,
    )
    .join('; ');
  return {
    code: 'effect/not-taken',
    message: `"${step.proposal.summary}" was tried ${object.failures} times and did not take: ${shown || 'the platform stayed as it was'}`,
    remedy: `See in the console why. Change the manifest, or run \`portolan ledger retry ${object.uid}\` to try again.`,
    changes: step.proposal.changes,
    object: step.proposal.object,
  };
}

function holdBlocked(draft: Draft, ordered: OrderedSteps): void {
  for (const { step, by } of ordered.blocked) {
    if ('step' in by) {
      if (draft.holds.some((hold) => hold.resource === step.resource)) continue;
      draft.holds.push({
        code: 'plan/blocked',
        resource: step.resource,
        message: `"${step.proposal.summary}" cannot be done before ${by.step}, which is held`,
        remedy: 'Release what it waits for; it follows by itself.',
        changes: [],
      });
      continue;
    }
    draft.holds.push({ ...by, resource: step.resource, changes: [] });
  }
}

function holdUnmetExpectations(draft: Draft, ordered: OrderedSteps): void {
  for (const { resource, condition, otherwise } of draft.expects) {
    const provided = ordered.steps.some(({ step }) => step.proposal.provides.includes(condition));
    if (!provided) draft.holds.push({ ...otherwise, resource, changes: [] });
  }
}

function toAction(
  input: PlanInput,
  { id, resource, proposal }: PlacedStep,
  after: readonly string[],
  all: OrderedSteps['steps'],
): Action {
  const kind = resource.slice(0, resource.indexOf('/'));
  const siblings = all
    .filter(({ step }) => step.resource === resource && step.proposal.object === proposal.object)
    .flatMap(({ step }) =>
      step.proposal.changes.map((change) => attributed(input, kind, change.object ?? proposal.object, change)),
    );
  const changes = proposal.changes.map((change) => {
    const attributedChange = attributed(input, kind, change.object ?? proposal.object, change);
    return proposal.cause === undefined ? attributedChange : { ...attributedChange, cause: proposal.cause };
  });
  // A step that changes nothing for good (closing outer for a moment) has the cause of what it is done for.
  const fallback = overallCause(siblings, input.memory.known ? 'git' : 'unknown');
  const cause = proposal.cause ?? (proposal.prune ? 'prune' : overallCause(changes, fallback));
  return {
    id,
    resource,
    verb: proposal.verb,
    step: proposal.step,
    object: proposal.object,
    summary: proposal.summary,
    changes: proposal.prune ? changes.map((change) => ({ ...change, cause: 'prune' as const })) : changes,
    effects: proposal.effects,
    cause,
    after,
    prune: proposal.prune,
    ...(proposal.obligation === undefined ? {} : { obligation: proposal.obligation }),
  };
}

function attributed(input: PlanInput, kind: string, naturalKey: string, change: Parameters<typeof attribute>[0]) {
  return attribute(change, remembered(input.memory, kind, naturalKey), input.memory.known);
}

function attributedHold(
  input: PlanInput,
  kind: string,
  resource: ResourceId,
  { object, changes, ...hold }: HoldProposal,
): Hold {
  return {
    ...hold,
    resource,
    changes: changes.map((change) => attributed(input, kind, change.object ?? object ?? '', change)),
  };
}

function isTarget(input: PlanInput, id: ResourceId): boolean {
  return input.targets === undefined || input.targets.has(id);
}

function kindOf(name: string): ReconciledKind {
  const kind = reconciledKinds.get(name);
  if (kind === undefined) throw new Error(`kind ${name} is not reconciled`);
  return kind;
}

function byKindAndName(left: Resource, right: Resource): number {
  return kindOf(left.kind).order - kindOf(right.kind).order || (left.id < right.id ? -1 : 1);
}
