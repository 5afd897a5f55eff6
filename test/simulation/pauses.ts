import { type Books, isPending } from './books.ts';
import type { Chance } from './chance.ts';
import type { Effect } from './perturbations.ts';
import type { Server } from './server.ts';
import type { Timeline } from './timeline.ts';

/** A process between its passes. */
export interface Resting {
  readonly alive: boolean;
  readonly stopping: boolean;
  /** What its next pass would find if nothing happens until then; undefined: something new. */
  readonly rested: Rested | undefined;
}

/** The world, as far as a process that rests has to do with it. */
export interface Surroundings<P extends Resting> {
  readonly timeline: Timeline;
  readonly books: Books;
  readonly server: Server;
  readonly isCalm: boolean;
  /** How much has happened to what a pass looks at. */
  readonly happened: number;
  begin(process: P, effect: Effect): object | 'dead';
}

/** How a pass ended that left nothing to do. */
export interface Rested {
  /** `Surroundings.happened` at its end. */
  readonly happened: number;
  /** It was the pass that did it: the next one shows that nothing is left to write. */
  readonly hasWritten: boolean;
}

/** How often a process looks again where nothing has happened since it last looked. */
const REPEATED = 0.1;
/** After a pass that wrote, and while a request is in doubt. */
const REPEATED_OFTEN = 0.4;
/** As many as a pass has that only looks. */
const STEPS_PER_REST = 2;

/** Between passes: sometimes long enough for a settle window to end. */
const PAUSES_MS = [500, 5_000, 5_000, 30_000, 100_000, 310_000, 1_210_000, 'settled'] as const;

/**
 * When a process looks again. A pass that finds what the last one found proves little more: mostly a process rests in
 * its place, until something happens. What may befall the steps of a pass may befall those of a rest.
 */
export class Pauses<P extends Resting> {
  /** Steps that were rests. */
  steps = 0;
  readonly #world: Surroundings<P>;
  readonly #chance: Chance;
  readonly #restsLong: boolean;

  /** @param restsLong else every pause ends in a pass. */
  constructor(world: Surroundings<P>, chance: Chance, restsLong: boolean) {
    this.#world = world;
    this.#chance = chance;
    this.#restsLong = restsLong;
  }

  /** Calls when the process shall look again, if it lives then. */
  after(process: P, wake: () => void): void {
    const pauseMs = this.#chance.pick(PAUSES_MS);
    this.#world.timeline.after(pauseMs === 'settled' ? this.#untilSettledMs() : pauseMs, () => {
      if (!process.alive) return;
      if (!this.#world.isCalm && this.#restsOn(process)) this.after(process, wake);
      else wake();
    });
  }

  #restsOn(process: P): boolean {
    if (!this.#restsLong || !this.#wouldFindTheSame(process)) return false;
    const looksAgain = process.rested?.hasWritten === true || this.#isInDoubt() ? REPEATED_OFTEN : REPEATED;
    if (this.#chance.happens(looksAgain)) return false;
    for (let step = 0; step < STEPS_PER_REST && this.#wouldFindTheSame(process); step += 1) {
      this.steps += 1;
      if (this.#world.begin(process, { kind: 'rest', operation: 'rest' }) === 'dead') return true;
    }
    return this.#wouldFindTheSame(process);
  }

  #wouldFindTheSame({ rested, stopping }: P): boolean {
    return rested?.happened === this.#world.happened && !stopping && !this.#world.server.isRestless();
  }

  #isInDoubt(): boolean {
    for (const intent of this.#world.books.intents.values()) if (isPending(intent)) return true;
    return false;
  }

  /** Until the window of an intent in doubt is over, to the millisecond. */
  #untilSettledMs(): number {
    const { books, timeline } = this.#world;
    for (const { state, settleMark } of books.intents.values()) {
      const untilMs = Number(settleMark.split(' ')[1]);
      if (state === 'unknown' && untilMs > timeline.nowMs) return untilMs - timeline.nowMs;
    }
    return 10_000;
  }
}
