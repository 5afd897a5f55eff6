import { PortolanError } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';
import type { EpochMs } from '../../model/time.ts';
import { own } from '../terminal/terminal.ts';
import { clockTime, relativeTime, shortDuration } from '../terminal/age.ts';
import type { Surroundings } from '../session/command.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { parseDuration } from '../../model/duration.ts';
import { fit, textOfLines } from '../terminal/text.ts';

const INTERVAL_MIN_MS = 1_000;
const INTERVAL_MAX_MS = 24 * 3_600_000;

/** Returns `--watch [interval]`. @param every describes the interval without a value. */
export function watchOption(every: string) {
  return new Option(
    '--watch [interval]',
    `refresh at this interval until interrupted, such as 30s (without a value: ${every})`,
  ).argParser(intervalArgument);
}

/** The parsed value of `--watch [interval]`. */
export type WatchFlag = number | boolean | undefined;

/** Returns the interval; undefined without the flag. */
export function intervalOf(flag: WatchFlag, defaultMs: number): number | undefined {
  if (flag === undefined || flag === false) return undefined;
  return flag === true ? defaultMs : flag;
}

function intervalArgument(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < INTERVAL_MIN_MS || ms > INTERVAL_MAX_MS)
    throw new InvalidArgumentError(
      'Expected an interval from 1s to 24h, such as 30s or 5m. Without a value, put --watch last.',
    );
  return ms;
}

export interface Watched<T> {
  /** Interval between observations. */
  readonly intervalMs: number;
  /** Observes. The first call must succeed; a later one may throw a PortolanError that is not `invalid`. */
  readonly observe: () => Promise<T>;
  /**
   * Returns lines for a terminal. They are redrawn each second, so that ages stay current.
   * @param rows number of available rows; undefined: unlimited.
   */
  readonly draw: (state: T, rows: number | undefined) => readonly string[];
  /** Returns the text for a pipe. It is written when it differs from the last one. */
  readonly print: (state: T) => string;
}

/**
 * Shows a changing state until a signal comes. On a terminal, it is redrawn in place on a separate screen, and the last
 * state stays visible; elsewhere it is written whenever it changes.
 * @returns 130: only a signal ends it.
 */
export async function watch<T>(watched: Watched<T>, surroundings: Surroundings): Promise<ExitCode> {
  const { terminal } = surroundings;
  const first = await watched.observe();
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
      const text = watched.print(await watched.observe());
      if (text !== shown) terminal.out.write(text);
      shown = text;
      isLost = false;
    } catch (error) {
      const { message } = passing(error, signal);
      if (!isLost && !signal.aborted) terminal.err.write(`note: ${safeLine(message)} Retrying.\n`);
      isLost = true;
    }
  }
}

/** Returns a temporary failure. @throws any other. */
function passing(error: unknown, signal: AbortSignal): PortolanError {
  if (error instanceof PortolanError && (error.disposition !== 'invalid' || signal.aborted)) return error;
  throw error;
}

const REDRAW_MS = 1_000;
const HEADING_ROWS = 2;
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
/** Terminals that support this show the frame only when it is complete. */
const FRAME_BEGINS = '\u001b[?2026h\u001b[H';
/** Erases the rest of a line. */
const CLEAR = '\u001b[K';
const FRAME_ENDS = '\u001b[J\u001b[?2026l';

/** Holds the last state, and the failure since then. */
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
  // Leaves the screen at once, even during an observation: a second signal ends the process immediately.
  const end = (): void => {
    leave();
    stop.abort(signal.reason);
  };
  const redraw = (): void => {
    const heading = headingOf(seen, watched.intervalMs, clock.now());
    out.write(frame([heading, '', ...watched.draw(seen.state, out.rows - HEADING_ROWS)], out));
  };
  const observe = async (): Promise<void> => {
    try {
      seen.state = await watched.observe();
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
    const observing = every(watched.intervalMs, observe).finally(() => stop.abort(new Error('the watch is over')));
    await Promise.all([observing, every(REDRAW_MS)]);
  } finally {
    signal.removeEventListener('abort', end);
    // The last state stays on the screen, to be read and copied.
    const last = textOfLines(watched.draw(seen.state, undefined));
    leave();
    out.write(`${last}seen ${new Date(seen.atMs).toISOString()}\n`);
    giveBack();
  }
}

function headingOf({ atMs, problem }: Seen<unknown>, intervalMs: number, nowMs: EpochMs): string {
  const seen = `seen ${clockTime(atMs)}, ${relativeTime(atMs, nowMs)}`;
  if (problem !== undefined) return `! ${seen}, then failed: ${safeLine(problem.message)}`;
  return `every ${shortDuration(intervalMs)}, ${seen}; Ctrl-C ends`;
}

/** Returns a whole frame that replaces the former one. Each line erases the rest of its row, so nothing flickers. */
function frame(lines: readonly string[], out: Surroundings['terminal']['out']): string {
  const { columns, rows } = out;
  const room = Math.max(1, rows);
  const shown = lines.length > room ? lines.slice(0, room - 1) : lines;
  const more = lines.length - shown.length;
  const all = more > 0 ? [...shown, `and ${more} more lines; enlarge the window to see them`] : shown;
  const text = all.map((line) => `${fit(line, columns)}${own(out, CLEAR)}`).join('\r\n');
  return `${own(out, FRAME_BEGINS)}${text}${own(out, FRAME_ENDS)}`;
}
