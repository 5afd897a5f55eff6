import type { Random } from '../../src/runtime/random.ts';

const HEX = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'));

/** Repeatable chance (mulberry32). A stream of its own per purpose, so that one draw more here moves nothing there. */
export class Chance implements Random {
  #state: number;

  constructor(seed: number, stream = 0) {
    this.#state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35)) >>> 0;
    this.next();
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  hex(bytes: number): string {
    let text = '';
    for (let index = 0; index < bytes; index += 1) text += HEX[Math.floor(this.next() * 256)];
    return text;
  }

  /** Whole, in [0, below). */
  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** Whole, in [least, most]. */
  between(least: number, most: number): number {
    return least + this.int(most - least + 1);
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    const found = from[this.int(from.length)];
    if (found === undefined) throw new Error('nothing to pick from');
    return found;
  }

  shuffled<T>(from: readonly T[]): T[] {
    const list = [...from];
    for (let index = list.length - 1; index > 0; index -= 1) {
      const other = this.int(index + 1);
      [list[index], list[other]] = [list[other] as T, list[index] as T];
    }
    return list;
  }
}
