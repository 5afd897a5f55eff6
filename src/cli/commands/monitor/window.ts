import { PortolanError } from '../../../model/errors.ts';
import type { EpochMs } from '../../../model/time.ts';
import type { TimeWindow } from '../../terminal/drawing/series.ts';
import { epochMsOf, type When } from './when.ts';

/** What metrics systems of this kind answer in one series, at most. */
const SAMPLES_MAX = 11_000;

export interface WindowOptions {
  readonly since: When;
  readonly until: When;
  /** Seconds. */
  readonly step: number;
}

/** The stretch of time that is meant at this moment. @throws PortolanError `invalid` */
export function windowOf({ since, until, step: stepSeconds }: WindowOptions, nowMs: EpochMs): TimeWindow {
  const startSeconds = Math.floor(epochMsOf(since, nowMs) / 1000);
  const endSeconds = Math.floor(epochMsOf(until, nowMs) / 1000);
  const refuse = (message: string, remedy: string): never => {
    throw new PortolanError({ code: 'monitor/bad-window', disposition: 'invalid', message, remedy });
  };
  if (startSeconds >= endSeconds) refuse('--since is not before --until; nothing was asked.', 'Swap or correct them.');
  const samples = Math.floor((endSeconds - startSeconds) / stepSeconds);
  if (samples > SAMPLES_MAX) {
    const least = Math.ceil((endSeconds - startSeconds) / SAMPLES_MAX);
    refuse(
      `That is ${samples} samples per series, more than a platform answers; nothing was asked.`,
      `Pass --step ${least} or more.`,
    );
  }
  return { startSeconds, endSeconds, stepSeconds };
}
