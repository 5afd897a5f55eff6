/** Part of a lease that the way of a request's first byte may take, and as much as a margin. */
const SEND_PART = 8;
const SEND_MS_MAX = 2_000;

/** Returns for how long a lease must be valid when a request leaves: the way of its first byte, and a margin. */
export function sendMarginMs(leaseMs: number): number {
  return Math.min(SEND_MS_MAX, leaseMs / SEND_PART) + leaseMs / SEND_PART;
}
