import type { ScopePlan } from '../model/plan.ts';
import { safeLine } from '../model/text.ts';
import { hasChanges, type PlanDocument } from '../plan/document.ts';
import { isApprovable } from '../plan/guard.ts';
import type { PlanReport } from '../plan/report.ts';
import { entriesOf, type Entry, type EntryState, STATES } from './entries.ts';
import { type Block, fit, sizeOf } from './markdown-size.ts';
import { cell, code, fenced, html, prose } from './markdown-text.ts';
import { headline } from './headline.ts';
import {
  amount,
  CAUSE_WORDS,
  cut,
  driftedFrom,
  isOwnChange,
  ownCause,
  resultCounts,
  SYMBOL,
  valueText,
} from '../plan/words.ts';

/** The maximum length of a comment on GitHub. */
const COMMENT_MAX = 65_536;
/** The bytes for the line about omitted items. */
const RESERVE = 1_000;
const LINE_CHARACTERS_MAX = 500;
const SENTENCE_CHARACTERS_MAX = 1_000;

/**
 * Returns a report for a comment on a pull request: errors and holds, an overview, and every change, folded. It is never
 * longer than a comment on GitHub may be.
 */
export function renderMarkdown(report: PlanReport): string {
  const { plan } = report;
  const entries = entriesOf(report);
  const byApplication = Map.groupBy(entries, (entry) => entry.application);
  const head = [marker(report), `### ${prose(headline(report))}`, facts(report)].join('\n\n');
  const blocks = [
    alert('CAUTION', entries, ({ level }) => level === 'error'),
    alert('WARNING', entries, ({ state }) => state === 'held'),
    overview(plan),
    ...plan.scopes.map((scope) => application(scope, report, byApplication.get(scope.application) ?? [])),
    aside(entries.filter((entry) => entry.application === undefined && entry.state === 'note')),
  ].filter((block) => block.items.length > 0);
  const fitted = fit(blocks, COMMENT_MAX - RESERVE - sizeOf(head));
  const lost = fitted.leftOut.reduce((sum, number) => sum + number, 0);
  const closing = [...(lost === 0 ? [] : [leftOut(lost)]), ...howToApply(report)];
  return `${[head, ...fitted.parts, ...closing].join('\n\n')}\n`;
}

/** Returns an invisible marker, equal for all plans or all applies of a source, by which a program finds the comment to update. */
function marker({ plan: { source }, applied }: PlanReport): string {
  return `<!-- portolan:${applied === undefined ? 'plan' : 'apply'}:${cut(encodeURIComponent(source.toWellFormed()), 300)} -->`;
}

function facts({ plan, applied }: PlanReport): string {
  const { inSync, unchangedFields } = plan.summary;
  return [
    `Source ${code(cut(plan.source, 200))}`,
    ...(plan.revision === null ? [] : [`revision ${code(cut(plan.revision, 200))}`]),
    ...(hasChanges(plan) ? [`${plan.scopes.length < 2 ? 'digest' : 'total digest'} ${code(plan.digest)}`] : []),
    `${amount(inSync, 'resource')} in sync`,
    `${amount(unchangedFields, 'unchanged field')} not shown`,
    ...(plan.ledger === 'none' ? ['no ledger: ownership and causes of changes are unknown'] : []),
    ...(applied === undefined ? [] : [`exit code ${applied.exitCode}`]),
  ].join(' · ');
}

function leftOut(lost: number): string {
  return `> [!NOTE]\n> ${amount(lost, 'item')} omitted, because a comment has at most ${COMMENT_MAX} characters. Use ${code('-o html')} to see all.`;
}

/** Returns how to apply the plan. A plan that a guard refuses has an approval beside each application instead. */
function howToApply({ plan, applied }: PlanReport): readonly string[] {
  if (applied !== undefined || !hasChanges(plan) || plan.refusals.length > 0) return [];
  return [`To apply exactly this plan: ${code(`portolan apply … --expect ${plan.digest}`)}`];
}

function alert(kind: string, entries: readonly Entry[], concerns: (entry: Entry) => boolean): Block {
  return {
    items: entries.filter(concerns).map(alertItem),
    share: 0.3,
    wrap: (items) => [`> [!${kind}]`, ...items].join('\n'),
  };
}

function alertItem({ resource, application: of, title, detail, remedy, code: is }: Entry): string {
  const subject = resource ?? of;
  const said = detail === undefined || detail === '' ? title : `${title}: ${detail}`;
  return [
    `> - ${subject === undefined ? '' : `${code(cut(subject, 200))} `}${prose(cut(said, SENTENCE_CHARACTERS_MAX))} (${code(is)})`,
    ...(remedy === undefined ? [] : [`>   → ${prose(cut(remedy, SENTENCE_CHARACTERS_MAX))}`]),
  ].join('\n');
}

function overview({ scopes }: PlanDocument): Block {
  const head = [
    '| Application | Create | Change | Delete | Pending | Held | In sync |',
    '|:--|--:|--:|--:|--:|--:|--:|',
  ];
  return {
    items: scopes.map((scope) => {
      const { actions, deferred, holds, inSync } = scope;
      const verbs = VERBS.map((verb) => actions.filter((action) => action.verb === verb && isOwnChange(action)).length);
      const cells = [...verbs, deferred.length, holds.length, inSync.length];
      return `| ${cell(cut(scope.application, 200))} | ${cells.map((number) => (number === 0 ? '·' : number)).join(' | ')} |`;
    }),
    share: 0.3,
    wrap: (items) => [...head, ...items].join('\n'),
  };
}

