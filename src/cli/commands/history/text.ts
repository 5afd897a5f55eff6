import type { ScopeKey } from '../../../model/ids.ts';
import type { FieldChange } from '../../../model/plan.ts';
import type { JsonObject } from '../../../model/json.ts';
import { SHORT_LENGTH, shortRevision } from '../../../model/revision.ts';
import { safeLine } from '../../../model/text.ts';
import { CAUSE_WORDS, changeText, shownChanges, SYMBOL } from '../../../plan/words.ts';
import type { TextRole } from '../../../report/text.ts';
import type { HistoryChange, HistoryEntry, HistoryRun } from '../../../views/history.ts';
import { wrap } from '../../terminal/text.ts';
import { instant, pairs } from '../ledger/words.ts';
import { isResourceName } from './read.ts';
import type { Reader } from '../status/table.ts';

/** Returns the history of an application as lines that fit the terminal. @param scope null: the server resolved it. */
export function historyLines(
  name: string,
  scope: ScopeKey | null,
  entries: readonly HistoryEntry[],
  reader: Reader,
): readonly string[] {
  const title = reader.paint('title', isResourceName(name) ? safeLine(name) : `Application/${safeLine(name)}`);
  const head = scope === null ? title : `${title}  ${reader.paint('dim', safeLine(scope))}`;
  return [head, ...entries.flatMap((entry) => ['', ...entryLines(entry, reader)])];
}

function entryLines(entry: HistoryEntry, reader: Reader): readonly string[] {
  const at = instant(entry.atMs);
  switch (entry.type) {
    case 'run':
      return [...headLines(entry, reader), ...entry.changes.flatMap((change) => writeLines(change, reader))];
    case 'drift': {
      const what = entry.isCorrected ? 'drift corrected' : 'drift';
      const role = entry.isCorrected ? 'note' : 'update';
      return [...folded(`${at}  ${what}: ${entry.resource}`, '', reader, role), ...fieldLines(entry.changes, reader)];
    }
    case 'approval':
      return folded(`${at}  approved: plan ${entry.digest.slice(0, SHORT_LENGTH)} by ${entry.by}`, '', reader, 'note');
    case 'event':
      return folded(`${at}  ${eventText(entry)}`, '', reader, 'note');
  }
}

/** Returns an event with the user who requested it, or else with the process that recorded it. */
function eventText({ event, actor, detail: json }: Extract<HistoryEntry, { type: 'event' }>): string {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return `${event} by ${actor}: ${pairs(json)}`;
  const { by, application: _ofThisHistory, ...detail } = json as JsonObject;
  const facts = pairs(detail);
  return `${event} by ${typeof by === 'string' ? by : actor}${facts === '' ? '' : `: ${facts}`}`;
}

function headLines(entry: HistoryRun, reader: Reader): readonly string[] {
  const { atMs, run, author, committedMs, actor } = entry;
  const commit = [
    ...(author === null ? [] : [author]),
    ...(committedMs === null ? [] : [`committed ${instant(committedMs)}`]),
  ];
  return [
    ...folded(`${instant(atMs)}  ${basisOf(entry)}${run === null ? '' : `  run ${run}`}`, '', reader, 'title'),
    ...(commit.length === 0 ? [] : folded(commit.join(', '), '  ', reader, 'dim')),
    ...folded(actor, '  ', reader, 'dim'),
  ];
}

/** Returns what a run applied. */
function basisOf({ run, revision, undoes }: HistoryRun): string {
  if (undoes !== null) return `undo of run ${undoes}`;
  if (revision !== null) return shortRevision(revision);
  return run === null ? 'revision not recorded' : 'files without a commit';
}

function writeLines({ verb, resource, summary, cause, outcome, changes }: HistoryChange, reader: Reader) {
  const mark = verb === null ? '-' : SYMBOL[verb];
  const what = resource === null ? summary : `${resource}: ${summary}`;
  const why = cause === null ? '' : ` (${CAUSE_WORDS[cause]})`;
  const end = outcome === 'applied' ? '' : `  ${outcomeWords(outcome)}`;
  const role = end === '' ? (verb ?? 'note') : 'hold';
  const values =
    changes === null
      ? folded('values not recorded: written by an earlier version of Portolan', '      ', reader, 'dim')
      : [];
  return [
    ...folded(`${mark} ${what}${why}${end}`, '  ', reader, role),
    ...values,
    // The summary of a creation has all that it set.
    ...(verb === 'create' ? [] : fieldLines(shownChanges({ changes: changes ?? [] }), reader)),
  ];
}

function outcomeWords(outcome: string): string {
  switch (outcome) {
    case 'open':
    case 'unknown':
      return 'outcome unknown';
    case 'superseded':
      return 'replaced by a later plan';
    default:
      return outcome;
  }
}

function fieldLines(changes: readonly FieldChange[], reader: Reader): readonly string[] {
  return changes.flatMap((change) => folded(changeText(change, change.cause), '      ', reader, undefined));
}

/** Returns one text as lines of the terminal; without a terminal, as one line. */
function folded(text: string, indent: string, reader: Reader, role: TextRole | undefined): readonly string[] {
  const line = safeLine(text);
  const lines = reader.isTerminal ? wrap(line, Math.max(20, reader.columns - indent.length - 2)) : [line];
  return lines.map((part, at) => {
    const painted = role === undefined ? part : reader.paint(role, part);
    return `${indent}${at === 0 ? '' : '  '}${painted}`;
  });
}
