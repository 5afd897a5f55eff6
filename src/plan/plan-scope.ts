import { kindOf, type ReconciledKind, type ReconciledKinds } from '../kinds/define.ts';
import { inOneGo, type Parts } from '../model/parts.ts';
import {
  type DiffContext,
  type Difference,
  type HoldProposal,
  presentRecordOf,
  ledgerRecordOf,
  type WithdrawBase,
} from '../kinds/reconciled.ts';
import { kindName, type ResourceId, scopeKey } from '../model/ids.ts';
import { objectUid } from '../model/owned.ts';
import type { Action, Cause, Hold, ScopePlan } from '../model/plan.ts';
import type { Resource } from '../model/resource.ts';
import {
  attributed,
  attributedHold,
  type DoubtfulIntent,
  type Draft,
  emptyDraft,
  overallCause,
  type PlanInput,
  type PlannedScope,
} from './draft.ts';
import { doubtHold, holdDoubts, whatIsInDoubt, withoutDoubtful } from './doubts.ts';
import { type OrderedSteps, orderSteps, type PlacedStep, stepId } from './order.ts';

/** Resources that are compared, or actions that are made, in one go. */
const PART = 256;

/** Desired minus observed, in the light of the ledger. Pure: equal input, equal plan. */
export function planScope(input: PlanInput): PlannedScope {
  return inOneGo(planScopeParts(input));
}

/** Does the same as `planScope`, in parts; a small plan has one part. */
export function* planScopeParts(input: PlanInput): Parts<PlannedScope> {
  const draft = emptyDraft();
  const resources = [...input.resources.values()]
    .filter((resource) => input.kinds.has(resource.kind))
    .sort(byKindAndName(input.kinds));
  draftRemovalMarks(input, draft);
  for (const [count, resource] of resources.entries()) {
    draftResource(input, draft, resource);
    if ((count + 1) % PART === 0) yield;
  }
  if (mayRemove(input)) draftWithdrawn(input, draft);
  draftOwed(input, draft);
  if (draft.steps.length >= PART) yield;

  const steps = withoutDoubtful(input, draft);
  const sound = new Set(steps);
  const ordered = orderSteps(
    steps,
    draft.steps.filter((step) => !sound.has(step)),
  );
  if (ordered.steps.length >= PART) yield;
  holdBlocked(draft, ordered);
  holdDoubts(input, draft);
  const actions: Action[] = [];
  for (const { step, after } of ordered.steps) {
    actions.push(toAction(input, step, after, ordered.steps));
    if (actions.length % PART === 0) yield;
  }
  holdUnmetExpectations(draft, ordered);

  const plan: ScopePlan = {
    application: input.application,
    scope: input.scope,
    actions,
    deferred: draft.deferred,
    holds: draft.holds,
    notes: draft.notes,
    inSync: inSync(input, draft, resources, actions),
    unchangedFields: draft.unchangedFields,
  };
  return { plan, ledgerUpdates: { inSync: draft.inSync, forget: draft.forget }, waits: draft.waits };
}

/** Resources that were compared and need nothing. */
function inSync(
  input: PlanInput,
  draft: Draft,
  resources: readonly Resource[],
  actions: readonly Action[],
): readonly ResourceId[] {
  const busy = new Set<ResourceId>(
    [...actions, ...draft.holds, ...draft.deferred, ...draft.waits].map((entry) => entry.resource),
  );
  const reported = new Set(
    draft.notes.flatMap((note) =>
      note.code.startsWith('reconcile/') && note.resource !== undefined ? [note.resource] : [],
    ),
  );
  return resources
    .map((resource) => resource.id)
    .filter((id) => !busy.has(id) && !reported.has(id) && input.live.has(id) && isTarget(input, id));
}

/** Records removal marks first: what is recorded of an object that is compared replaces them. */
function draftRemovalMarks(input: PlanInput, draft: Draft): void {
  for (const object of input.ledgerView.objects) {
    const resource = input.resources.get(object.resource);
    if (resource === undefined || object.source !== input.source || !isTarget(input, resource.id)) continue;
    const recording =
      object.state === 'gone' ? undefined : input.kinds.get(object.kind)?.withRemovalMarks?.(object, resource);
    if (recording !== undefined) draft.inSync.push({ resource: resource.id, kind: object.kind, recording });
  }
}

