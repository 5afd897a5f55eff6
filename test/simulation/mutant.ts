import type { ApplyWorld } from '../../src/reconcile/apply/world.ts';
import type { LedgerHost } from './ledgers.ts';

/** A protocol that is wrong on purpose. The real one changes nothing. */
export interface Mutant {
  readonly name: string;
  world(world: ApplyWorld): ApplyWorld;
  /** Changes what all processes share, and says how to change it back. */
  patch(): () => void;
  /** undefined: the ledger that the schedule would have. */
  ledgers(): LedgerHost | undefined;
}

export const unchanged: Mutant = {
  name: 'none',
  world: (world) => world,
  patch: () => () => {},
  ledgers: () => undefined,
};
