/** The waits of one process. */
export class Sleeps {
  readonly #open = new Set<() => void>();

  /** @returns a promise that is kept once `wake` is called, and rejected once the signal is aborted. */
  begin(signal: AbortSignal | undefined, wakes: (wake: () => void) => void): Promise<void> {
    if (signal === undefined) return new Promise((resolve) => wakes(resolve));
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const leave = (): void => {
        signal.removeEventListener('abort', abort);
        this.#open.delete(leave);
      };
      const abort = (): void => {
        this.#open.delete(leave);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#open.add(leave);
      wakes(() => {
        leave();
        resolve();
      });
    });
  }

  /** Nobody wakes any more. Node.js keeps a signal of `AbortSignal.any`, and all that waits for it, as long as anybody listens. */
  end(): void {
    for (const leave of this.#open) leave();
  }
}