const VERBS = ['create', 'update', 'delete'] as const;

/** Returns the changes of one application as a diff, which GitHub colours. */
function application(scope: PlanDocument['scopes'][number], report: PlanReport, entries: readonly Entry[]): Block {
  const own = entries.filter((entry) => entry.state !== 'unobserved');
  const items = own.map((entry, at) => {
    const isNext = entry.resource === own[at - 1]?.resource && at > 0;
    const head = isNext || entry.resource === undefined ? [] : [`@@ ${safeLine(entry.resource)} @@`];
    return [...head, ...diffLines(entry)].map((line) => cut(line, LINE_CHARACTERS_MAX)).join('\n');
  });
  const title = `<summary><code>${html(scope.application)}</code>: ${html(scopeHeadline(scope, report))}</summary>`;
  const { refusals } = report.plan;
  const isApproved = report.applied === undefined && refusals.length > 0 && refusals.every(isApprovable);
  const name = scope.application.slice(scope.application.indexOf('/') + 1);
  const isOneOfSeveral = report.plan.scopes.length > 1 && scope.actions.length + scope.deferred.length > 0;
  const ownDigest = isOneOfSeveral ? [`Digest of this application: ${code(scope.digest)}`] : [];
  const approve = `To approve exactly this plan on a running controller: ${code(`portolan approve ${name} ${scope.digest}`)}.`;
  return {
    items,
    share: 1,
    wrap(taken) {
      const changes = fenced('diff', taken.join('\n').split('\n'));
      const closing = isApproved && scope.actions.length > 0 ? [approve] : ownDigest;
      return folded(title, [changes, ...closing].join('\n\n'));
    },
  };
}

function folded(title: string, content: string): string {
  return ['<details>', title, '', content, '', '</details>'].join('\n');
}

function scopeHeadline(scope: ScopePlan, { applied }: PlanReport): string {
  const outcome = applied?.outcomes.find(({ application: id }) => id === scope.application);
  const ended = outcome?.type === 'ended' ? outcome : undefined;
  const held = (ended?.remaining ?? scope).holds.length;
  const changes = scope.actions.filter(isOwnChange).length + scope.deferred.length;
  return [
    ...(ended !== undefined && ended.results.length > 0
      ? [resultCounts(ended.results)]
      : changes > 0 || held === 0
        ? [changes === 0 ? 'no changes' : amount(changes, 'change')]
        : []),
    ...(held > 0 ? [`${held} held`] : []),
  ].join(', ');
}

function aside(notes: readonly Entry[]): Block {
  return {
    items: notes.map((note) => `- ${prose(cut(note.title, SENTENCE_CHARACTERS_MAX))}`),
    share: 1,
    wrap: (items) => folded('<summary>Notes</summary>', items.join('\n')),
  };
}

/** Returns an entry as lines of a diff: `+` is green, `-` red, `!` orange, `#` grey. */
function diffLines(entry: Entry): readonly string[] {
  const { title, cause, detail, remedy, effects } = entry;
  const why = cause === undefined || entry.state !== 'planned' ? '' : `  (${CAUSE_WORDS[cause]})`;
  const isSaid = entry.state === 'note' || entry.state === 'waiting' || entry.state === 'deferred';
  const changes = entry.state === 'done' || isSaid ? [] : entry.changes.flatMap((change) => changeLines(change, entry));
  // The remedy of a hold stands in the alert above.
  if (entry.state === 'held') return [`! ${title}: ${detail}`, ...changes];
  return [
    `${mark(entry)} ${stateWord(entry)}${title}${why}`,
    ...(detail === undefined ? [] : [`#     ${detail}`]),
    ...changes,
    ...effects.map((effect) => `#     also: ${effect}`),
    ...(remedy === undefined ? [] : [`#     → ${remedy}`]),
  ];
}

function changeLines(change: Entry['changes'][number], { cause }: Entry): readonly string[] {
  const { before, after } = change;
  const path = safeLine(change.path);
  const aside = [driftedFrom(change), ownCause(change, cause)].filter((part) => part !== undefined);
  return [
    ...(before === undefined ? [] : [`-     ${path}: ${valueText(before)}`]),
    ...(after === undefined ? [] : [`+     ${path}: ${valueText(after)}`]),
    ...aside.map((part) => `#       ${part}`),
  ];
}

function mark({ state, verb }: Entry): string {
  if (state === 'planned' || state === 'done') return verb === undefined ? '#' : verb === 'update' ? '!' : SYMBOL[verb];
  return ATTENTION.has(state) ? '!' : '#';
}

const ATTENTION: ReadonlySet<EntryState> = new Set(['failed', 'in-doubt', 'held', 'refused', 'unobserved']);

function stateWord({ state }: Entry): string {
  return SAID_BY_TITLE.has(state) ? '' : `${STATES[state].word}: `;
}

const SAID_BY_TITLE: ReadonlySet<EntryState> = new Set(['planned', 'held', 'note', 'refused', 'unobserved']);
