import type { Action, Cause, FieldChange, Note, ScopePlan } from '../model/plan.ts';
import { safeLine } from '../model/text.ts';
import { type CommonCause, commonCauses, distinctRefusals, namesOf } from '../plan/causes.ts';
import type { Disagreement, EndedScope, PlanReport, ScopeResult } from '../plan/report.ts';
import { POLICY_IGNORED, POLICY_WARNING } from '../plan/guard.ts';
import type { ReportedError } from '../model/errors.ts';
import type { ActionResult } from '../plan/result.ts';
import { cameUp, isoTime, isOwnChange, isOwnResult, resultWords, shownChanges, untried } from '../plan/words.ts';

/** The severity of an entry. */
export type Level = 'error' | 'warning' | 'notice';

export interface State {
  readonly level: Level;
  readonly word: string;
  /** The mark in `markdown` and `html`. A planned change has the mark of its verb. */
  readonly mark: string;
  readonly tone: 'create' | 'update' | 'delete' | 'hold' | 'note';
  /** `failure`: it requires manual action. `error`: it failed, or nothing is known. `skipped`: it was not started. */
  readonly junit: 'passed' | 'failure' | 'error' | 'skipped';
}

/** The states of an entry with severity and marks. `left`: the run ended before it, or the plan was not approved. */
export const STATES = {
  planned: { level: 'notice', word: '', mark: 'i', tone: 'note', junit: 'passed' },
  done: { level: 'notice', word: 'done', mark: '✓', tone: 'create', junit: 'passed' },
  failed: { level: 'error', word: 'failed', mark: '✗', tone: 'delete', junit: 'error' },
  'in-doubt': { level: 'error', word: 'in doubt', mark: '?', tone: 'hold', junit: 'failure' },
  skipped: { level: 'warning', word: 'skipped', mark: '–', tone: 'update', junit: 'skipped' },
  left: { level: 'warning', word: 'not done', mark: '–', tone: 'update', junit: 'skipped' },
  deferred: { level: 'notice', word: 'pending', mark: '…', tone: 'note', junit: 'skipped' },
  waiting: { level: 'notice', word: 'awaited', mark: '…', tone: 'note', junit: 'passed' },
  held: { level: 'warning', word: 'held', mark: '!', tone: 'hold', junit: 'failure' },
  refused: { level: 'error', word: 'refused', mark: '!', tone: 'delete', junit: 'failure' },
  unobserved: { level: 'error', word: 'not observed', mark: '!', tone: 'delete', junit: 'error' },
  note: { level: 'notice', word: 'note', mark: 'i', tone: 'note', junit: 'passed' },
} as const satisfies Readonly<Record<string, State>>;
export type EntryState = keyof typeof STATES;

/** One entry of a report. Every text is one safe line. */
export interface Entry {
  readonly state: EntryState;
  readonly level: Level;
  /** The stable code that programs and readers group by. */
  readonly code: string;
  /** Undefined: the entry is about the whole run. */
  readonly application: string | undefined;
  /** Undefined: the entry is about the whole application, or the whole run. */
  readonly resource: string | undefined;
  /** The id of the action, which distinguishes two entries of one resource; else empty. */
  readonly key: string;
  readonly title: string;
  /** The event or the reason. */
  readonly detail?: string | undefined;
  /** The next step. */
  readonly remedy?: string | undefined;
  readonly verb?: Action['verb'];
  readonly cause?: Cause;
  readonly changes: readonly FieldChange[];
  readonly effects: readonly string[];
}

/**
 * Returns the entries of a report, application by application, and those about all applications at the end. A cause that
 * several applications have in common is one entry of the first of them.
 * @param isEachItsOwn gives each application its own entry.
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
    ...unobservedCauses(plan.unobserved, applied?.outcomes, isEachItsOwn).map(
      ({ applications: [application, ...others], code, message: detail, remedy }) => {
        const more = others.length === 0 ? '' : `, nor could ${namesOf(others)}`;
        const title = `could not be observed${more}, so nothing was planned for ${more === '' ? 'it' : 'them'}`;
        return entry({ state: 'unobserved', code, application, title, detail, remedy });
      },
    ),
    ...(applied?.refused === undefined ? [] : [disagreementEntry(applied.refused)]),
    ...distinctRefusals(plan.refusals).map(({ code, message, override, resource }) => {
      const remedy = `To allow it: ${override}`;
      return entry({ state: 'refused', code, resource, title: 'refused by a guard', detail: message, remedy });
    }),
    ...plan.notes.map((note) => noteEntry(note, undefined)),
  ];
}

function disagreementEntry({ code, message, remedy }: Disagreement): Entry {
  return entry({ state: 'refused', code, title: 'not the plan that was agreed to', detail: message, remedy });
}

const RANK: Readonly<Record<Level, number>> = { error: 0, warning: 1, notice: 2 };

/** Returns the items by severity, and in their order where that is equal. */
export function worstFirst<Item extends { readonly level: Level }>(items: readonly Item[]): readonly Item[] {
  return items.toSorted((left, right) => RANK[left.level] - RANK[right.level]);
}

