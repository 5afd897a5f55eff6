import { scopeKey } from '../model/ids.ts';
import type { Action, ActionVerb, Cause, FieldChange, ScopePlan } from '../model/plan.ts';
import { safeLine } from '../model/text.ts';
import { commonCauses, distinctRefusals, namesOf } from '../plan/causes.ts';
import { isOrphanedPlan } from '../plan/orphans.ts';
import { obstacles } from './headline.ts';
import { hasChanges, type PlanDocument } from '../plan/document.ts';
import { amount, arrowText, CAUSE_WORDS, changeAside, countsText, shownChanges, SYMBOL } from '../plan/words.ts';

/** The role of a piece of text. The terminal chooses its look. */
export type TextRole = ActionVerb | 'hold' | 'note' | 'dim' | 'title';
export type Paint = (role: TextRole, text: string) => string;

export const plainPaint: Paint = (_role, text) => text;

/** Holds the form in which the plans of applications are shown, and a remark about it for readers. */
export interface PlanStyle {
  readonly scope: (scope: ScopePlan, paint: Paint) => string;
  readonly hint?: string;
}

/** Shows every field. */
export const FULL: PlanStyle = { scope: renderScope };

/** Returns a plan for people: changes, causes, further effects, holds and how to release them. */
export function renderPlanText(document: PlanDocument, paint: Paint = plainPaint, style = FULL): string {
  const blocks = document.scopes
    .filter((scope) => scope.actions.length + scope.deferred.length + scope.holds.length + scope.notes.length > 0)
    .map((scope) => [style.scope(scope, paint), ...ownDigest(document, scope, paint)].join('\n'));
  for (const { applications, code, message, remedy } of commonCauses(document.unobserved)) {
    const it = applications.length === 1 ? 'it' : 'them';
    blocks.push(
      [
        `${paint('hold', '!')} ${paint('title', safeLine(namesOf(applications)))} could not be observed, so nothing is planned for ${it} (${code})`,
        `    ${safeLine(message)}`,
        `    → ${safeLine(remedy)}`,
      ].join('\n'),
    );
  }
  for (const refusal of distinctRefusals(document.refusals)) {
    blocks.push(
      [
        `${paint('hold', '!')} refused by a guard (${refusal.code})`,
        `    ${safeLine(refusal.message)}`,
        `    → to allow it: ${safeLine(refusal.override)}`,
      ].join('\n'),
    );
  }
  if (document.notes.length > 0)
    blocks.push(document.notes.map((note) => `${paint('note', 'i')} ${safeLine(note.message)}`).join('\n'));
  if (document.ledger === 'none')
    blocks.push(
      paint('dim', 'No ledger: ownership and causes of changes are unknown, so nothing is held because of them.'),
    );
  const hint = style.hint === undefined ? [] : [paint('dim', style.hint)];
  blocks.push([...hint, renderSummary(document, paint)].join('\n'));
  return `${blocks.join('\n\n')}\n`;
}

/** Returns the heading of the plan of one application. */
export function headingOf(plan: ScopePlan, paint: Paint): string {
  const name = isOrphanedPlan(plan) ? 'orphaned application' : safeLine(plan.application);
  return `${paint('title', name)}  ${paint('dim', safeLine(scopeKey(plan.scope)))}`;
}

function renderScope(scope: ScopePlan, paint: Paint): string {
  const lines = [headingOf(scope, paint)];
  let previous = '';
  for (const action of scope.actions.filter(({ continues }) => continues === undefined)) {
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

/** Returns the digest that approves one application of several: the total digest does not. */
function ownDigest({ scopes }: PlanDocument, scope: PlanDocument['scopes'][number], paint: Paint): readonly string[] {
  if (scopes.length < 2 || scope.actions.length + scope.deferred.length === 0) return [];
  return [`  ${paint('dim', `Digest of ${safeLine(scope.application)}: ${scope.digest}`)}`];
}

function renderAction(action: Action, paint: Paint): string[] {
  const head = `    ${paint(action.verb, SYMBOL[action.verb])} ${safeLine(action.summary)}  ${paint('dim', `(${CAUSE_WORDS[action.cause]})`)}`;
  const changes = shownChanges(action).map((change) => `        ${renderChange(change, paint, action.cause)}`);
  return [head, ...changes, ...action.effects.map((effect) => `        ${paint('dim', `also: ${safeLine(effect)}`)}`)];
}

function renderChange(change: FieldChange, paint: Paint, shownCause?: Cause): string {
  const aside = changeAside(change, shownCause);
  return `${safeLine(change.path)}: ${arrowText(change)}${aside.map((part) => paint('dim', `  ${part}`)).join('')}`;
}

/** Returns the summary, which people and scripts look for: its form is stable. */
function renderSummary(document: PlanDocument, paint: Paint): string {
  const { held, inSync, unchangedFields } = document.summary;
  const rest = `${amount(inSync, 'resource')} in sync, ${amount(unchangedFields, 'unchanged field')} not shown.`;
  const unknown = document.unobserved.length;
  const isChange = hasChanges(document);
  const head = isChange ? `Plan: ${countsText(document.summary)}` : `No changes${unknown > 0 ? ' known' : ''}`;
  const applications = document.scopes.length;
  const total = applications < 2 ? '' : `  (total of ${applications} applications)`;
  const refused = document.refusals.length > 0 ? ['refused by a guard'] : [];
  return [
    `${paint('title', `${[head, ...obstacles(held, refused, unknown)].join(', ')}.`)} ${rest}`,
    ...(document.revision === null ? [] : [paint('dim', `Revision: ${safeLine(document.revision)}`)]),
    ...(isChange ? [paint('dim', `Digest: ${document.digest}${total}`)] : []),
  ].join('\n');
}
