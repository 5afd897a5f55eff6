/** The numbers of Punycode. @see https://www.rfc-editor.org/rfc/rfc3492#section-5 */
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const CODE_POINT_MAX = 0x10ffff;

/**
 * Returns whether an ASCII form (`bcher-kva`, without its `xn--`) decodes to a text with letters beyond ASCII. Engines differ in
 * what they accept, and the same manifest must be valid everywhere, so this is an own implementation.
 */
export function isPunycode(encoded: string): boolean {
  const delimiter = encoded.lastIndexOf('-');
  let index = delimiter === -1 ? 0 : delimiter + 1;
  if (index === encoded.length) return false;
  let length = Math.max(0, delimiter);
  let codePoint = 128;
  let position = 0;
  let bias = 72;
  while (index < encoded.length) {
    const before = position;
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = digitOf(encoded[index]);
      index += 1;
      if (digit === undefined) return false;
      position += digit * weight;
      if (!Number.isSafeInteger(position)) return false;
      const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX);
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    length += 1;
    bias = adapt(position - before, length, before === 0);
    codePoint += Math.floor(position / length);
    if (codePoint > CODE_POINT_MAX || (codePoint >= 0xd800 && codePoint <= 0xdfff)) return false;
    position = (position % length) + 1;
  }
  return true;
}

function digitOf(character: string | undefined): number | undefined {
  if (character === undefined || !/^[a-z0-9]$/i.test(character)) return undefined;
  const value = Number.parseInt(character, BASE);
  // The digits are the letters (0 to 25), followed by the numerals (26 to 35).
  return value >= 10 ? value - 10 : value + 26;
}

function adapt(delta: number, length: number, first: boolean): number {
  let rest = first ? Math.floor(delta / DAMP) : Math.floor(delta / 2);
  rest += Math.floor(rest / length);
  let k = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) >> 1; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
