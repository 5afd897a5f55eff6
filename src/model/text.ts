/**
 * Control characters, and characters that change the direction of text. Names on a platform may contain them, and a
 * terminal obeys them. Line feed and tab are not among them.
 */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Returns text that a terminal may show: characters that could move the cursor or change colours become `\u001b`. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns the same as `safeText`, on one line. */
export function safeLine(text: string): string {
  return safeText(text).replace(/\n/g, '\\n').replace(/\t/g, '\\t');
}

/** Compares texts by code unit, independently of the locale. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
