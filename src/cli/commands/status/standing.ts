import { safeLine } from '../../../model/text.ts';
import type { EpochMs } from '../../../model/time.ts';
import type { Remedy } from '../../../views/model.ts';
import type { Paint, TextRole } from '../../../report/text.ts';
import { shortDuration } from '../../terminal/age.ts';
import type { Surroundings } from '../../session/command.ts';
import { type Glyphs, glyphsFor, type Mark } from '../../terminal/drawing/glyphs.ts';
import { paintFor } from '../../session/plan-view.ts';
import { reasonTableLines, tableLines } from '../../terminal/table.ts';
import { displayWidth, wrap } from '../../terminal/text.ts';

/** How one thing stands, as a line of a table. */
export interface Standing {
  readonly mark: Mark;
  readonly name: string;
  /** One for each title behind the name. */
  readonly words: readonly string[];
  /** Since when; undefined where that is not known. */
  readonly sinceMs?: EpochMs | undefined;
  /** In full; cut where a terminal is too narrow. */
  readonly why: string;
}

/** An application and what of it is shown. */
export interface StandingGroup {
  readonly head: Standing;
  readonly members: readonly Standing[];
}

/** How a reader is shown something: a terminal gets marks, colour and ages, and lines that fit; a pipe everything. */
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

/** From what needs a person first to what is as it should be. */
const URGENCY: readonly Mark[] = [
  'bad',
  'held',
  'unknown',
  'change',
  'foreign',
  'waiting',
  'reported',
  'suspended',
  'skipped',
  'good',
];

const ROLES: Readonly<Record<Mark, TextRole>> = {
  good: 'create',
  bad: 'delete',
  change: 'update',
  held: 'hold',
  waiting: 'note',
  suspended: 'hold',
  reported: 'note',
  unknown: 'delete',
  foreign: 'dim',
  skipped: 'dim',
};

export function paintMark(mark: Mark, text: string, paint: Paint): string {
  return paint(ROLES[mark], text);
}

export function urgencyOf(mark: Mark): number {
  return URGENCY.indexOf(mark);
}

/** Problems first, then by name. */
export function problemsFirst(groups: readonly StandingGroup[]): readonly StandingGroup[] {
  const worst = ({ head, members }: StandingGroup): number =>
    Math.min(...[head, ...members].map(({ mark }) => urgencyOf(mark)));
  return groups
    .map(({ head, members }) => ({ head, members: members.toSorted(byUrgency) }))
    .toSorted((left, right) => worst(left) - worst(right) || byName(left.head, right.head));
}

function byUrgency(left: Standing, right: Standing): number {
  return urgencyOf(left.mark) - urgencyOf(right.mark) || byName(left, right);
}

function byName(left: Standing, right: Standing): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}

/** What the reason needs to be worth a column. */
const WHY_COLUMNS_MIN = 24;
const NAME_COLUMNS_MIN = 20;
/** What a word takes, with its gap. */
const WORD_COLUMNS = 12;

/**
 * A table of applications and their resources.
 * @param titles of the words, between the name and the reason.
 */
export function standingLines(
  groups: readonly StandingGroup[],
  {
    titles,
    whyTitle,
    hasAge,
  }: { readonly titles: readonly string[]; readonly whyTitle: string; readonly hasAge: boolean },
  reader: Reader,
): readonly string[] {
  const lines = groups.flatMap(({ head, members }) => [
    { ...head, indent: '' },
    ...members.map((member) => ({ ...member, indent: '  ' })),
  ]);
  const { isTerminal, columns, glyphs, paint } = reader;
  const markOf = (at: number): Mark => lines[at]?.mark ?? 'good';
  const nameOf = ({ mark, indent, name }: (typeof lines)[number]): string =>
    isTerminal ? `${glyphs.marks[mark]} ${indent}${name}` : `${indent}${name}`;
  const namesMax = Math.max(0, ...lines.map((line) => displayWidth(nameOf(line))));
  const layout = [
    {
      title: isTerminal ? '  resource' : 'resource',
      // A reason may go below its line; a name is cut only where it has no room even so.
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
  if (!isTerminal) return tableLines([...layout.map(({ title }) => ({ title })), { title: whyTitle }], cells);
  return reasonTableLines(
    {
      columns: layout,
      title: whyTitle,
      rows: cells,
      narrowest: WHY_COLUMNS_MIN,
      long: 'cut',
      paintBelow: (text) => paint('dim', text),
    },
    { columns, ellipsis: glyphs.ellipsis },
  );
}

function ageCell(sinceMs: EpochMs | undefined, { isTerminal, nowMs }: Reader): string | undefined {
  if (sinceMs === undefined) return undefined;
  return isTerminal ? shortDuration(nowMs - sinceMs) : new Date(sinceMs).toISOString();
}

/** Below a table in which nothing is cut, why need not be said again. */
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
