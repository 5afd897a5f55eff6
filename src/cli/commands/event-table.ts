import type { ControllerEvent, EventSeverity } from '../../model/status.ts';
import { shortDuration } from '../terminal/age.ts';
import type { Mark } from '../terminal/drawing/glyphs.ts';
import { paintMark, type Reader } from './status/standing.ts';
import { reasonTableLines, tableLines } from '../terminal/table.ts';
import { count } from '../terminal/text.ts';

const MARKS: Readonly<Record<EventSeverity, Mark>> = { info: 'good', warning: 'held', error: 'bad' };

/** Of an application, a resource of it, or the controller itself. */
export function subjectOf({ resource, application }: ControllerEvent): string {
  return resource ?? application ?? '-';
}

const MESSAGE_COLUMNS_MIN = 32;

/**
 * Events as a table: with ages for a terminal, with times for a pipe.
 * @param long what is done with messages that are too long for the terminal.
 */
export function eventLines(
  events: readonly ControllerEvent[],
  reader: Reader,
  long: 'cut' | 'wrap',
): readonly string[] {
  const { isTerminal, columns, nowMs, glyphs, paint } = reader;
  const markOf = (at: number): Mark => MARKS[events[at]?.severity ?? 'info'];
  const rows = events.map((event) => [
    isTerminal ? `${shortDuration(nowMs - event.atMs)} ago` : new Date(event.atMs).toISOString(),
    event.severity,
    event.type,
    subjectOf(event),
    event.message,
  ]);
  const layout = [
    { title: isTerminal ? 'age' : 'time' },
    { title: 'severity', paint: (text: string, at: number) => paintMark(markOf(at), text, paint) },
    { title: 'type' },
    { title: 'about', narrowest: 12 },
  ];
  if (!isTerminal) return tableLines([...layout.map(({ title }) => ({ title })), { title: 'message' }], rows);
  const table = { columns: layout, title: 'message', rows, narrowest: MESSAGE_COLUMNS_MIN, long };
  return reasonTableLines({ ...table, paintBelow: (text) => text }, { columns, ellipsis: glyphs.ellipsis });
}

/** `50 events: 2 errors, 5 warnings.` */
export function eventSummary(events: readonly ControllerEvent[]): string {
  const number = (severity: EventSeverity): number => events.filter((event) => event.severity === severity).length;
  const parts = [
    ...(number('error') > 0 ? [count(number('error'), 'error')] : []),
    ...(number('warning') > 0 ? [count(number('warning'), 'warning')] : []),
  ];
  return `${count(events.length, 'event')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`;
}
