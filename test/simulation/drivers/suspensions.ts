import type { AppName } from './estate.ts';

/** How often the end of a suspension was asked for, and who waits for it. */
interface Resuming {
  asked: number;
  readonly open: Set<() => boolean>;
  /** Since when it is suspended if all of them are refused. */
  beforeMs: number | undefined;
}

/** Which applications persons have suspended, as far as anybody can know. */
export class Suspensions {
  readonly #sinceMs = new Map<AppName, number>();
  readonly #resuming = new Map<AppName, Resuming>();

  /** Since when it is suspended for sure. */
  since(name: AppName): number | undefined {
    return this.#sinceMs.get(name);
  }

  /**
   * A person asks for a suspension.
   * @returns called when it is confirmed. Another person may have asked for the opposite at the same time: then nobody knows which of the
   * two was carried out last.
   */
  suspends(name: AppName): (nowMs: number) => void {
    const { asked } = this.#resumingOf(name);
    // It may be carried out later than this, and be answered before.
    const isContested = this.#isResuming(name);
    return (nowMs) => {
      if (isContested || this.#isResuming(name) || this.#resumingOf(name).asked !== asked) return;
      this.#sinceMs.set(name, nowMs);
    };
  }

  /**
   * A person asks for the end of a suspension.
   * @param isAlive whether it may still be on its way.
   * @returns called when it is answered; `isRefused`: nothing has changed.
   */
  resumes(name: AppName, isAlive: () => boolean): (isRefused: boolean) => void {
    const resuming = this.#resumingOf(name);
    resuming.beforeMs = this.#sinceMs.get(name) ?? resuming.beforeMs;
    this.#sinceMs.delete(name);
    resuming.asked += 1;
    resuming.open.add(isAlive);
    return (isRefused) => {
      resuming.open.delete(isAlive);
      if (!isRefused) resuming.beforeMs = undefined;
      // Another one that nobody has answered may have been carried out.
      if (resuming.beforeMs === undefined || resuming.open.size > 0) return;
      this.#sinceMs.set(name, resuming.beforeMs);
      resuming.beforeMs = undefined;
    };
  }

  /** The same for another world. */
  copy(): Suspensions {
    const copy = new Suspensions();
    for (const [name, sinceMs] of this.#sinceMs) copy.#sinceMs.set(name, sinceMs);
    return copy;
  }

  #isResuming(name: AppName): boolean {
    return [...this.#resumingOf(name).open].some((isAlive) => isAlive());
  }

  #resumingOf(name: AppName): Resuming {
    let resuming = this.#resuming.get(name);
    if (resuming === undefined)
      this.#resuming.set(name, (resuming = { asked: 0, open: new Set(), beforeMs: undefined }));
    return resuming;
  }
}
