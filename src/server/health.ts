import type { ControllerApi } from '../controller/api.ts';
import type { Clock } from '../runtime/clock.ts';
import type { MonotonicMs } from '../model/time.ts';
import { lookAt } from '../runtime/look.ts';

const BEAT_MS = 1_000;
const LAG_MAX_MS = 10_000;
/** Beats whose delays are kept for the longest one. */
const BEATS_KEPT = 300;
/** Requests within this time get the previous answer. The route needs no token, so anyone can call it often. */
const LEDGER_ASKED_MS = 1_000;

export type Health = ReturnType<typeof watchHealth>;

/** Measures how late timers of this process are, until `signal` is aborted. */
export function watchHealth(api: ControllerApi, clock: Clock, signal: AbortSignal) {
  let beatAtMs = clock.monotonic();
  let lastLagMs = 0;
  const lags: number[] = [];
  void (async () => {
    for (;;) {
      try {
        await clock.sleep(BEAT_MS, signal);
      } catch {
        return; // It closes.
      }
      lastLagMs = Math.max(0, clock.monotonic() - beatAtMs - BEAT_MS);
      lags.push(lastLagMs);
      if (lags.length > BEATS_KEPT) lags.shift();
      beatAtMs = clock.monotonic();
    }
  })();
  const look = lookAt(clock, async () => api.history({ limit: 1 }));
  const ledgerAnswers = (): Promise<boolean> =>
    look().then(
      (rows) => rows !== undefined,
      () => false,
    );
  let ledger: { readonly atMs: MonotonicMs; readonly isOk: Promise<boolean> } | undefined;
  const ledgerIsOk = (): Promise<boolean> => {
    if (ledger === undefined || clock.monotonic() - ledger.atMs > LEDGER_ASKED_MS) {
      ledger = { atMs: clock.monotonic(), isOk: ledgerAnswers() };
    }
    return ledger.isOk;
  };
  return {
    /** Returns the delay of the last timer in milliseconds. Above `LAG_MAX_MS` the process is stuck. */
    lag: () => {
      const lagMs = Math.max(lastLagMs, clock.monotonic() - beatAtMs - BEAT_MS, 0);
      return { lagMs: Math.round(lagMs), isAlive: lagMs <= LAG_MAX_MS };
    },
    /** Returns the longest delay of a timer in the last five minutes, in milliseconds. */
    longestLagMs: () => Math.round(Math.max(lastLagMs, ...lags)),
    /** Returns why the process is not ready; empty when it is. The reasons contain no private data, because anyone can read them. */
    obstacles: async (): Promise<readonly string[]> => {
      const { phase, database, source } = api.status();
      const obstacles: string[] = [];
      if (phase === 'draining') obstacles.push('draining');
      const { error } = source;
      if (phase === 'starting')
        obstacles.push(
          error === null ? 'the source was not loaded yet' : `the source was not accepted yet: ${error.code}`,
        );
      // A replica has loaded its state from the database. Without the database, it serves that state with its age.
      if (database === undefined && !(await ledgerIsOk())) obstacles.push('the ledger does not answer');
      return obstacles;
    },
  };
}