function entry(facts: Partial<Entry> & Pick<Entry, 'state' | 'code' | 'title'>): Entry {
  const { title, detail, remedy } = facts;
  return {
    level: STATES[facts.state].level,
    application: undefined,
    resource: undefined,
    key: '',
    changes: [],
    effects: [],
    ...facts,
    title: safeLine(title),
    detail: detail && safeLine(detail),
    remedy: remedy && safeLine(remedy),
  };
}

/** Returns the applications that could not be read. An application that the plan and the run list counts once. */
function unobservedCauses(
  planned: PlanReport['plan']['unobserved'],
  outcomes: readonly ScopeResult[] = [],
  isEachItsOwn: boolean,
): readonly CommonCause[] {
  const faults = new Map<string, ReportedError>(planned.map((error) => [error.application, error]));
  for (const outcome of outcomes) if (outcome.type === 'unobserved') faults.set(outcome.application, outcome.error);
  const errors = Array.from(faults, ([application, error]) => ({ ...error, application }));
  return isEachItsOwn ? errors.map((error) => ({ ...error, applications: [error.application] })) : commonCauses(errors);
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
    ...(needsALook ? { level: 'warning' } : {}),
    code: drifted ? 'plan/drift' : `plan/${action.verb}`,
  });
}

function actionFacts(action: Action, application: string) {
  return {
    application,
    resource: action.resource,
    key: action.id,
    title: action.summary,
    verb: action.verb,
    cause: action.cause,
    changes: shownChanges(action),
    effects: action.effects.map(safeLine),
  };
}

function leftEntry(action: Action, application: string, detail = 'not tried: nothing was sent for it'): Entry {
  return entry({ ...actionFacts(action, application), state: 'left', code: 'apply/left', detail });
}

function endedEntries(ended: EndedScope): Entry[] {
  const { application, results, remaining, waits, error } = ended;
  const news = new Set(cameUp(ended));
  const newsText = 'appeared during the run. It was not in the plan and was not done';
  const entries = [
    ...results.filter(isOwnResult).map((result) => resultEntry(result, application)),
    ...untried(ended).map((action) => leftEntry(action, application, news.has(action) ? newsText : undefined)),
  ];
  if (error !== undefined) {
    const { code, message: detail, remedy } = error;
    entries.push(entry({ state: 'failed', code, application, title: 'was not completed', detail, remedy }));
  }
  for (const { resource, message, untilMs } of waits) {
    const detail = `observed until ${isoTime(untilMs)}`;
    entries.push(entry({ state: 'waiting', code: 'apply/waiting', application, resource, title: message, detail }));
  }
  return [...entries, ...standingEntries(remaining)];
}

function resultEntry(result: ActionResult, application: string): Entry {
  const { what: detail, remedy } = resultWords(result) ?? {};
  const { status: state, action } = result;
  return entry({ ...actionFacts(action, application), state, code: `apply/${state}`, detail, remedy });
}

/** Returns the entries of everything that this run does not do: deferred, held and noted. */
function standingEntries({ application, deferred, holds, notes }: ScopePlan): Entry[] {
  return [
    ...deferred.map(({ resource, summary }) =>
      entry({ state: 'deferred', code: 'plan/deferred', application, resource, title: summary }),
    ),
    ...holds.map(({ code, resource, message, remedy, changes }) =>
      entry({ state: 'held', code, application, resource, title: 'held', detail: message, remedy, changes }),
    ),
    ...notes.map((note) => noteEntry(note, application)),
  ];
}

function noteEntry({ code, resource, message, changes = [] }: Note, application: string | undefined): Entry {
  // Authors should see what a policy warns about, unlike other notes.
  const level = code === POLICY_WARNING || code === POLICY_IGNORED ? 'warning' : STATES.note.level;
  return entry({ state: 'note', level, code, application, resource, title: message, changes });
}
