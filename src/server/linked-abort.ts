/** Returns a controller that is aborted with another signal. `AbortSignal.any` would keep a reference to that signal for ever. */
export function linkedAbort(other: AbortSignal) {
  const own = new AbortController();
  const follow = (): void => own.abort(other.reason);
  other.addEventListener('abort', follow, { once: true });
  if (other.aborted) follow();
  return {
    signal: own.signal,
    abort: (reason: Error): void => own.abort(reason),
    /** Stops following the other signal. */
    unlink: (): void => other.removeEventListener('abort', follow),
  };
}
