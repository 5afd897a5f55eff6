import type { ServerResponse } from 'node:http';

export type Unsent = ReturnType<typeof createUnsent>;

/**
 * Counts answers that their clients have not received yet.
 * @param maxBytes memory that slow clients may use together. A single answer may be larger.
 */
export function createUnsent(maxBytes: number) {
  /** Bytes by response, oldest first. */
  const open = new Map<ServerResponse, number>();
  let sum = 0;
  const forget = (response: ServerResponse): void => {
    sum -= open.get(response) ?? 0;
    open.delete(response);
  };
  return {
    /** Counts an answer until its client has received it. Closes the oldest answers while all together exceed the limit. */
    add(response: ServerResponse, bytes: number): void {
      open.set(response, bytes);
      sum += bytes;
      for (const end of ['finish', 'close'] as const) response.once(end, () => forget(response));
      for (const oldest of open.keys()) {
        if (sum <= maxBytes || oldest === response) return;
        forget(oldest);
        oldest.destroy();
      }
    },
  };
}
