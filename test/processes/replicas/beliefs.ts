import { setTimeout as sleep } from 'node:timers/promises';
import type { Claim } from './oracles/claims.ts';
import type { Replica } from './replica.ts';

const EVERY_MS = 250;
const HELD = /^portolan_lease_held\{unit="([^"]+)"\} 1$/gm;

/** Reads again and again which units each replica believes to lead. */
export class BeliefObserver {
  /** Claims since they were taken last. */
  #claims: Claim[] = [];
  readonly #replicas: readonly Replica[];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** Processes that have not answered yet, such as stopped ones. */
  readonly #asked = new Map<number, Promise<void>>();
  /** The last answer of each process: it gives the same text to all that ask within a second, and after a suspension an old one. */
  readonly #last = new Map<number, string>();

  /** @param replicas the array that faults change. */
  constructor(replicas: readonly Replica[]) {
    this.#replicas = replicas;
    this.#running = this.#run();
  }

  take(): readonly Claim[] {
    return this.#claims.splice(0);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await Promise.all(this.#asked.values());
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      for (const replica of this.#replicas) {
        const { pid } = replica;
        if (!replica.isRunning || replica.url === undefined || this.#asked.has(pid)) continue;
        this.#asked.set(
          pid,
          this.#ask(replica, pid).finally(() => this.#asked.delete(pid)),
        );
      }
      await sleep(EVERY_MS, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  async #ask(replica: Replica, pid: number): Promise<void> {
    const fromMs = Date.now();
    const text = await replica.metrics(this.#stop.signal);
    const toMs = Date.now();
    if (text === undefined || text === this.#last.get(pid)) return;
    this.#last.set(pid, text);
    this.#claims.push(...claimsIn(text).map((claim) => ({ replica: replica.name, pid, fromMs, toMs, ...claim })));
  }
}

/** Returns the units that a text of metrics claims. */
export function claimsIn(text: string): readonly Pick<Claim, 'unit' | 'leftMs'>[] {
  return [...text.matchAll(HELD)].map(([, unit = '']) => {
    const left = new RegExp(`^portolan_lease_remaining_seconds\\{unit="${unit}"\\} (\\S+)$`, 'm').exec(text);
    return { unit, leftMs: Math.max(0, Number(left?.[1] ?? 0) * 1_000) };
  });
}
