import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ControllerEvent } from '../model/status.ts';
import { ApiError, type Problem } from './api.ts';
import { after } from './clock.ts';
import { gaps, onEvent } from './live.ts';

/** Data of the API on a page, kept current by the events. */
export interface Loaded<T> {
  /** undefined: nothing was loaded yet. It stays while it is reloaded, and when a reload fails. */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** The time between two reloads caused by events, at first and while events continue. The first reload is immediate. */
const REFRESH_MIN_MS = 500;
const REFRESH_MAX_MS = 4_000;

/**
 * Loads data and reloads it after events that concern it, and after events were missed.
 * @param key decides what is loaded; another key discards the data, unless `keep` is set.
 */
export function useData<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  { concerns = () => true, keep = false }: { concerns?: (event: ControllerEvent) => boolean; keep?: boolean } = {},
): Loaded<T> {
  const [shown, show] = useState<{ key: string; data?: T; problem?: Problem; isLoading: boolean }>({
    key,
    isLoading: true,
  });
  const latest = useRef({ load, concerns });
  latest.current = { load, concerns };
  const [request, setRequest] = useState(0);
  const reload = useCallback(() => setRequest((count) => count + 1), []);

  useEffect(() => {
    const stop = new AbortController();
    show((was) => (was.key === key || keep ? { ...was, key, isLoading: true } : { key, isLoading: true }));
    latest.current.load(stop.signal).then(
      (data) => {
        if (!stop.signal.aborted) show({ key, data, isLoading: false });
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        show((was) => ({ ...was, problem: error.problem, isLoading: false }));
      },
    );
    return () => stop.abort();
  }, [key, request]);

  useEffect(() => refreshing((event) => latest.current.concerns(event), reload), []);
  const gap = gaps.value;
  const firstGap = useRef(gap);
  useEffect(() => {
    if (gap !== firstGap.current) reload();
  }, [gap]);

  return shown.key === key || keep
    ? { data: shown.data, problem: shown.problem, isLoading: shown.isLoading, reload }
    : { data: undefined, problem: undefined, isLoading: true, reload };
}

/**
 * Calls `refresh` at the first event that concerns it. While events continue, it waits longer and longer between two calls, so that
 * many open pages cannot load the controller; a hidden page waits until it is visible.
 * @returns a function that ends that.
 */
function refreshing(concerns: (event: ControllerEvent) => boolean, refresh: () => void): () => void {
  let cancel: (() => void) | undefined;
  let isDue = false;
  const refreshNow = (waitMs: number): void => {
    isDue = false;
    refresh();
    cancel = after(waitMs, () => {
      cancel = undefined;
      if (isDue && !document.hidden) refreshNow(Math.min(REFRESH_MAX_MS, 2 * waitMs));
    });
  };
  const attempt = (): void => {
    if (isDue && cancel === undefined && !document.hidden) refreshNow(REFRESH_MIN_MS);
  };
  const stop = onEvent((event) => {
    if (!concerns(event)) return;
    isDue = true;
    attempt();
  });
  document.addEventListener('visibilitychange', attempt);
  return () => {
    stop();
    cancel?.();
    document.removeEventListener('visibilitychange', attempt);
  };
}
