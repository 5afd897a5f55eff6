/**
 * Control characters, escape sequences and characters that reorder what follows: names on a platform may hold them, and
 * a terminal obeys them. Line feed and tab are kept.
 */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Text as a terminal may show it: what could move the cursor or recolour the screen is written as `\u001b`. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** As `safeText`, on one line. */
export function safeLine(text: string): string {
  return safeText(text).replace(/\n/g, '\\n').replace(/\t/g, '\\t');
}
