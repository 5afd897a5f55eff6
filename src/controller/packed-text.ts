import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** A text in a small form. A daemon keeps one of each of ten thousand applications, and most are never read. */
export type PackedText = string & { readonly isPacked: true };

/** Small tables: with the default ones, zlib clears more memory for each text than it reads. */
const TABLES = { windowBits: 12, memLevel: 5 };

/** Returns the text, compressed, with one character for each byte: a buffer would take 200 bytes more. */
export function packText(text: string): PackedText {
  return deflateRawSync(text, TABLES).toString('latin1') as PackedText;
}

export function unpackText(packed: PackedText): string {
  return inflateRawSync(Buffer.from(packed, 'latin1'), TABLES).toString('utf8');
}
