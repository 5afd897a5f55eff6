import type { LeaseUnit, UnitLeader } from '../../ledger/shared.ts';
import { PortolanError } from '../../model/errors.ts';
import type { Log } from '../../runtime/log.ts';

/**
 * Returns the leaders of sources that are none of these units. A platform has one leader for all sources, which reconciles its own source
 * only: the applications of the others would never be reconciled.
 */
export function leadersOfOthers(leaders: readonly UnitLeader[], units: readonly LeaseUnit[]): readonly UnitLeader[] {
  return leaders.filter(({ unit, leftMs }) => unit.startsWith('source:') && leftMs > 0 && !units.includes(unit));
}

/** Returns why a controller cannot work beside the leader of another source. */
export function otherSource({ replica, unit }: UnitLeader): PortolanError {
  return new PortolanError({
    code: 'controller/other-source',
    disposition: 'retry',
    message: `The controller ${replica} works on another source, "${unit.slice('source:'.length)}", with this ledger. A platform has one leader for all sources, which reconciles its own source only.`,
    remedy:
      'Give the controllers of each source a ledger of their own (?schema=NAME), or the same --source. To rename the source, stop all controllers, and start them with the new name.',
  });
}

/** Logs once that a controller of another source runs: both may have started at the same moment. */
export class RivalNotes {
  readonly #log: Pick<Log, 'error'>;
  #last: LeaseUnit | undefined;

  constructor(log: Pick<Log, 'error'>) {
    this.#log = log;
  }

  /** @param rivals as `leadersOfOthers` returns them. */
  note([rival]: readonly UnitLeader[]): void {
    if (rival !== undefined && rival.unit !== this.#last) {
      const { message, code, remedy } = otherSource(rival);
      this.#log.error(message, { code, remedy });
    }
    this.#last = rival?.unit;
  }
}
