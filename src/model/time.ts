/** Milliseconds since 1970-01-01T00:00Z on the wall clock, for display and for times that outlive a process. */
export type EpochMs = number;
/** Milliseconds on a clock that never goes back; only differences have a meaning. */
export type MonotonicMs = number;
