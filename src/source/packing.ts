import { hash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { keptContent, type SourceFile } from '../manifest/text.ts';
import { PortolanError } from '../model/errors.ts';
import { safeLine } from '../model/text.ts';

/** Files in parts, for the ledger. A part contains the files whose paths have the same hash. */
export interface Packed {
  /** Digest of each part. */
  readonly digests: readonly string[];
  /** The parts whose digest is not known. */
  readonly parts: Iterable<PackedPart> | AsyncIterable<PackedPart>;
}

export interface PackedPart {
  readonly place: number;
  /** The files of the part, compressed, in base64. */
  readonly text: string;
}

type StoredFile = Pick<SourceFile, 'path' | 'contentId'> & { readonly base64: string };

/** Average number of files in a part. A changed file is written together with these. */
const FILES_OF_PART = 32;

/** The last division of files into parts. */
interface Division {
  readonly files: readonly SourceFile[];
  readonly parts: readonly (readonly SourceFile[])[];
  /** Digest of each part. */
  readonly digests: readonly string[];
}

/** Packs the files of successive readings. Skips parts in which no file changed. */
export class Packer {
  #last: Division | undefined;

  /** Packs files. @param known digests of the parts that the ledger has. */
  pack(files: readonly SourceFile[], known: readonly string[]): Packed {
    const { parts, digests } = (this.#last = divide(files, this.#last));
    return { digests, parts: unknownParts(known, parts, digests) };
  }
}

/** Returns the files of a part. @throws PortolanError when it is not a part, or only a piece of one. */
export function unpack(text: string): readonly SourceFile[] {
  return storedIn(text).map(({ path, base64, contentId }) => ({
    path,
    content: keptContent(Buffer.from(base64, 'base64')),
    ...(contentId === undefined ? {} : { contentId }),
  }));
}

function storedIn(text: string): readonly StoredFile[] {
  try {
    return JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString('utf8')) as readonly StoredFile[];
  } catch (cause) {
    throw new PortolanError({
      code: 'source/saved-damaged',
      disposition: 'give-up',
      message: `The copy of the accepted files in the ledger cannot be unpacked: ${safeLine((cause as Error).message)}.`,
      remedy:
        'Give all replicas the same version. If they have it, the ledger is damaged: `portolan ledger restore BACKUP`.',
      cause,
    });
  }
}

/** Returns whether saved files cannot be unpacked. */
export function isDamagedCopy(error: unknown): error is PortolanError {
  return error instanceof PortolanError && error.code === 'source/saved-damaged';
}

/** Compresses each part when it is asked for: a source has a thread of its own, which does nothing else meanwhile. */
function* unknownParts(
  known: readonly string[],
  parts: Division['parts'],
  digests: Division['digests'],
): Generator<PackedPart> {
  for (const [place, part] of parts.entries())
    if (known[place] !== digests[place]) yield { place, text: compress(part) };
}

/** Divides files into parts. Computes only parts with changed files, if the paths did not change. */
function divide(files: readonly SourceFile[], last: Division | undefined): Division {
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

/** Returns the changed files; undefined when the paths or their order changed. */
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

/** Divides files into a power of two of parts, so that the number rarely changes, and files stay in their parts. */
function partsOf(files: readonly SourceFile[]): readonly (readonly SourceFile[])[] {
  const count = 2 ** Math.ceil(Math.log2(Math.max(1, files.length / FILES_OF_PART)));
  const parts = Array.from({ length: count }, (): SourceFile[] => []);
  for (const file of files) parts[placeOf(file, count)]?.push(file);
  return parts;
}

function placeOf({ path }: SourceFile, count: number): number {
  return hashOf(path) % count;
}

/** Returns the FNV-1a hash, which is fast enough for ten thousand paths. It need not be cryptographic. */
function hashOf(path: string): number {
  let hashed = 0x811c9dc5;
  for (let at = 0; at < path.length; at += 1) hashed = Math.imul(hashed ^ path.charCodeAt(at), 0x01000193);
  return hashed >>> 0;
}

function digestOf(files: readonly SourceFile[]): string {
  let text = '';
  for (const { path, content, contentId } of files)
    text += contentId === undefined ? `${path}\0bytes\0${hash('sha256', content)}\0` : `${path}\0id\0${contentId}\0`;
  return hash('sha256', text).slice(0, 32);
}

function compress(files: readonly SourceFile[]): string {
  const stored = files.map(
    ({ path, content, contentId }): StoredFile => ({
      path,
      base64: Buffer.from(content).toString('base64'),
      ...(contentId === undefined ? {} : { contentId }),
    }),
  );
  return gzipSync(JSON.stringify(stored)).toString('base64');
}
