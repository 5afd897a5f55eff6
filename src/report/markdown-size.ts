/** A part of a text that may be shortened: whole items are left out, from its end. */
export interface Block {
  readonly items: readonly string[];
  /** The most that it takes of what is left for all, 0 to 1. */
  readonly share: number;
  /** The part with these items. Called with none only if there are none at all. */
  wrap(items: readonly string[]): string;
}

export interface Fitted {
  readonly parts: readonly string[];
  /** How many items each block lost. */
  readonly leftOut: readonly number[];
}

/** UTF-8: what a limit counts is characters or bytes, and no text has more characters than bytes. */
export function sizeOf(text: string): number {
  return Buffer.byteLength(text);
}

/** Takes as much of each block, in their order, as `bytes` hold; a block of which nothing fits is left out as a whole. */
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

/** Between two parts. */
const SEPARATOR_BYTES = 2;

/** By halving: wrapping may cost more for some items than for others, but never less for more of them. */
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
