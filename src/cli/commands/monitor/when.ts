import { InvalidArgumentError } from '@commander-js/extra-typings';
import { parseDuration } from '../../../model/duration.ts';
import type { EpochMs } from '../../../model/time.ts';

/** A moment as a person gives it: so long ago, or by date. */
export type When = { readonly type: 'ago'; readonly ms: number } | { readonly type: 'at'; readonly epochMs: EpochMs };

/** `1h`, `90m`, `2026-11-20T13:00:00Z`. A date without a zone would mean something else on every machine. */
export function whenArgument(text: string): When {
  const ms = parseDuration(text);
  if (ms !== undefined) return { type: 'ago', ms };
  const isDate = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const epochMs = isDate ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(epochMs)) return { type: 'at', epochMs };
  throw new InvalidArgumentError('Expected a duration such as 1h30m (ago), or a time such as 2026-11-20T13:00:00Z.');
}

export function epochMsOf(when: When, nowMs: EpochMs): EpochMs {
  return when.type === 'at' ? when.epochMs : nowMs - when.ms;
}