function draftResource(input: PlanInput, draft: Draft, resource: Resource): void {
  const kind = kindOf(input.kinds, resource.id);
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
    ledgerView: input.ledgerView,
    // A run for some resources only never prunes.
    permissions: { ...input.permissions, prune: input.permissions.prune && mayRemove(input) },
    source: input.source,
    scope: scopeKey(input.scope),
    nowMs: input.nowMs,
  };
  const difference = kind.diff(context);
  if (difference.claims.length === 0) draft.unread.add(resource.id);
  if (mode !== 'report')
    for (const claim of difference.claims) draft.checkedObligations.add(`${resource.kind} ${claim}`);
  if (mode === 'report' && difference.steps.length > 0) {
    const changes = difference.steps.flatMap((step) =>
      step.changes.map((change) => attributed(input, resource.kind, change.object ?? step.object, change)),
    );
    draft.notes.push({
      code: 'reconcile/report-only',
      resource: resource.id,
      message: `${resource.id} differs in ${changes.map((change) => change.path).join(', ')}; it is only reported, by its annotation portolan/reconcile: report`,
      changes,
    });
  }
  const reported = mode === 'report' ? { ...difference, steps: [], expects: [] } : difference;
  // The object may be the result of the write in doubt: it must be neither adopted nor called foreign.
  const doubt = creationInDoubt(input, resource.kind, difference);
  // A request that was sent under another name is still in doubt. A resource with steps of its own is held by them.
  const isAnotherName = doubt !== undefined && doubt.intent.resource !== resource.id && reported.steps.length === 0;
  const taken =
    doubt === undefined
      ? reported
      : { ...reported, holds: isAnotherName ? [doubtHold(doubt)] : [], notes: [], inSync: [] };
  const other = doubt === undefined ? otherCopyHold(input, kind, difference) : undefined;
  take(
    input,
    draft,
    kind,
    resource.id,
    other === undefined ? taken : { ...taken, holds: [other], notes: [], inSync: [] },
  );
}

/** Returns the intent in doubt that creates the only object of a resource. */
function creationInDoubt(input: PlanInput, kind: string, { claims }: Difference): DoubtfulIntent | undefined {
  const [only, second] = claims;
  if (only === undefined || second !== undefined) return undefined;
  const uid = objectUid(input.source, scopeKey(input.scope), kind, only);
  return input.inDoubt.find(({ intent }) => intent.uid === uid && intent.idempotence !== 'target-state');
}

/** Returns a hold where an object without a ledger record may be the result of another resource's intent in doubt. */
function otherCopyHold(
  input: PlanInput,
  kind: ReconciledKind,
  { claims, steps }: Difference,
): HoldProposal | undefined {
  const [claim] = claims;
  // A step of its own is held by itself.
  if (claim === undefined || steps.length > 0 || presentRecordOf(input.ledgerView, kind.kind, claim) !== undefined)
    return undefined;
  const doubt = input.inDoubt.find(
    ({ intent }) => intent.idempotence === 'duplicate-accepting' && intent.resource.startsWith(`${kind.kind}/`),
  );
  return doubt && (kind.copyHold?.(whatIsInDoubt(doubt), doubt.intent.id) ?? doubtHold(doubt));
}

/** Objects of this source that no manifest speaks for any more. */
function draftWithdrawn(input: PlanInput, draft: Draft): void {
  for (const object of input.ledgerView.objects) {
    const kind = input.kinds.get(object.kind);
    if (kind === undefined || object.source !== input.source) continue;
    if (draft.claimed.has(`${object.kind} ${object.naturalKey}`)) continue;
    // Its manifest exists and was not compared, so the object may still be wanted.
    if (draft.unread.has(object.resource) || !isTarget(input, object.resource)) continue;
    if (object.state === 'gone') {
      draft.forget.push(object);
      continue;
    }
    draft.checkedObligations.add(`${object.kind} ${object.naturalKey}`);
    take(input, draft, kind, object.resource, kind.withdraw(object, withdrawContext(input, kind)));
  }
}

/** Adds steps for obligations of objects whose manifests are held, only reported, suspended or not part of this pass. */
function draftOwed(input: PlanInput, draft: Draft): void {
  for (const object of input.ledgerView.objects) {
    const kind = input.kinds.get(object.kind);
    if (kind?.owed === undefined || object.obligation === null || object.source !== input.source) continue;
    if (draft.checkedObligations.has(`${object.kind} ${object.naturalKey}`)) continue;
    const difference = kind.owed(object, withdrawContext(input, kind));
    if (difference !== undefined) take(input, draft, kind, object.resource, difference);
  }
}

