/** A signal of its own that is aborted with another. `AbortSignal.any` would hang on to that other one for ever. */
export interface Following {
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  /** Call it when nobody waits any more. */
  letGo(): void;
}

export function following(other: AbortSignal): Following {
  const own = new AbortController();
  const follow = (): void => own.abort(other.reason);
  other.addEventListener('abort', follow, { once: true });
  if (other.aborted) follow();
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    letGo: () => other.removeEventListener('abort', follow),
  };
}
