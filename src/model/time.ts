/** Milliseconds since 1970-01-01T00:00Z on the wall clock. For display and for windows that outlive a process. */
export type EpochMs = number;
/** Milliseconds on a clock that never goes back; only differences mean anything. */
export type MonotonicMs = number;
