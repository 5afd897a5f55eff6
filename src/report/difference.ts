import type { Json } from '../model/json.ts';
import { canonicalJson, sameJson } from '../model/json.ts';
import type { Action, FieldChange, Hold } from '../model/plan.ts';
import { safeLine } from '../model/text.ts';
import type { PlanDifference, PlannedEntry } from '../plan/difference.ts';
import { type Paint, plainPaint } from './text.ts';

/**
 * Returns the differences between two plans, application by application.
 * @param holds the holds of the current plan, which are often the reason why an action is not in it any more.
 */
export function renderDifference(
  difference: PlanDifference,
  holds: readonly Hold[],
  paint: Paint = plainPaint,
): string {
  const { vanished, appeared, changed, reordered } = difference;
  if (reordered) return 'The current plan has the same actions in another order.\n';
  const blocks: readonly (readonly [PlannedEntry, readonly string[]])[] = [
    ...vanished.map(
      (entry) => [entry, [head('delete', '-', entry, 'planned, and not in the current plan', paint)]] as const,
    ),
    ...changed.map(({ before, after }) => [before, changedLines(before, after, paint)] as const),
    ...appeared.map(
      (entry) => [entry, [head('create', '+', entry, 'not planned, and in the current plan', paint)]] as const,
    ),
  ];
  const groups = Map.groupBy(blocks, ([{ application, scope }]) => `${application}  ${scope}`);
  const texts = [...groups]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([where, entries]) => [paint('title', safeLine(where)), ...entries.flatMap(([, lines]) => lines)]);
  if (holds.length > 0) texts.push(holds.flatMap((hold) => heldLines(hold, paint)));
  return texts.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

function heldLines({ resource, message, code, remedy }: Hold, paint: Paint): readonly string[] {
  return [
    `${paint('hold', '! held')} ${safeLine(`${resource}: ${message}`)} ${paint('dim', `(${code})`)}`,
    `    → ${safeLine(remedy)}`,
  ];
}

function head(
  role: 'create' | 'update' | 'delete',
  mark: string,
  { does }: PlannedEntry,
  why: string,
  paint: Paint,
): string {
  return `  ${paint(role, mark)} ${safeLine(`${does.resource}: ${does.summary}`)}  ${paint('dim', `(${why})`)}`;
}

function changedLines(before: PlannedEntry, after: PlannedEntry, paint: Paint): readonly string[] {
  const then = facetsOf(before.does);
  const now = facetsOf(after.does);
  const all = [...new Set([...then.keys(), ...now.keys()])].filter((name) => then.get(name) !== now.get(name));
  const telling = all.filter((name) => !FOLLOWS.has(name));
  const names = telling.length > 0 ? telling : all;
  return [
    head('update', '~', after, 'not as planned', paint),
    ...names.flatMap((name) => [
      `      planned  ${safeLine(`${name}: ${then.get(name) ?? '(not)'}`)}`,
      `      now      ${safeLine(`${name}: ${now.get(name) ?? '(not)'}`)}`,
    ]),
  ];
}

/** Facets that differ because other facets do. They are shown only where no other facet differs. */
const FOLLOWS: ReadonlySet<string> = new Set(['summary', 'request', 'after']);

/** Returns the compared facets by the name that a person knows. Fields come first, ids last. */
function facetsOf(does: PlannedEntry['does']): ReadonlyMap<string, string> {
  if (!('step' in does))
    return new Map([
      ['desired', canonicalJson(does.desired)],
      ['after', does.waitsFor],
    ]);
  const action: Action = does;
  return new Map([
    ...action.changes.map((change) => [change.path, valuesOf(change)] as const),
    ['summary', action.summary],
    ['effects', action.effects.join('; ')],
    ['object', action.object],
    ['also removes', (action.takesAlong ?? []).toSorted().join(', ')],
    ['request', canonicalJson(action.step)],
    ['after', action.after.join(', ')],
  ]);
}

function valuesOf({ before, after }: FieldChange): string {
  const word = (value: Json | undefined, none: string): string => (value === undefined ? none : JSON.stringify(value));
  return before === undefined || sameJson(before, after)
    ? word(after, '(unset)')
    : `${word(before, '(unset)')} → ${word(after, '(removed)')}`;
}
