import { isPending } from './books.ts';
import type { Chance } from './chance.ts';
import type { Process, World } from './world.ts';

/** How a pass ended that left nothing to do. */
export interface Rested {
  /** `World.happened` at its end. */
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
export class Pauses {
  /** Steps that were rests. */
  steps = 0;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #restsLong: boolean;

  /** @param restsLong else every pause ends in a pass. */
  constructor(world: World, chance: Chance, restsLong: boolean) {
    this.#world = world;
    this.#chance = chance;
    this.#restsLong = restsLong;
  }

  /** Calls when the process shall look again, if it lives then. */
  after(controller: Process, wake: () => void): void {
    const pauseMs = this.#chance.pick(PAUSES_MS);
    this.#world.timeline.after(pauseMs === 'settled' ? this.#untilSettledMs() : pauseMs, () => {
      if (!controller.alive) return;
      if (!this.#world.isCalm && this.#restsOn(controller)) this.after(controller, wake);
      else wake();
    });
  }

  #restsOn(controller: Process): boolean {
    if (!this.#restsLong || !this.#wouldFindTheSame(controller)) return false;
    const looksAgain = controller.rested?.hasWritten === true || this.#isInDoubt() ? REPEATED_OFTEN : REPEATED;
    if (this.#chance.happens(looksAgain)) return false;
    for (let step = 0; step < STEPS_PER_REST && this.#wouldFindTheSame(controller); step += 1) {
      this.steps += 1;
      if (this.#world.begin(controller, { kind: 'rest', operation: 'rest' }) === 'dead') return true;
    }
    return this.#wouldFindTheSame(controller);
  }

  #wouldFindTheSame({ rested, stopping }: Process): boolean {
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