function withdrawContext(input: PlanInput, { kind }: ReconciledKind): WithdrawBase {
  const { withdrawal, permissions, ledgerView, resources, source, scope, nowMs } = input;
  const seen = withdrawal.get(kind) as object | undefined;
  return { ...seen, permissions, ledgerView, resources, source, scope: scopeKey(scope), nowMs };
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
  for (const recording of difference.inSync) {
    // While a write to it is in doubt, what is seen may be its result: what it is owed stays on record, and an object without a
    // row gets one when the write is resolved, which says who created it, or which values it had before.
    const row = ledgerRecordOf(input.ledgerView, kind.kind, recording.naturalKey);
    const isKnown = row !== undefined && row.state !== 'gone' && row.obligation === null;
    if (!isKnown && input.inDoubt.length > 0) {
      const uid = objectUid(input.source, scopeKey(input.scope), kind.kind, recording.naturalKey);
      if (input.inDoubt.some(({ intent }) => intent.uid === uid)) continue;
    }
    draft.inSync.push({ resource, kind: kind.kind, recording });
  }
  // A row may be needed to decide about the result of a write of its resource that is in doubt, after the manifest is gone.
  const isInDoubt = input.inDoubt.some(({ intent }) => intent.resource === resource);
  for (const key of isInDoubt ? [] : difference.forget) {
    const object = ledgerRecordOf(input.ledgerView, kind.kind, key);
    if (object !== undefined) draft.forget.push(object);
  }
  draft.unchangedFields += difference.unchangedFields;
}

function holdBlocked(draft: Draft, ordered: OrderedSteps): void {
  for (const { step, by } of ordered.blocked) {
    if ('step' in by) {
      if (draft.holds.some((hold) => hold.resource === step.resource)) continue;
      draft.holds.push(
        blocked(step.resource, `"${step.proposal.summary}" cannot be done before ${by.step}, which is held`),
      );
      continue;
    }
    draft.holds.push({ ...by, resource: step.resource, changes: [] });
  }
}

function blocked(resource: ResourceId, message: string): Hold {
  return { code: 'plan/blocked', resource, message, remedy: 'Release what it waits for first.', changes: [] };
}

function holdUnmetExpectations(draft: Draft, ordered: OrderedSteps): void {
  for (const { resource, condition, otherwise } of draft.expects) {
    if (ordered.steps.some(({ step }) => step.proposal.provides.includes(condition))) continue;
    const held = draft.steps.find((step) => step.proposal.provides.includes(condition));
    // Held itself, it may be what the other one waits for.
    if (held !== undefined && draft.holds.some((hold) => hold.resource === resource)) continue;
    draft.holds.push(
      held === undefined
        ? { ...otherwise, resource, changes: [] }
        : blocked(resource, `${resource} waits for "${held.proposal.summary}" of ${held.resource}, which is held`),
    );
  }
}

function toAction(
  input: PlanInput,
  { id, resource, proposal }: PlacedStep,
  after: readonly string[],
  all: OrderedSteps['steps'],
): Action {
  const kind = kindName(resource);
  const changes = proposal.changes.map((change) => {
    const attributedChange = attributed(input, kind, change.object ?? proposal.object, change);
    return proposal.cause === undefined ? attributedChange : { ...attributedChange, cause: proposal.cause };
  });
  // A step that changes nothing for good (closing outer for a moment) has the cause of what it is done for.
  const forItsObject = (): Cause => {
    const siblings = all
      .filter(({ step }) => step.resource === resource && step.proposal.object === proposal.object)
      .flatMap(({ step }) =>
        step.proposal.changes.map((change) => attributed(input, kind, change.object ?? proposal.object, change)),
      );
    return overallCause(siblings) ?? (input.ledgerView.known ? 'git' : 'unknown');
  };
  const cause = proposal.cause ?? (proposal.prune ? 'prune' : (overallCause(changes) ?? forItsObject()));
  const action: Action = {
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
    ...(proposal.takesAlong === undefined ? {} : { takesAlong: proposal.takesAlong }),
    ...(proposal.obligation === undefined ? {} : { obligation: proposal.obligation }),
    ...(proposal.continues === undefined ? {} : { continues: stepId(resource, proposal.continues) }),
  };
  return input.isUndo === true ? undoing(action) : action;
}

/** Causes that would blame git for a change that an undo asks for. */
const CAUSES_OF_GIT: ReadonlySet<Cause> = new Set(['git', 'first-apply', 'prune']);

function undoing(action: Action): Action {
  const causeOf = (cause: Cause): Cause => (CAUSES_OF_GIT.has(cause) ? 'undo' : cause);
  const changes = action.changes.map((change) => ({ ...change, cause: causeOf(change.cause) }));
  return { ...action, changes, cause: causeOf(action.cause) };
}

/** Returns whether resources may be removed: not by a run for some of them, unless it is an undo. */
function mayRemove({ targets, isUndo }: PlanInput): boolean {
  return targets === undefined || isUndo === true;
}

function isTarget(input: PlanInput, id: ResourceId): boolean {
  return input.targets === undefined || input.targets.has(id);
}

function byKindAndName(kinds: ReconciledKinds): (left: Resource, right: Resource) => number {
  const orderOf = ({ id }: Resource): number => kindOf(kinds, id).order;
  return (left, right) => orderOf(left) - orderOf(right) || (left.id < right.id ? -1 : 1);
}
