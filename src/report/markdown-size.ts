/** A part of a text that may be shortened by leaving out items at its end. */
export interface Block {
  readonly items: readonly string[];
  /** The maximum share of the remaining bytes, 0 to 1. */
  readonly share: number;
  /** Returns the part with these items. It gets no items only if the block has none. */
  wrap(items: readonly string[]): string;
}

export interface Fitted {
  readonly parts: readonly string[];
  /** The number of items that each block lost. */
  readonly leftOut: readonly number[];
}

/** Returns the size in bytes of UTF-8, which is at least the number of characters. */
export function sizeOf(text: string): number {
  return Buffer.byteLength(text);
}

/** Fits blocks into `bytes` bytes, in their order. A block of which no item fits is left out. */
export function fit(blocks: readonly Block[], bytes: number): Fitted {
  let left = bytes;
  const parts: string[] = [];
  const leftOut: number[] = [];
  for (const block of blocks) {
    const taken = itemsThatFit(block, Math.floor(left * block.share));
    leftOut.push(block.items.length - taken);
    if (taken === 0 && block.items.length > 0) continue;
    const part = block.wrap(block.items.slice(0, taken));
    parts.push(part);
    left -= sizeOf(part) + SEPARATOR_BYTES;
  }
  return { parts, leftOut };
}

/** The separator between two parts. */
const SEPARATOR_BYTES = 2;

/** Returns the number of items that fit, by bisection: more items never take fewer bytes. */
function itemsThatFit({ items, wrap }: Block, bytes: number): number {
  if (items.length === 0 || sizeOf(wrap(items)) + SEPARATOR_BYTES <= bytes) return items.length;
  let [fits, tooMany] = [0, items.length];
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1;
    if (sizeOf(wrap(items.slice(0, middle))) + SEPARATOR_BYTES <= bytes) fits = middle;
    else tooMany = middle;
  }
  return fits;
}
