/** An item of a heap. It stores its own index, so that it can be removed from the middle. */
export interface HeapItem {
  /** Index in the heap, or -1. Only the heap writes it. */
  index: number;
}

/** A binary heap ordered by `isBefore`. Adding and removing an item costs O(log n). */
export class Heap<Item extends HeapItem> {
  readonly #items: Item[] = [];
  readonly #isBefore: (left: Item, right: Item) => boolean;

  constructor(isBefore: (left: Item, right: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  first(): Item | undefined {
    return this.#items[0];
  }

  add(item: Item): void {
    this.#put(item, this.#items.length);
    this.#rise(item);
  }

  /** @throws RangeError when the item is not in this heap, which is a bug of the caller. */
  remove(item: Item): void {
    if (this.#items[item.index] !== item) throw new RangeError('the item is not in this heap');
    const { index } = item;
    const last = this.#items.pop();
    item.index = -1;
    if (last === undefined || last === item) return;
    this.#put(last, index);
    this.#rise(last);
    this.#sink(last);
  }

  takeFirst(): Item | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  #put(item: Item, index: number): void {
    this.#items[index] = item;
    item.index = index;
  }

  #swap(upper: Item, lower: Item): void {
    const { index } = upper;
    this.#put(upper, lower.index);
    this.#put(lower, index);
  }

  #rise(item: Item): void {
    for (;;) {
      const parent = this.#items[(item.index - 1) >> 1];
      if (parent === undefined || parent === item || !this.#isBefore(item, parent)) return;
      this.#swap(parent, item);
    }
  }

  #sink(item: Item): void {
    for (;;) {
      const left = this.#items[2 * item.index + 1];
      const right = this.#items[2 * item.index + 2];
      const child = right !== undefined && left !== undefined && this.#isBefore(right, left) ? right : left;
      if (child === undefined || !this.#isBefore(child, item)) return;
      this.#swap(item, child);
    }
  }
}
