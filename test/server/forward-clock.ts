import { type Clock, systemClock } from '../../src/runtime/clock.ts';

/** The real clock, which a test can set forward (`advance`), and whose wall clock it can change (`jump`). */
export function forwardClock() {
  let aheadMs = 0;
  let wallMs = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + aheadMs + wallMs,
    monotonic: () => systemClock.monotonic() + aheadMs,
  };
  return { clock, advance: (ms: number) => void (aheadMs += ms), jump: (ms: number) => void (wallMs += ms) };
}
