import { Chance } from '../chance.ts';

/** Ids that are told apart from everything else, so that equal states are seen to be equal. */
export class ModelChance extends Chance {
  readonly #number: number;
  #drawn = 0;

  constructor(number: number) {
    super(1, 100);
    this.#number = number;
  }

  override hex(bytes: number): string {
    this.#drawn += 1;
    return `f00d${String(this.#number).padStart(2, '0')}${String(this.#drawn).padStart(6, '0')}`.slice(0, bytes * 2);
  }
}
