import { PortolanError } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';
import type { EpochMs } from '../../model/time.ts';
import { own } from '../terminal/guarded.ts';
import { clockTime, relativeTime, shortDuration } from '../terminal/age.ts';
import type { Surroundings } from '../session/command.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { parseDuration } from '../../model/duration.ts';
import { fit } from '../terminal/text.ts';

const INTERVAL_MIN_MS = 1_000;
const INTERVAL_MAX_MS = 24 * 3_600_000;

/** `--watch [interval]`. @param every what is said of the interval without a value. */
export function watchOption(every: string) {
  return new Option(
    '--watch [interval]',
    `show it again and again, until interrupted: so often, such as 30s (without a value: ${every})`,
  ).argParser(intervalArgument);
}

/** What commander makes of `--watch [interval]`. */
export type WatchFlag = number | boolean | undefined;

/** @returns undefined: it is not to be watched. */
export function intervalOf(flag: WatchFlag, defaultMs: number): number | undefined {
  if (flag === undefined || flag === false) return undefined;
  return flag === true ? defaultMs : flag;
}

function intervalArgument(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < INTERVAL_MIN_MS || ms > INTERVAL_MAX_MS)
    throw new InvalidArgumentError(
      'Expected an interval from 1s to 24h, such as 30s or 5m. Without one, put --watch behind everything else.',
    );
  return ms;
}

export interface Watched<T> {
  /** How often it is looked at. */
  readonly intervalMs: number;
  /** Looks. The first look must succeed; a later one may fail with a PortolanError that is not `invalid`. */
  readonly look: () => Promise<T>;
  /**
   * Lines for a terminal; drawn each second, so that ages go on.
   * @param rows that there is room for; undefined: as many as it takes.
   */
  readonly draw: (state: T, rows: number | undefined) => readonly string[];
  /** What is written where there is no terminal, whenever it is not what was written last. */
  readonly print: (state: T) => string;
}

/**
 * Shows something again and again until a signal comes. On a terminal it is redrawn in place, on a screen of its own, and
 * stays to be seen as it was last; elsewhere it is written whenever it changes.
 * @returns 130: only a signal ends it.
 */
export async function watch<T>(watched: Watched<T>, surroundings: Surroundings): Promise<ExitCode> {
  const { terminal } = surroundings;
  const first = await watched.look();
  if (terminal.out.isTerminal) await watchOnScreen(watched, first, surroundings);
  else await watchInLines(watched, first, surroundings);
  return EXIT.interrupted;
}

async function watchInLines<T>(watched: Watched<T>, first: T, { terminal, clock, signal }: Surroundings) {
  let shown = watched.print(first);
  terminal.out.write(shown);
  let isLost = false;
  while (!signal.aborted) {
    await clock.sleep(watched.intervalMs, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const text = watched.print(await watched.look());
      if (text !== shown) terminal.out.write(text);
      shown = text;
      isLost = false;
    } catch (error) {
      const { message } = passing(error, signal);
      if (!isLost && !signal.aborted) terminal.err.write(`note: ${safeLine(message)} Trying again.\n`);
      isLost = true;
    }
  }
}

/** A failure that may pass. @throws any other. */
function passing(error: unknown, signal: AbortSignal): PortolanError {
  if (error instanceof PortolanError && (error.disposition !== 'invalid' || signal.aborted)) return error;
  throw error;
}

const REDRAW_MS = 1_000;
const HEADING_ROWS = 2;
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
/** Terminals that know it show the frame only when it is whole. */
const FRAME_BEGINS = '\u001b[?2026h\u001b[H';
/** What is behind the end of a line. */
const CLEAR = '\u001b[K';
const FRAME_ENDS = '\u001b[J\u001b[?2026l';

/** What was seen last, and why nothing was seen since. */
interface Seen<T> {
  state: T;
  atMs: EpochMs;
  problem: PortolanError | undefined;
}

async function watchOnScreen<T>(watched: Watched<T>, first: T, surroundings: Surroundings): Promise<void> {
  const { terminal, clock, signal, live } = surroundings;
  const { out } = terminal;
  const seen: Seen<T> = { state: first, atMs: clock.now(), problem: undefined };
  const stop = new AbortController();
  let isLeft = false;
  const leave = (): void => {
    if (!isLeft) out.write(own(out, LEAVE));
    isLeft = true;
  };
  // At once, whatever is still being looked at: a second signal ends the process where it stands.
  const end = (): void => {
    leave();
    stop.abort(signal.reason);
  };
  const redraw = (): void => {
    const heading = headingOf(seen, watched.intervalMs, clock.now());
    out.write(frame([heading, '', ...watched.draw(seen.state, out.rows - HEADING_ROWS)], out));
  };
  const look = async (): Promise<void> => {
    try {
      seen.state = await watched.look();
      seen.atMs = clock.now();
      seen.problem = undefined;
    } catch (error) {
      seen.problem = passing(error, signal);
    }
  };
  const every = async (intervalMs: number, work?: () => Promise<void>): Promise<void> => {
    while (!stop.signal.aborted) {
      await clock.sleep(intervalMs, stop.signal).catch(() => {});
      if (stop.signal.aborted) return;
      await work?.();
      if (!stop.signal.aborted) redraw();
    }
  };

  const giveBack = live.yield();
  out.write(own(out, ENTER));
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    if (!stop.signal.aborted) redraw();
    const looking = every(watched.intervalMs, look).finally(() => stop.abort(new Error('the watch is over')));
    await Promise.all([looking, every(REDRAW_MS)]);
  } finally {
    signal.removeEventListener('abort', end);
    // As it was last, it stays to be seen and copied.
    const last = watched.draw(seen.state, undefined).map((line) => `${line}\n`);
    leave();
    out.write(`${last.join('')}seen ${new Date(seen.atMs).toISOString()}\n`);
    giveBack();
  }
}

function headingOf({ atMs, problem }: Seen<unknown>, intervalMs: number, nowMs: EpochMs): string {
  const seen = `seen ${clockTime(atMs)}, ${relativeTime(atMs, nowMs)}`;
  if (problem !== undefined) return `! ${seen}, NOT since: ${safeLine(problem.message)}`;
  return `every ${shortDuration(intervalMs)}, ${seen}; Ctrl-C ends`;
}

/** A whole frame over the one before: each line clears what is behind it, so nothing flickers. */
function frame(lines: readonly string[], out: Surroundings['terminal']['out']): string {
  const { columns, rows } = out;
  const room = Math.max(1, rows);
  const shown = lines.length > room ? lines.slice(0, room - 1) : lines;
  const more = lines.length - shown.length;
  const all = more > 0 ? [...shown, `and ${more} lines more; make the window higher to see them`] : shown;
  const text = all.map((line) => `${fit(line, columns)}${own(out, CLEAR)}`).join('\r\n');
  return `${own(out, FRAME_BEGINS)}${text}${own(out, FRAME_ENDS)}`;
}
