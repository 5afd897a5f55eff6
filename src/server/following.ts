/** A signal of its own that is aborted with another. `AbortSignal.any` would hang on to that other one for ever. */
export function following(other: AbortSignal) {
  const own = new AbortController();
  const follow = (): void => own.abort(other.reason);
  other.addEventListener('abort', follow, { once: true });
  if (other.aborted) follow();
  return {
    signal: own.signal,
    abort: (reason: Error): void => own.abort(reason),
    /** Call it when nobody waits any more. */
    letGo: (): void => other.removeEventListener('abort', follow),
  };
}
