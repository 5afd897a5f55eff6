import { PortolanError } from '../../model/errors.ts';
import { EVENT_GROUPS, type EventFilter, SEVERITIES } from '../../model/event-filter.ts';
import type { ControllerEvent, EventSeverity } from '../../model/status.ts';
import { safeLine } from '../../model/text.ts';
import { Option } from '@commander-js/extra-typings';
import { defineCommand, type Surroundings } from '../session/command.ts';
import { asciiOption, type Mark } from '../terminal/drawing/glyphs.ts';
import { EXIT } from '../session/exit-codes.ts';
import { integerArgument, outputOption } from '../session/options.ts';
import { openServer, type ServerClient } from '../server/client.ts';
import { addServerOptions, applicationArgument } from '../server/options.ts';
import { paintMark, type Reader, readerOf } from './status/table.ts';
import { intervalOf, watch, watchOption } from './watch.ts';
import { shortDuration } from '../terminal/age.ts';
import { reasonTableLines, tableLines } from '../terminal/table.ts';
import { count, textOfLines } from '../terminal/text.ts';

export const eventsCommand = defineCommand({
  isEndless: true,
  about:
    'Lists what a running controller did, observed and refused, oldest first. With --follow, it continues with new events. Needs a token with the role viewer.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['status', 'sync', 'run'],
  examples: `
Examples:
  portolan events --server http://127.0.0.1:7780
  portolan events --watch                          # a table of the newest events, redrawn
  portolan events --follow --application shop      # a line for each new event
  portolan events --follow -o json | jq 'select(.severity != "info")'`,
  parameters: (command) =>
    addServerOptions(command)
      .option('--follow', 'continue with a line for each new event, until interrupted')
      .addOption(watchOption('2s; without a terminal, or with -o json, the same as --follow'))
      .addOption(asciiOption())
      .option('--application <name>', 'only events of this application', applicationArgument)
      .addOption(
        new Option('--severity <severity>', 'only events of this severity or a higher one').choices(SEVERITIES),
      )
      .option(
        '--type <type>',
        `only events of this type or group of types, such as drift.detected or drift; repeatable (groups: ${EVENT_GROUPS.join(', ')})`,
        eachType,
      )
      .option('--limit <n>', 'maximum number of past events', integerArgument(0, 1000), 50)
      .addOption(outputOption(['text', 'json'])),
  async run(surroundings, options) {
    const server = openServer(options, surroundings);
    const { application, severity, type, limit, output } = options;
    const filter = { application, severity, type };
    const { out } = surroundings.terminal;
    const read = async (): Promise<EventPage> => {
      const page = (await server.get('events', 'position', { ...filter, limit: Math.max(1, limit) })) as EventPage;
      return { ...page, items: page.items.slice(0, limit) };
    };
    const intervalMs = intervalOf(options.watch, WATCH_MS);
    if (intervalMs !== undefined && out.isTerminal && output === 'text') {
      const draw = ({ items }: EventPage): readonly string[] => {
        const reader = readerOf(surroundings, options.ascii);
        return [reader.paint('title', eventSummary(items)), '', ...eventLines(items, reader, 'cut')];
      };
      return watch({ intervalMs, observe: read, draw, print: (page) => draw(page).join('\n') }, surroundings);
    }
    const write = (event: ControllerEvent): void => out.write(lineOf(event, output));
    const page = await read();
    const past = page.items.toReversed();
    if (options.follow !== true && intervalMs === undefined) {
      if (output === 'json') past.forEach(write);
      else out.write(textOfLines(eventLines(past, readerOf(surroundings, options.ascii), 'wrap')));
      return EXIT.ok;
    }
    past.forEach(write);
    await follow(server, page.position, filter, write, surroundings);
    return options.follow === true ? EXIT.ok : EXIT.interrupted;
  },
});

function eachType(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

interface EventPage {
  /** Newest first. */
  readonly items: readonly ControllerEvent[];
  readonly position: string;
}

const WATCH_MS = 2_000;

const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 30_000;

/** Follows the events until a signal comes. Continues at the same position when the stream breaks off. */
async function follow(
  server: ServerClient,
  from: string,
  filter: EventFilter,
  write: (event: ControllerEvent) => void,
  { clock, signal, terminal }: Surroundings,
): Promise<void> {
  let position = from;
  let pauseMs = PAUSE_MIN_MS;
  let isLost = false;
  while (!signal.aborted) {
    try {
      for await (const { type, data, lastId } of server.stream({ after: position, ...filter })) {
        if (lastId !== '') position = lastId;
        pauseMs = PAUSE_MIN_MS;
        isLost = false;
        if (type === 'message') write(JSON.parse(data) as ControllerEvent);
        else terminal.err.write('note: some events were missed; the history has every change\n');
      }
    } catch (error) {
      if (signal.aborted) return;
      const isPassing =
        error instanceof PortolanError && error.disposition !== 'invalid' && !/no-token|wrong-role/.test(error.code);
      if (!isPassing) throw error;
      if (!isLost) terminal.err.write(`note: ${safeLine(error.message)} Retrying.\n`);
      isLost = true;
    }
    await clock.sleep(pauseMs, signal).catch(() => {});
    pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2);
  }
}

function lineOf(event: ControllerEvent, output: 'text' | 'json'): string {
  if (output === 'json') return `${JSON.stringify(event)}\n`;
  const { atMs, severity, type, message } = event;
  return `${new Date(atMs).toISOString()}  ${severity.padEnd(7)}  ${type}  ${safeLine(subjectOf(event))}  ${safeLine(message)}\n`;
}

const MARKS: Readonly<Record<EventSeverity, Mark>> = { info: 'good', warning: 'held', error: 'bad' };

/** Returns the application or resource of an event, or - for the controller. */
function subjectOf({ resource, application }: ControllerEvent): string {
  return resource ?? application ?? '-';
}

const MESSAGE_COLUMNS_MIN = 32;

/**
 * Formats events as a table: with ages for a terminal, with times for a pipe.
 * @param long whether a message that is too long for the terminal is cut or wrapped.
 */
function eventLines(events: readonly ControllerEvent[], reader: Reader, long: 'cut' | 'wrap'): readonly string[] {
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

/** Summarizes events: `50 events: 2 errors, 5 warnings.` */
function eventSummary(events: readonly ControllerEvent[]): string {
  const parts = (['error', 'warning'] as const).flatMap((severity) => {
    const number = events.filter((event) => event.severity === severity).length;
    return number > 0 ? [count(number, severity)] : [];
  });
  return `${count(events.length, 'event')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`;
}
