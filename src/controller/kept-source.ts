import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { LedgerOperation } from '../ledger/ledger.ts';
import type { SourceFile } from '../manifest/text.ts';
import type { Keeping } from './keeping.ts';

/** The files of the accepted snapshot, so that a restart needs no source to go on. */
export interface KeptSource {
  readonly snapshot: string;
  readonly revision: string;
  readonly files: readonly SourceFile[];
}

/** What is in the ledger beside the parts; written with them in one transaction. */
interface Index {
  readonly snapshot: string;
  readonly revision: string;
  /** What each part says, as a digest. */
  readonly parts: readonly string[];
}

interface StoredFile {
  readonly path: string;
  readonly base64: string;
  readonly contentId?: string;
}

/** On average. One changed file is written with so many others. */
const FILES_OF_PART = 32;

/** How the files were divided when they were last written down. */
interface Division {
  readonly files: readonly SourceFile[];
  readonly parts: readonly (readonly SourceFile[])[];
  /** Of each part. */
  readonly digests: readonly string[];
}

/**
 * Writes the accepted files down, one call after the other: the parts that changed, where a part holds the files whose paths
 * have one hash. Compresses off the main thread: ten thousand manifests are some megabytes.
 */
export class SourceKeeper {
  readonly #keeping: Keeping;
  #last: Division | undefined;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
  }

  async keep({ snapshot, revision, files }: KeptSource): Promise<void> {
    const { ledger, clock, source, actor } = this.#keeping;
    const before = await indexOf(this.#keeping);
    const { parts, digests } = (this.#last = divided(files, this.#last));
    const operations: LedgerOperation[] = [];
    for (const [place, part] of parts.entries()) {
      if (before?.parts[place] === digests[place]) continue;
      operations.push({ op: 'set-fact', key: partFact(source, place), value: await packed(part) });
    }
    // Facts are not deleted; empty, they take no room.
    for (let place = parts.length; place < (before?.parts.length ?? 0); place += 1)
      operations.push({ op: 'set-fact', key: partFact(source, place), value: '' });
    const index: Index = { snapshot, revision, parts: digests };
    operations.push({ op: 'set-fact', key: indexFact(source), value: JSON.stringify(index) });
    await ledger.commit({ scope: `source:${source}`, actor, atMs: clock.now(), operations });
  }
}

export async function restoreSource(keeping: Keeping): Promise<KeptSource | undefined> {
  const { ledger, source } = keeping;
  const index = await indexOf(keeping);
  if (index === undefined) return undefined;
  const files: SourceFile[] = [];
  for (const place of index.parts.keys()) {
    const value = await ledger.fact(partFact(source, place));
    if (value === undefined) return undefined;
    for (const file of await unpacked(value)) files.push(file);
  }
  return { snapshot: index.snapshot, revision: index.revision, files };
}

async function indexOf({ ledger, source }: Keeping): Promise<Index | undefined> {
  const value = await ledger.fact(indexFact(source));
  // Builds before the first release kept all files in this one fact, as base64.
  return value?.startsWith('{') === true ? (JSON.parse(value) as Index) : undefined;
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
  let hash = 0x811c9dc5;
  for (let at = 0; at < path.length; at += 1) hash = Math.imul(hash ^ path.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function digestOf(files: readonly SourceFile[]): string {
  let said = '';
  for (const { path, content, contentId } of files)
    said += contentId === undefined ? `${path}\0bytes\0${sha256(content)}\0` : `${path}\0id\0${contentId}\0`;
  return sha256(said).slice(0, 32);
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
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

async function unpacked(value: string): Promise<readonly SourceFile[]> {
  const text = (await promisify(gunzip)(Buffer.from(value, 'base64'))).toString('utf8');
  return (JSON.parse(text) as readonly StoredFile[]).map(({ path, base64, contentId }) => ({
    path,
    content: Buffer.from(base64, 'base64'),
    ...(contentId === undefined ? {} : { contentId }),
  }));
}

function indexFact(source: string): string {
  return `files ${source}`;
}

function partFact(source: string, place: number): string {
  return `files-${place} ${source}`;
}
