import type { Action, Cause, FieldChange, Note, ScopePlan } from '../model/plan.ts';
import { safeLine } from '../model/text.ts';
import { type CommonCause, commonCauses, distinctRefusals, namesOf } from '../plan/causes.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Disagreement, EndedScope, ReportedError, PlanReport, ScopeResult } from '../plan/report.ts';
import type { ActionResult } from '../plan/result.ts';
import { cameUp, isoTime, isOwnChange, isOwnResult, resultWords, shownChanges, untried } from '../plan/words.ts';

/** How much of a person's attention it needs. */
export type Level = 'error' | 'warning' | 'notice';

/** What an entry is, and with that how a format marks it. */
export type EntryState =
  | 'planned'
  | 'done'
  | 'failed'
  | 'in-doubt'
  | 'skipped'
  /** Not tried: the run ended before it, or nobody had agreed to it. */
  | 'left'
  | 'deferred'
  | 'held'
  | 'refused'
  | 'unobserved'
  | 'waiting'
  | 'note';

/** One thing that a report says, in the order in which it is read; every text is one safe line. */
export interface Entry {
  readonly state: EntryState;
  readonly level: Level;
  /** Stable: what programs and readers group by. */
  readonly code: string;
  /** Undefined: of the run as a whole. */
  readonly application: string | undefined;
  /** Undefined: of the application, or the run, as a whole. */
  readonly resource: string | undefined;
  /** Of the action, which tells two entries of one resource apart; else empty. */
  readonly key: string;
  readonly title: string;
  /** What happened, or why. */
  readonly detail?: string;
  /** What to do next. */
  readonly remedy?: string;
  readonly verb?: Action['verb'];
  readonly cause?: Cause;
  readonly changes: readonly FieldChange[];
  readonly effects: readonly string[];
}

/**
 * Everything that a report says, application by application, and what concerns all of them at the end. One cause that stops
 * several applications is one entry, of the first of them, unless each application needs an entry of its own.
 */
export function entriesOf(
  { plan, applied }: PlanReport,
  { isEachItsOwn = false }: { readonly isEachItsOwn?: boolean } = {},
): readonly Entry[] {
  const outcomes = new Map(applied?.outcomes.map((outcome) => [outcome.application, outcome]));
  const scopes = plan.scopes.flatMap((scope) => {
    const outcome = outcomes.get(scope.application);
    if (outcome?.type === 'ended') return endedEntries(outcome);
    return plannedEntries(scope, applied !== undefined);
  });
  return [
    ...scopes,
    ...unobservedCauses(unobservedFaults(plan.unobserved, applied?.outcomes), isEachItsOwn).map(
      ({ applications: [application, ...others], code, message, remedy }) =>
        entry({
          state: 'unobserved',
          level: 'error',
          code,
          application,
          title:
            others.length === 0
              ? 'could not be observed, so nothing was planned for it'
              : `could not be observed, nor could ${safeLine(namesOf(others))}, so nothing was planned for them`,
          detail: safeLine(message),
          remedy: safeLine(remedy),
        }),
    ),
    ...(applied?.refused === undefined ? [] : [disagreementEntry(applied.refused)]),
    ...distinctRefusals(plan.refusals).map((refusal) =>
      entry({
        state: 'refused',
        level: 'error',
        code: refusal.code,
        title: 'refused by a guard',
        detail: safeLine(refusal.message),
        remedy: `To let it through: ${safeLine(refusal.override)}`,
      }),
    ),
    ...plan.notes.map((note) => noteEntry(note, undefined)),
  ];
}

function disagreementEntry({ code, message, remedy }: Disagreement): Entry {
  return entry({
    state: 'refused',
    level: 'error',
    code,
    title: 'not the plan that was agreed to',
    detail: safeLine(message),
    remedy: safeLine(remedy),
  });
}

const RANK: Readonly<Record<Level, number>> = { error: 0, warning: 1, notice: 2 };

/** What needs a person first, then the rest in the order it is read. */
export function worstFirst<Item extends { readonly level: Level }>(items: readonly Item[]): readonly Item[] {
  return items.toSorted((left, right) => RANK[left.level] - RANK[right.level]);
}

function entry(facts: Partial<Entry> & Pick<Entry, 'state' | 'level' | 'code' | 'title'>): Entry {
  return { application: undefined, resource: undefined, key: '', changes: [], effects: [], ...facts };
}

/** An application that the plan knew and the run then could not read counts once. */
function unobservedFaults(
  planned: readonly (ReportedError & { readonly application: string })[],
  outcomes: readonly ScopeResult[] = [],
): readonly (readonly [string, ReportedError])[] {
  const faults = new Map<string, ReportedError>(planned.map((error) => [error.application, error]));
  for (const outcome of outcomes) if (outcome.type === 'unobserved') faults.set(outcome.application, outcome.error);
  return [...faults];
}

