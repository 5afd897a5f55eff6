import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { SourceFile } from '../manifest/text.ts';

/** Files in parts, to be written down. A part holds the files whose paths have one hash. */
export interface Packed {
  /** What each part says, as a digest. */
  readonly digests: readonly string[];
  /** Those that are other than asked. */
  readonly parts: Iterable<PackedPart> | AsyncIterable<PackedPart>;
}

export interface PackedPart {
  readonly place: number;
  /** Its files, compressed, in base64. */
  readonly text: string;
}

interface StoredFile {
  readonly path: string;
  readonly base64: string;
  readonly contentId?: string;
}

/** On average. One changed file is written with so many others. */
const FILES_OF_PART = 32;

/** How the files were divided when they were last packed. */
interface Division {
  readonly files: readonly SourceFile[];
  readonly parts: readonly (readonly SourceFile[])[];
  /** Of each part. */
  readonly digests: readonly string[];
}

/** Packs the files of one reading after another; parts of which no file changed are not gone through again. */
export class Packer {
  #last: Division | undefined;

  /** @param known digests of the parts that are written down already. */
  pack(files: readonly SourceFile[], known: readonly string[]): Packed {
    const { parts, digests } = (this.#last = divided(files, this.#last));
    return { digests, parts: partsOtherThan(known, parts, digests) };
  }
}

/** Files of a part. */
export async function unpack(text: string): Promise<readonly SourceFile[]> {
  const stored = (await promisify(gunzip)(Buffer.from(text, 'base64'))).toString('utf8');
  return (JSON.parse(stored) as readonly StoredFile[]).map(({ path, base64, contentId }) => ({
    path,
    content: Buffer.from(base64, 'base64'),
    ...(contentId === undefined ? {} : { contentId }),
  }));
}

async function* partsOtherThan(
  known: readonly string[],
  parts: Division['parts'],
  digests: Division['digests'],
): AsyncGenerator<PackedPart> {
  for (const [place, part] of parts.entries())
    if (known[place] !== digests[place]) yield { place, text: await packed(part) };
}

/** Only files that are other objects than the last time are looked at, where nothing else changed. */
function divided(files: readonly SourceFile[], last: Division | undefined): Division {
  const changed = last && changedSince(last.files, files);
  if (last === undefined || changed === undefined) {
    const parts = partsOf(files);
    return { files, parts, digests: parts.map(digestOf) };
  }
  const parts = [...last.parts];
  const places = new Set<number>();
  for (const [old, file] of changed) {
    const place = placeOf(file, parts.length);
    parts[place] = (parts[place] ?? []).map((one) => (one === old ? file : one));
    places.add(place);
  }
  const digests = last.digests.map((digest, place) => (places.has(place) ? digestOf(parts[place] ?? []) : digest));
  return { files, parts, digests };
}

/** undefined where there are others, or others in another order. */
function changedSince(
  before: readonly SourceFile[],
  now: readonly SourceFile[],
): readonly (readonly [old: SourceFile, file: SourceFile])[] | undefined {
  if (before.length !== now.length) return undefined;
  const changed: (readonly [SourceFile, SourceFile])[] = [];
  for (let index = 0; index < now.length; index += 1) {
    const old = before[index] as SourceFile;
    const file = now[index] as SourceFile;
    if (old === file) continue;
    if (old.path !== file.path) return undefined;
    changed.push([old, file]);
  }
  return changed;
}

/** As many parts as a power of two, so that the number seldom changes, and with it what is in which. */
function partsOf(files: readonly SourceFile[]): readonly (readonly SourceFile[])[] {
  const count = 2 ** Math.ceil(Math.log2(Math.max(1, files.length / FILES_OF_PART)));
  const parts = Array.from({ length: count }, (): SourceFile[] => []);
  for (const file of files) parts[placeOf(file, count)]?.push(file);
  return parts;
}

function placeOf({ path }: SourceFile, count: number): number {
  return hashOf(path) % count;
}

/** FNV-1a: it need only spread, and there may be ten thousand paths. */
function hashOf(path: string): number {
  let hashed = 0x811c9dc5;
  for (let at = 0; at < path.length; at += 1) hashed = Math.imul(hashed ^ path.charCodeAt(at), 0x01000193);
  return hashed >>> 0;
}

function digestOf(files: readonly SourceFile[]): string {
  let said = '';
  for (const { path, content, contentId } of files)
    said += contentId === undefined ? `${path}\0bytes\0${hash('sha256', content)}\0` : `${path}\0id\0${contentId}\0`;
  return hash('sha256', said).slice(0, 32);
}

async function packed(files: readonly SourceFile[]): Promise<string> {
  const stored = files.map(
    ({ path, content, contentId }): StoredFile => ({
      path,
      base64: Buffer.from(content).toString('base64'),
      ...(contentId === undefined ? {} : { contentId }),
    }),
  );
  return (await promisify(gzip)(JSON.stringify(stored))).toString('base64');
}
