interface Entry {
  readonly atMs: number;
  readonly tie: number;
  readonly order: number;
  readonly run: () => void;
}

/**
 * Virtual time and what is due in it: a heap ordered by time, then chance, then order of asking.
 *
 * Between two entries every promise job runs. `process.nextTick` gives exactly that, because Node drains the promise
 * jobs before it looks at the queue of ticks again; it costs a tenth of a microsecond, a timer costs ten.
 */
export class Timeline {
  nowMs = 0;
  readonly #heap: Entry[] = [];
  readonly #tie: () => number;
  #order = 0;

  /** @param tie decides between entries that are due at the same moment. */
  constructor(tie: () => number) {
    this.#tie = tie;
  }

  after(delayMs: number, run: () => void): void {
    const atMs = this.nowMs + Math.max(0, delayMs);
    this.#push({ atMs, tie: this.#tie(), order: this.#order++, run });
  }

  /** Runs what is due until `until` says so or nothing is left; promise jobs are drained before every question. */
  drive(until: () => boolean): Promise<'stopped' | 'idle'> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        try {
          if (until()) return resolve('stopped');
          const next = this.#pop();
          if (next === undefined) return resolve('idle');
          this.nowMs = Math.max(this.nowMs, next.atMs);
          next.run();
        } catch (error) {
          return reject(error as Error);
        }
        queueMicrotask(whenDrained);
      };
      // A tick asked for by a promise job comes when no job is left; one asked for by a tick would come before them.
      const whenDrained = (): void => process.nextTick(turn);
      queueMicrotask(whenDrained);
    });
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent] as Entry)) break;
      heap[at] = heap[parent] as Entry;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const least = right < heap.length && isBefore(heap[right] as Entry, heap[left] as Entry) ? right : left;
      if (!isBefore(heap[least] as Entry, last)) break;
      heap[at] = heap[least] as Entry;
      at = least;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(left: Entry, right: Entry): boolean {
  if (left.atMs !== right.atMs) return left.atMs < right.atMs;
  return left.tie === right.tie ? left.order < right.order : left.tie < right.tie;
}
