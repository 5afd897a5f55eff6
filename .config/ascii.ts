/**
 * Returns JavaScript in which an escape stands for each character beyond ASCII. With a single such character, Node keeps a file
 * of a megabyte in twice the memory, in each thread that loads it.
 * @param code the strings, templates and regular expressions of the program; they mean the same with escapes.
 * @throws Error where an escape would mean something else: after a backslash, and in the text of `String.raw`.
 */
export function asciiOf(code: string): string {
  const [unsafe] = /\\[^\0-\x7f]|\bString\.raw`/.exec(code) ?? [];
  if (unsafe !== undefined) throw new Error(`the built program contains ${unsafe}, which cannot be escaped`);
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
