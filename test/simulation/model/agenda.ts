import { Timeline } from '../timeline.ts';

interface Entry {
  readonly atMs: number;
  readonly run: () => void;
}

/** Virtual time that moves only when it is told to. What falls due at one moment runs in the order in which it was asked for. */
export class Agenda extends Timeline {
  /** The earliest last. */
  #entries: Entry[] = [];

  constructor() {
    super(() => 0);
  }

  override after(delayMs: number, run: () => void): void {
    const entry = { atMs: this.nowMs + Math.max(0, delayMs), run };
    const at = this.#entries.findLastIndex(({ atMs }) => atMs > entry.atMs) + 1;
    this.#entries.splice(at, 0, entry);
  }

  override drive(): never {
    throw new Error('the model decides itself what comes next');
  }

  get isDue(): boolean {
    return (this.#entries.at(-1)?.atMs ?? Number.POSITIVE_INFINITY) <= this.nowMs;
  }

  /** Runs the earliest entry, at its time. @returns false: there is none. */
  runNext(): boolean {
    const next = this.#entries.pop();
    if (next === undefined) return false;
    this.nowMs = Math.max(this.nowMs, next.atMs);
    next.run();
    return true;
  }
}

/** Resolves when no promise job is left. */
export function whenDrained(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}
