import type { ServerResponse } from 'node:http';

export type Unsent = ReturnType<typeof createUnsent>;

/**
 * Counts answers that their readers have not taken yet.
 * @param maxBytes of memory that slow readers may hold together. One answer alone may be larger.
 */
export function createUnsent(maxBytes: number) {
  /** Oldest first. */
  const open = new Map<ServerResponse, number>();
  let sum = 0;
  const forget = (response: ServerResponse): void => {
    sum -= open.get(response) ?? 0;
    open.delete(response);
  };
  return {
    /** Counts an answer until its reader has it. Closes the oldest ones while all together are over the limit. */
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
