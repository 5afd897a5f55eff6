import type { Declarations } from '../kinds/kind.ts';
import type { FileReading } from './file.ts';
import type { Declared, OperatorNames } from './relations.ts';
import { type DeclaredDocuments, declaredBySound, smallest } from './sound-file.ts';
import { StandingSet } from './standing-set.ts';
import type { Variables } from './substitute.ts';
import type { SourceFile } from './text.ts';
import type { DesiredState } from '../model/resource.ts';
import { compareText } from '../model/text.ts';

type Declare = (path: string, reading: FileReading) => DeclaredDocuments;

interface KeptFile {
  readonly contentId: string | undefined;
  readonly reading: FileReading;
  /** Declared documents; undefined where `reading` contains them. */
  readonly documents: DeclaredDocuments | undefined;
}

function keptFile(path: string, contentId: string | undefined, reading: FileReading, declare: Declare): KeptFile {
  if (declaredBySound(reading, path) !== undefined) return { contentId, reading, documents: undefined };
  const documents = declare(path, reading);
  const small = smallest(reading, documents);
  return { contentId, reading: small, documents: small === reading ? documents : undefined };
}

/** The last load, if it had no fault. */
interface Standing {
  readonly files: readonly SourceFile[];
  readonly operator: string;
  readonly set: StandingSet;
}

/**
 * Caches readings of files by content and variables. It stores only what the last call used. A file with unchanged content and
 * path gives the same documents and resource objects.
 */
export class FileCache {
  #parsed = 0;
  #resumed = 0;
  #variables = '';
  /** The files by path. */
  #files = new Map<string, KeptFile>();
  #standing: Standing | undefined;

  /** The number of files that were parsed, each content once. */
  get parsed(): number {
    return this.#parsed;
  }

  /** The number of loads that amended the last set instead of building a new one. */
  get resumed(): number {
    return this.#resumed;
  }

  /**
   * Reads new files with `read`, reuses the other readings, and forgets those that are not used any more.
   * @param faultsMax reading stops after the file with which there are more faults.
   * @returns the readings of all files, or of the first ones if there are too many faults.
   */
  readAll(
    files: readonly SourceFile[],
    variables: Variables,
    faultsMax: number,
    read: (file: SourceFile) => FileReading,
    declare: Declare,
  ): FileReading[] {
    // The readings change, so the last set cannot be amended any more.
    this.#standing = undefined;
    const said = textOf(variables);
    if (said !== this.#variables) this.#files = new Map();
    this.#variables = said;
    const kept = new Map<string, KeptFile>();
    /** Created at the first file that changed. */
    let byContent: Map<string, FileReading> | undefined;
    const keep = (file: SourceFile): KeptFile => {
      const { path, contentId } = file;
      const known = this.#files.get(path);
      if (known !== undefined && contentId !== undefined && known.contentId === contentId) return known;
      byContent ??= readingsByContent(this.#files);
      const same = contentId === undefined ? undefined : byContent.get(contentId);
      if (same === undefined) this.#parsed += 1;
      const one = keptFile(path, contentId, same ?? read(file), declare);
      if (contentId !== undefined) byContent.set(contentId, one.reading);
      return one;
    };
    const readings: FileReading[] = [];
    let faults = 0;
    for (const file of files) {
      if (faults > faultsMax) break;
      const one = keep(file);
      kept.set(file.path, one);
      faults += one.reading.faults.length;
      readings.push(one.reading);
    }
    this.#files = kept;
    return readings;
  }

  /** Returns the documents of a file with their positions. It calls `declare` if they are not cached. */
  documentsOf(path: string, reading: FileReading, declare: Declare): DeclaredDocuments {
    const sound = declaredBySound(reading, path);
    if (sound !== undefined) return sound;
    const known = this.#files.get(path);
    return (known?.reading === reading ? known.documents : undefined) ?? declare(path, reading);
  }

  /** Stores the set of a load without faults, which the next load may amend. */
  stand(
    kinds: Declarations,
    files: readonly SourceFile[],
    operator: OperatorNames | undefined,
    desired: DesiredState,
  ): void {
    this.#standing = { files, operator: namesOf(operator), set: new StandingSet(kinds, desired) };
  }

  /**
   * Returns the set of these files by amending the last one, if only the content of some documents changed and there is no
   * fault; undefined if the set must be built from all files.
   */
  resume(
    files: readonly SourceFile[],
    variables: Variables,
    operator: OperatorNames | undefined,
    read: (file: SourceFile) => FileReading,
    declare: Declare,
  ): DesiredState | undefined {
    const standing = this.#standing;
    this.#standing = undefined;
    if (standing === undefined || standing.operator !== namesOf(operator) || this.#variables !== textOf(variables))
      return undefined;
    const changed = changedFiles(standing.files, files);
    if (changed === undefined) return undefined;
    const documents: Declared[] = [];
    for (const file of changed) {
      const { path, contentId } = file;
      const known = this.#files.get(path);
      const before = known && this.documentsOf(path, known.reading, declare);
      const kept = keptFile(path, contentId, read(file), declare);
      this.#parsed += 1;
      this.#files.set(path, kept);
      const { faults, unread } = kept.reading;
      const now = this.documentsOf(path, kept.reading, declare);
      if (faults.length > 0 || unread.length > 0 || !declareTheSame(before, now)) return undefined;
      for (const { declared } of now) documents.push(declared);
    }
    const desired = standing.set.with(documents);
    if (desired === undefined) return undefined;
    this.#standing = { ...standing, files };
    this.#resumed += 1;
    return desired;
  }
}

function readingsByContent(files: ReadonlyMap<string, KeptFile>): Map<string, FileReading> {
  const readings = new Map<string, FileReading>();
  for (const { contentId, reading } of files.values()) if (contentId !== undefined) readings.set(contentId, reading);
  return readings;
}

/** Returns the files with changed content; undefined if files were added or removed, or have no content id. */
function changedFiles(before: readonly SourceFile[], now: readonly SourceFile[]): readonly SourceFile[] | undefined {
  if (before.length !== now.length) return undefined;
  const changed: SourceFile[] = [];
  for (let index = 0; index < now.length; index += 1) {
    const old = before[index] as SourceFile;
    const file = now[index] as SourceFile;
    if (old === file && file.contentId !== undefined) continue;
    if (old.path !== file.path || old.contentId === undefined || file.contentId === undefined) return undefined;
    if (old.contentId !== file.contentId) changed.push(file);
  }
  return changed;
}

function declareTheSame(before: DeclaredDocuments | undefined, now: DeclaredDocuments): boolean {
  if (before?.length !== now.length) return false;
  return now.every(({ declared: { id } }, index) => before[index]?.declared.id === id);
}

function textOf(variables: Variables): string {
  return JSON.stringify([...variables].toSorted(([left], [right]) => compareText(left, right)));
}

function namesOf(operator: OperatorNames | undefined): string {
  return operator === undefined
    ? ''
    : JSON.stringify([[...operator.platforms].toSorted(compareText), [...operator.stores].toSorted(compareText)]);
}
