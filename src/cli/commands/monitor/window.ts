import { InvalidArgumentError } from '@commander-js/extra-typings';
import { parseDuration } from '../../../model/duration.ts';
import { invalidInput } from '../../../model/errors.ts';
import type { EpochMs } from '../../../model/time.ts';
import type { TimeWindow } from '../../../model/series.ts';

/** A moment: a time ago, or a date. */
export type When = { readonly type: 'ago'; readonly ms: number } | { readonly type: 'at'; readonly epochMs: EpochMs };

/**
 * Parses `1h`, `90m`, `2026-11-20T13:00:00Z`. A date without a time zone is refused, because its meaning would depend on
 * the machine.
 */
export function whenArgument(text: string): When {
  const ms = parseDuration(text);
  if (ms !== undefined) return { type: 'ago', ms };
  const isDate = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const epochMs = isDate ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(epochMs)) return { type: 'at', epochMs };
  throw new InvalidArgumentError('Expected a duration such as 1h30m (ago), or a time such as 2026-11-20T13:00:00Z.');
}

function epochMsOf(when: When, nowMs: EpochMs): EpochMs {
  return when.type === 'at' ? when.epochMs : nowMs - when.ms;
}

/** Maximum number of samples of one series that typical metrics systems return. */
const SAMPLES_MAX = 11_000;

/** Returns the window for the current time. @param step seconds. @throws PortolanError `invalid` */
export function windowOf(
  { since, until, step: stepSeconds }: { readonly since: When; readonly until: When; readonly step: number },
  nowMs: EpochMs,
): TimeWindow {
  const startSeconds = Math.floor(epochMsOf(since, nowMs) / 1000);
  const endSeconds = Math.floor(epochMsOf(until, nowMs) / 1000);
  const refuse = (message: string, remedy: string): never => {
    throw invalidInput('monitor/bad-window', message, remedy);
  };
  if (startSeconds >= endSeconds) refuse('--since is not before --until.', 'Swap or correct them.');
  const samples = Math.floor((endSeconds - startSeconds) / stepSeconds);
  if (samples > SAMPLES_MAX) {
    const least = Math.ceil((endSeconds - startSeconds) / SAMPLES_MAX);
    refuse(
      `The window has ${samples} samples per series, more than a platform returns.`,
      `Pass --step ${least} or more.`,
    );
  }
  return { startSeconds, endSeconds, stepSeconds };
}
