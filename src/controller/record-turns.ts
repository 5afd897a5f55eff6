import type { ResourceId } from '../model/ids.ts';

/** Lets the writes of each stored record run one after another, also if the source removes an application and names it again. */
export class RecordTurns {
  readonly #last = new Map<ResourceId, Promise<void>>();

  run<Result>(id: ResourceId, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(id);
    const turn = before === undefined ? work() : before.then(work);
    const forget = (): void => {
      if (this.#last.get(id) === end) this.#last.delete(id);
    };
    const end = turn.then(forget, forget);
    this.#last.set(id, end);
    return turn;
  }
}
