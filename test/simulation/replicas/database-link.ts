import { type DatabaseLink, LinkLost } from '../../support/memory-database.ts';
import type { Chance } from '../chance.ts';
import { never } from '../wire.ts';
import { full } from '../../../src/ledger/errors.ts';
import type { Peer, ReplicaSurroundings } from './surroundings.ts';

/** Statements that change something of the ledger: points at which a process may die, and be cut off. */
const STEPS = new Set(['commit', 'take', 'release', 'command', 'finish']);
/** A connection that is cut is noticed within this time. */
const NOTICED_MS_MAX = 5_000;

/** The way of one replica to the database, in virtual time. */
export class SimulatedLink implements DatabaseLink {
  readonly #world: ReplicaSurroundings;
  readonly #replica: Peer;
  readonly #chance: Chance;

  constructor(world: ReplicaSurroundings, replica: Peer, chance: Chance) {
    this.#world = world;
    this.#replica = replica;
    this.#chance = chance;
  }

  run<Answer>(operation: string, statement: () => Answer): Promise<Answer> {
    const world = this.#world;
    const replica = this.#replica;
    const isStep = STEPS.has(operation);
    const step = isStep ? world.begin(replica, { kind: 'commit', operation }) : undefined;
    if (step === 'dead' || !replica.alive) return never();
    return new Promise((resolve, reject) => {
      const hears = (answer: () => void, ms: number): void => world.timeline.after(ms, () => replica.receive(answer));
      if (replica.isCut('requests') || world.isOut())
        return hears(() => reject(new LinkLost(false)), this.#chance.int(NOTICED_MS_MAX));
      const carryOut = (): void => {
        if (operation === 'commit' && world.takeFullDisk()) return hears(() => reject(full('memory', undefined)), 1);
        const answer = outcomeOf(statement);
        if (step !== undefined && world.diesAfter(replica, step)) return;
        if (replica.isCut('answers')) return hears(() => reject(new LinkLost(true)), this.#chance.int(NOTICED_MS_MAX));
        const ms = 1 + this.#chance.int(isStep ? 8 : 4);
        hears(() => ('error' in answer ? reject(answer.error as Error) : resolve(answer.value)), ms);
      };
      // What only reads is carried out at once, which saves half of the entries of the timeline.
      if (isStep) world.timeline.after(this.#chance.int(8), carryOut);
      else carryOut();
    });
  }

  signal(deliver: () => void): void {
    const world = this.#world;
    if (this.#chance.happens(world.lostSignals) || this.#replica.isCut('answers')) return;
    world.timeline.after(this.#chance.int(50), () => this.#replica.receive(deliver));
  }
}

function outcomeOf<Answer>(statement: () => Answer): { readonly value: Answer } | { readonly error: unknown } {
  try {
    return { value: statement() };
  } catch (error) {
    return { error };
  }
}
