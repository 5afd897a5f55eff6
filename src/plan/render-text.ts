import { scopeKey } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import type { Action, ActionVerb, Cause, FieldChange, ScopePlan } from '../model/plan.ts';
import { safeLine } from '../model/text.ts';
import { hasChanges, type PlanDocument } from './document.ts';

/** What a piece of text is; the terminal decides how that looks. */
export type TextRole = ActionVerb | 'hold' | 'note' | 'dim' | 'title';
export type Paint = (role: TextRole, text: string) => string;

export const plainPaint: Paint = (_role, text) => text;

const SYMBOL: Readonly<Record<ActionVerb, string>> = { create: '+', update: '~', delete: '-' };

const CAUSE_WORDS: Readonly<Record<Cause, string>> = {
  git: 'changed in git',
  drift: 'drift: changed on the platform',
  'git+drift': 'changed in git, and drifted on the platform',
  adopt: 'adopted',
  'first-apply': 'first apply',
  prune: 'no longer in git',
  obligation: 'owed by an earlier run',
  unknown: 'no ledger: cause unknown',
};

/** A plan for a person: what changes, why, what else it does, what is held and how to release it. */
export function renderPlanText(document: PlanDocument, paint: Paint = plainPaint): string {
  const blocks = document.scopes.filter(isWorthShowing).map((scope) => renderScope(scope, paint));
  for (const { application, code, message, remedy } of document.unobserved) {
    blocks.push(
      [
        `${paint('hold', '!')} ${paint('title', safeLine(application))} could not be observed, so nothing is planned for it (${code})`,
        `    ${safeLine(message)}`,
        `    → ${safeLine(remedy)}`,
      ].join('\n'),
    );
  }
  for (const refusal of document.refusals) {
    blocks.push(
      [
        `${paint('hold', '!')} refused by a guard (${refusal.code})`,
        `    ${safeLine(refusal.message)}`,
        `    → to let it through: ${safeLine(refusal.override)}`,
      ].join('\n'),
    );
  }
  if (document.notes.length > 0)
    blocks.push(document.notes.map((note) => `${paint('note', 'i')} ${safeLine(note.message)}`).join('\n'));
  if (document.ledger === 'none')
    blocks.push(
      paint('dim', 'No ledger: what is ours, and why a field changes, is not known. Nothing is held for it.'),
    );
  blocks.push(renderSummary(document, paint));
  return `${blocks.join('\n\n')}\n`;
}

function isWorthShowing(scope: ScopePlan): boolean {
  return scope.actions.length + scope.deferred.length + scope.holds.length + scope.notes.length > 0;
}

function renderScope(scope: ScopePlan, paint: Paint): string {
  const lines = [`${paint('title', safeLine(scope.application))}  ${paint('dim', safeLine(scopeKey(scope.scope)))}`];
  let previous = '';
  for (const action of scope.actions) {
    if (action.resource !== previous) lines.push(`  ${paint('title', safeLine(action.resource))}`);
    previous = action.resource;
    lines.push(...renderAction(action, paint));
  }
  for (const { resource, summary } of scope.deferred)
    lines.push(`  ${paint('title', safeLine(resource))}`, `    ${paint('update', '…')} ${safeLine(summary)}`);
  for (const hold of scope.holds) {
    lines.push(
      `  ${paint('title', safeLine(hold.resource))}`,
      `    ${paint('hold', '! held')} ${safeLine(hold.message)} ${paint('dim', `(${hold.code})`)}`,
    );
    lines.push(
      ...hold.changes.map((change) => `        ${renderChange(change, paint)}`),
      `        → ${safeLine(hold.remedy)}`,
    );
  }
  for (const note of scope.notes) {
    lines.push(
      `  ${paint('note', 'i')} ${safeLine(note.message)}`,
      ...(note.changes ?? []).map((change) => `        ${renderChange(change, paint)}`),
    );
  }
  return lines.join('\n');
}

function renderAction(action: Action, paint: Paint): string[] {
  const head = `    ${paint(action.verb, SYMBOL[action.verb])} ${safeLine(action.summary)}  ${paint('dim', `(${CAUSE_WORDS[action.cause]})`)}`;
  const changes = action.changes
    .filter((change) => !isNothingRemoved(change))
    .map((change) => `        ${renderChange(change, paint, action.cause)}`);
  return [head, ...changes, ...action.effects.map((effect) => `        ${paint('dim', `also: ${safeLine(effect)}`)}`)];
}

/** What was never set goes without saying. */
function isNothingRemoved({ before, after }: FieldChange): boolean {
  return after === undefined && (before === '' || before === 0 || before === false || before === null);
}

function renderChange(change: FieldChange, paint: Paint, shownCause?: Cause): string {
  const { path, before, after, lastApplied, cause } = change;
  const arrow =
    before === undefined
      ? value(after)
      : after === undefined
        ? `${value(before)} → (removed)`
        : `${value(before)} → ${value(after)}`;
  const drifted =
    (cause === 'drift' || cause === 'git+drift') && lastApplied !== undefined
      ? paint('dim', `  last applied: ${value(lastApplied)}`)
      : '';
  const why = shownCause !== undefined && cause !== shownCause ? paint('dim', `  (${CAUSE_WORDS[cause]})`) : '';
  return `${safeLine(path)}: ${arrow}${drifted}${why}`;
}

function value(json: Json | undefined): string {
  return json === undefined ? '(unset)' : safeLine(JSON.stringify(json));
}

/** The one line that people look for, and scripts too: its words stay. */
function renderSummary(document: PlanDocument, paint: Paint): string {
  const { create, update, delete: removals, deferred, held, inSync, unchangedFields } = document.summary;
  const rest = `${inSync} ${inSync === 1 ? 'resource' : 'resources'} in sync, ${unchangedFields} unchanged ${unchangedFields === 1 ? 'field' : 'fields'} not shown.`;
  const unknown = document.unobserved.length;
  const but = [
    ...(held > 0 ? [`${held} held`] : []),
    ...(document.refusals.length > 0 ? ['refused by a guard'] : []),
    ...(unknown > 0 ? [`${unknown} ${unknown === 1 ? 'application' : 'applications'} not observed`] : []),
  ].map((part) => `, ${part}`);
  const revision = document.revision === null ? [] : [paint('dim', `Revision: ${safeLine(document.revision)}`)];
  if (!hasChanges(document)) {
    return [`${paint('title', `No changes${unknown > 0 ? ' known' : ''}${but.join('')}.`)} ${rest}`, ...revision].join(
      '\n',
    );
  }
  const counts = `Plan: ${create} to create, ${update} to change, ${removals} to delete${deferred > 0 ? `, ${deferred} to follow` : ''}${but.join('')}.`;
  return [`${paint('title', counts)} ${rest}`, ...revision, paint('dim', `Digest: ${document.digest}`)].join('\n');
}