function unobservedCauses(
  faults: readonly (readonly [string, ReportedError])[],
  isEachItsOwn: boolean,
): readonly CommonCause[] {
  const errors = faults.map(([application, { code, message, remedy }]) => ({ application, code, message, remedy }));
  if (!isEachItsOwn) return commonCauses(errors);
  return errors.map(({ application, ...error }) => ({ applications: [application], ...error }));
}

function plannedEntries(scope: ScopePlan, wasCarriedOut: boolean): Entry[] {
  return [
    ...scope.actions
      .filter(isOwnChange)
      .map((action) => (wasCarriedOut ? leftEntry(action, scope.application) : plannedEntry(action, scope))),
    ...standingEntries(scope),
  ];
}

function plannedEntry(action: Action, { application }: ScopePlan): Entry {
  const drifted = action.cause === 'drift' || action.cause === 'git+drift';
  const needsALook = drifted || action.verb === 'delete' || action.prune;
  return entry({
    ...actionFacts(action, application),
    state: 'planned',
    level: needsALook ? 'warning' : 'notice',
    code: drifted ? 'plan/drift' : `plan/${action.verb}`,
  });
}

function actionFacts(action: Action, application: string) {
  return {
    application,
    resource: action.resource,
    key: action.id,
    title: safeLine(action.summary),
    verb: action.verb,
    cause: action.cause,
    changes: shownChanges(action),
    effects: action.effects.map(safeLine),
  };
}

function leftEntry(action: Action, application: string, detail?: string): Entry {
  return entry({
    ...actionFacts(action, application),
    state: 'left',
    level: 'warning',
    code: 'apply/left',
    detail: detail ?? 'not tried: nothing was sent for it',
  });
}

function endedEntries(ended: EndedScope): Entry[] {
  const { application, results, remaining, waits, error } = ended;
  const news = new Set(cameUp(ended));
  return [
    ...results.filter(isOwnResult).map((result) => resultEntry(result, application)),
    ...untried(ended).map((action) =>
      leftEntry(
        action,
        application,
        news.has(action) ? 'came up while this ran; it was not in the plan, so it was not done' : undefined,
      ),
    ),
    ...(error === undefined
      ? []
      : [
          entry({
            state: 'failed',
            level: 'error',
            code: error.code,
            application,
            title: 'was left in the middle',
            detail: safeLine(error.message),
            remedy: safeLine(error.remedy),
          }),
        ]),
    ...waits.map((wait) =>
      entry({
        state: 'waiting',
        level: 'notice',
        code: 'apply/waiting',
        application,
        resource: wait.resource,
        title: safeLine(wait.message),
        detail: `looked at until ${isoTime(wait.untilMs)}`,
      }),
    ),
    ...standingEntries(remaining),
  ];
}

function resultEntry(result: ActionResult, application: string): Entry {
  const words = resultWords(result);
  return entry({
    ...actionFacts(result.action, application),
    state: result.status,
    level: levelOf(result.status),
    code: `apply/${result.status}`,
    ...(words === undefined ? {} : { detail: words.what }),
    ...(words?.remedy === undefined ? {} : { remedy: words.remedy }),
  });
}

function levelOf(status: ActionResult['status']): Level {
  switch (status) {
    case 'done':
      return 'notice';
    case 'skipped':
      return 'warning';
    case 'failed':
    case 'in-doubt':
      return 'error';
    default:
      return unreachable(status);
  }
}

/** What is neither done nor to be done now. */
function standingEntries({ application, deferred, holds, notes }: ScopePlan): Entry[] {
  return [
    ...deferred.map((later) =>
      entry({
        state: 'deferred',
        level: 'notice',
        code: 'plan/deferred',
        application,
        resource: later.resource,
        title: safeLine(later.summary),
      }),
    ),
    ...holds.map((hold) =>
      entry({
        state: 'held',
        level: 'warning',
        code: hold.code,
        application,
        resource: hold.resource,
        title: 'held',
        detail: safeLine(hold.message),
        remedy: safeLine(hold.remedy),
        changes: hold.changes,
      }),
    ),
    ...notes.map((note) => noteEntry(note, application)),
  ];
}

function noteEntry(note: Note, application: string | undefined): Entry {
  return entry({
    state: 'note',
    level: 'notice',
    code: note.code,
    application,
    resource: note.resource,
    title: safeLine(note.message),
    changes: note.changes ?? [],
  });
}
