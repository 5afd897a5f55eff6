import type { WriteClass, Intent } from '../../model/owned.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Timing } from '../apply/world.ts';

/** The end of a settle window, by two clocks. Before it, an observation proves nothing. */
export interface SettleWindow {
  readonly settleMs: EpochMs;
  readonly settleMark: string;
}

export function settleWindowMs(idempotence: WriteClass, timing: Timing): number {
  switch (idempotence) {
    case 'target-state':
      return timing.settleTargetStateMs;
    case 'duplicate-rejecting':
      return timing.settleCreationMs;
    case 'duplicate-accepting':
      return timing.settleInstallMs;
  }
}

/** When an application takes other changes again: the platform has surely given the request up by then. */
export function scopeFreeMs(settleMs: EpochMs, idempotence: WriteClass, timing: Timing): EpochMs {
  const ownMs = settleWindowMs(idempotence, timing);
  return settleMs - ownMs + Math.min(ownMs, timing.settleTargetStateMs);
}

/**
 * The window of an intent that an earlier process left, from now. One found open may not have been sent yet: a process
 * that was overtaken and lives sends it until its deadline.
 */
export function windowLeftMs({ state, idempotence }: Pick<Intent, 'state' | 'idempotence'>, timing: Timing): number {
  return settleWindowMs(idempotence, timing) + (state === 'open' ? timing.sendWithinMs : 0);
}

/** Time since boot is coarse, and two readings are never at one moment. */
const CLOCKS_AGREE_MS = 1_000;

/** A full window from now. */
export function settleWindow(clock: Clock, lengthMs: number): SettleWindow {
  const { boot, uptimeMs } = clock.sinceBoot();
  return { settleMs: clock.now() + lengthMs, settleMark: boot === '' ? '' : `${boot} ${uptimeMs + lengthMs}` };
}

/** The state of an intent's settle window. */
export type SettleState =
  | { readonly type: 'over' }
  | { readonly type: 'until'; readonly untilMs: EpochMs }
  | { readonly type: 'restarted' };

/**
 * Returns whether an intent's window is over. Time since boot decides, because a wall clock that jumps ahead would end the
 * window too early. After another start of the machine the time between is unknown: the window starts again.
 */
export function settleState(intent: Pick<Intent, 'settleMs' | 'settleMark'>, clock: Clock): SettleState {
  const nowMs = clock.now();
  const since = clock.sinceBoot();
  // Only a machine without an id of its start trusts the wall clock, and never that of another machine.
  if (intent.settleMark === '' && since.boot === '')
    return nowMs >= intent.settleMs ? { type: 'over' } : { type: 'until', untilMs: intent.settleMs };
  const [boot, until] = intent.settleMark.split(' ');
  if (boot !== since.boot) return { type: 'restarted' };
  const leftMs = Number(until) - since.uptimeMs;
  if (leftMs <= 0) return { type: 'over' };
  // While the two clocks agree, each message shows the same time.
  const untilMs = nowMs + leftMs;
  return { type: 'until', untilMs: Math.abs(untilMs - intent.settleMs) < CLOCKS_AGREE_MS ? intent.settleMs : untilMs };
}

/** Returns the state of an intent's window. An open intent has none yet: the process that sent it died. */
export function settleStateOf(intent: Intent, clock: Clock): SettleState {
  return intent.state === 'open' ? { type: 'restarted' } : settleState(intent, clock);
}
