import { STATE_TEXTS } from '../../../views/words.ts';
import { compareText, safeLine } from '../../../model/text.ts';
import type { EpochMs } from '../../../model/time.ts';
import type { Remedy, ViewState } from '../../../views/model.ts';
import type { StatusGroup, StatusLine, StatusView } from '../../../views/status.ts';
import type { Paint, TextRole } from '../../../report/text.ts';
import { shortDuration } from '../../terminal/age.ts';
import type { Surroundings } from '../../session/command.ts';
import { type Glyphs, glyphsFor, type Mark } from '../../terminal/drawing/glyphs.ts';
import { paintFor } from '../../session/plan-view.ts';
import { type ReasonTable, reasonTableLines, tableLines } from '../../terminal/table.ts';
import { displayWidth, wrap } from '../../terminal/text.ts';

/** Holds the mark and the words of a state. */
export interface StateFace {
  readonly mark: Mark;
  readonly words: string;
}

export const FACES: Readonly<Record<ViewState, StateFace>> = {
  'in-sync': { mark: 'good', words: STATE_TEXTS['in-sync'] },
  unhealthy: { mark: 'bad', words: STATE_TEXTS.unhealthy },
  drifted: { mark: 'change', words: STATE_TEXTS.drifted },
  'to-change': { mark: 'change', words: STATE_TEXTS['to-change'] },
  failing: { mark: 'bad', words: STATE_TEXTS.failing },
  held: { mark: 'held', words: STATE_TEXTS.held },
  'not-ours': { mark: 'held', words: STATE_TEXTS['not-ours'] },
  waiting: { mark: 'waiting', words: STATE_TEXTS.waiting },
  suspended: { mark: 'suspended', words: STATE_TEXTS.suspended },
  reported: { mark: 'reported', words: STATE_TEXTS.reported },
  unknown: { mark: 'unknown', words: STATE_TEXTS.unknown },
  withdrawn: { mark: 'change', words: STATE_TEXTS.withdrawn },
  orphaned: { mark: 'held', words: STATE_TEXTS.orphaned },
  'not-in-manifests': { mark: 'foreign', words: STATE_TEXTS['not-in-manifests'] },
};

/** Describes the output: a terminal gets marks, colours, ages and lines that fit; a pipe gets everything. */
export interface Reader {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly glyphs: Glyphs;
  readonly paint: Paint;
  readonly nowMs: EpochMs;
}

export function readerOf({ terminal: { out }, env, clock }: Surroundings, ascii?: boolean): Reader {
  const { isTerminal, columns } = out;
  return { isTerminal, columns, glyphs: glyphsFor(env, ascii), paint: paintFor(out), nowMs: clock.now() };
}

/** Colours of the marks, ordered from those that require manual action to in sync. */
const ROLES: Readonly<Record<Mark, TextRole>> = {
  bad: 'delete',
  held: 'hold',
  unknown: 'delete',
  change: 'update',
  foreign: 'dim',
  waiting: 'note',
  reported: 'note',
  suspended: 'hold',
  skipped: 'dim',
  good: 'create',
};

export function paintMark(mark: Mark, text: string, paint: Paint): string {
  return paint(ROLES[mark], text);
}

function urgencyOf(mark: Mark): number {
  return Object.keys(ROLES).indexOf(mark);
}

/** Sorts problems first, then by name. */
function problemsFirst(groups: readonly StatusGroup[]): readonly StatusGroup[] {
  const urgency = ({ state }: StatusLine): number => urgencyOf(FACES[state].mark);
  const worst = ({ head, members }: StatusGroup): number => Math.min(...[head, ...members].map(urgency));
  const byName = (left: StatusLine, right: StatusLine): number => compareText(left.name, right.name);
  return groups
    .map(({ head, members }) => ({
      head,
      members: members.toSorted((left, right) => urgency(left) - urgency(right) || byName(left, right)),
    }))
    .toSorted((left, right) => worst(left) - worst(right) || byName(left.head, right.head));
}

