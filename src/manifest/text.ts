import { isAscii } from 'node:buffer';
import { type Fault, faultAt, type FaultWords } from './fault.ts';
import { LIMITS } from './limits.ts';

/** One file of a source, or standard input. */
export interface SourceFile {
  /** The path as the user wrote it, or `<stdin>`, for messages. */
  readonly path: string;
  readonly content: string | Uint8Array;
  /** The id of the content (a git object id). A file with a known id is not parsed again. */
  readonly contentId?: string;
}

/**
 * Returns the content of a file as it takes the least memory for as long as the file is kept: bytes have 300 more of their own. All else
 * than plain ASCII stays bytes, because only they say whether the file is UTF-8.
 */
export function keptContent(bytes: Uint8Array): string | Uint8Array {
  return isAscii(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1') : bytes;
}

/**
 * Characters that make a text look different from its meaning, or that the YAML lexer uses internally:
 * NUL and the other C0 and C1 controls, bidirectional controls, an inner byte order mark, a lone carriage return.
 */
const UNSAFE =
  // oxlint-disable-next-line eslint/no-control-regex -- The pattern must find them.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffd-\uffff]|\r(?!\n)|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Replaces an unsafe character. */
export const REPLACEMENT = '\ufffd';

/**
 * Decodes a file and finds unsafe characters.
 * @returns the text to parse, in which each unsafe character is replaced; `undefined` if the file cannot be decoded.
 */
export function decode(content: string | Uint8Array): { readonly text?: string; readonly faults: readonly Fault[] } {
  const size = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
  if (size > LIMITS.fileBytes) {
    return { faults: [faultAt(0, tooLarge(size))] };
  }
  const text = typeof content === 'string' ? content : decodeUtf8(content);
  if (text === undefined) return { faults: [notUtf8(content as Uint8Array)] };
  const bare = text.startsWith('\ufeff') ? text.slice(1) : text;
  return replaceUnsafe(bare);
}

/** Returns the fault of a file that is larger than a manifest may be. @param size bytes. */
export function tooLarge(size: number): FaultWords {
  return {
    code: 'limit/file-size',
    message: `the file has ${size.toLocaleString('en')} bytes; it was not read`,
    expected: `at most ${LIMITS.fileBytes.toLocaleString('en')} bytes (256 KiB)`,
    hint: 'split it: the documents may be in any number of files',
  };
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // The only error of the decoder: the bytes are not UTF-8.
  }
}

function notUtf8(bytes: Uint8Array): Fault {
  const [first, second] = bytes;
  const utf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return faultAt(0, {
    code: 'yaml/encoding',
    message: utf16 ? 'the file is UTF-16' : 'the file is not valid UTF-8',
    expected: 'text in UTF-8',
    hint: utf16 ? 'save it as UTF-8' : 'save it as UTF-8, or keep files that are not manifests out of this folder',
  });
}

function replaceUnsafe(text: string): { readonly text: string; readonly faults: readonly Fault[] } {
  let first: RegExpExecArray | undefined;
  let more = -1;
  // Matches are not collected, because a file may contain nothing else.
  for (const match of text.matchAll(UNSAFE)) {
    first ??= match;
    more += 1;
  }
  if (first === undefined) return { text, faults: [] };
  const fault = faultAt(first.index, {
    code: 'yaml/unsafe-character',
    message: `${describeCharacter(first[0])} is not allowed here${more === 0 ? '' : `, and ${more} more of this sort follow`}`,
    expected: 'printable text, line breaks and tabs',
    hint: 'delete it; many editors show it only when asked to show invisible characters',
  });
  return { text: text.replace(UNSAFE, REPLACEMENT), faults: [fault] };
}

/** Returns a description of the first character of a value that must not reach the platform; `undefined` if there is none. */
export function unsafeCharacter(value: string): string | undefined {
  UNSAFE.lastIndex = 0;
  const match = UNSAFE.exec(value) ?? /\r/.exec(value);
  return match === null ? undefined : describeCharacter(match[0]);
}

/** Returns a text for comments, in which each unsafe character is written as `\\u202e`. */
export function withoutUnsafe(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function describeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `${nameOfCharacter(code)} (U+${code.toString(16).toUpperCase().padStart(4, '0')})`;
}

function nameOfCharacter(code: number): string {
  if (code === 0) return 'a NUL character';
  if (code === 0x0d) return 'a carriage return';
  if (code === 0xfffd) return 'a replacement character, left by a wrong conversion,';
  if (code === 0xfeff) return 'a byte order mark inside the text';
  if (code >= 0xd800 && code <= 0xdfff) return 'half of a surrogate pair';
  if (code >= 0x061c && code < 0xfff0) return 'an invisible character that changes the direction of text';
  return 'a control character';
}