/** Minimum width of the column for reasons. */
const WHY_COLUMNS_MIN = 24;
const NAME_COLUMNS_MIN = 20;
/** Width of a word and its gap. */
const WORD_COLUMNS = 12;

/** Returns a table of applications and their resources. */
export function statusTable(
  { groups, titles, whyTitle, hasAge }: Pick<StatusView, 'groups' | 'titles' | 'whyTitle' | 'hasAge'>,
  reader: Reader,
): readonly string[] {
  const lines = problemsFirst(groups).flatMap(({ head, members }) => [
    { ...head, indent: '' },
    ...members.map((member) => ({ ...member, indent: '  ' })),
  ]);
  const { isTerminal, columns, glyphs, paint } = reader;
  const markOf = (at: number): Mark => FACES[lines[at]?.state ?? 'in-sync'].mark;
  const nameOf = ({ state, indent, name }: (typeof lines)[number]): string =>
    isTerminal ? `${glyphs.marks[FACES[state].mark]} ${indent}${name}` : `${indent}${name}`;
  const namesMax = Math.max(0, ...lines.map((line) => displayWidth(nameOf(line))));
  const layout = [
    {
      title: isTerminal ? '  resource' : 'resource',
      // A reason may move below its line; a name is cut only if it does not fit even then.
      narrowest: Math.min(namesMax, Math.max(NAME_COLUMNS_MIN, columns - WORD_COLUMNS * (titles.length + 1))),
      paint: (text: string, at: number) => paintMark(markOf(at), text.slice(0, 1), paint) + text.slice(1),
    },
    ...titles.map((title) => ({
      title,
      paint: (text: string, at: number) => paintMark(markOf(at), text, paint),
    })),
    ...(hasAge ? [{ title: isTerminal ? 'age' : 'since' }] : []),
  ];
  const cells = lines.map((line) => [
    nameOf(line),
    ...titles.map((_, at) => line.words[at]),
    ...(hasAge ? [ageCell(line.sinceMs, reader)] : []),
    line.why,
  ]);
  return stateTable({ columns: layout, title: whyTitle, rows: cells }, reader);
}

/** Returns a table whose last column holds reasons: complete in a pipe, cut to the width of a terminal. */
export function stateTable(
  table: Pick<ReasonTable, 'columns' | 'title' | 'rows' | 'indent'>,
  { isTerminal, columns, glyphs, paint }: Reader,
): readonly string[] {
  if (!isTerminal)
    return tableLines([...table.columns.map(({ title }) => ({ title })), { title: table.title }], table.rows);
  return reasonTableLines(
    { ...table, narrowest: WHY_COLUMNS_MIN, long: 'cut', paintBelow: (text) => paint('dim', text) },
    { columns, ellipsis: glyphs.ellipsis },
  );
}

function ageCell(sinceMs: EpochMs | undefined, { isTerminal, nowMs }: Reader): string | undefined {
  if (sinceMs === undefined) return undefined;
  return isTerminal ? shortDuration(nowMs - sinceMs) : new Date(sinceMs).toISOString();
}

/** Returns the lines of remedies. In a pipe, they leave out the reasons, because the table shows them completely. */
export function remedyLines(remedies: readonly Remedy[], { isTerminal, columns, glyphs }: Reader): readonly string[] {
  const indent = ' '.repeat(glyphs.arrow.length + 1);
  return remedies.flatMap(({ about, why, what }) => {
    if (!isTerminal) return [`${glyphs.arrow} ${safeLine(`${about}: ${what}`)}`];
    const text = safeLine(`${about}: ${why === '' ? '' : `${ended(why)} `}${what}`);
    const lines = wrap(text, Math.max(20, columns - indent.length));
    return lines.map((line, at) => `${at === 0 ? `${glyphs.arrow} ` : indent}${line}`);
  });
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
