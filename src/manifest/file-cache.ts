import type { Declarations } from '../kinds/kind.ts';
import type { FileReading } from './file.ts';
import type { Declared, OperatorNames } from './relations.ts';
import { StandingSet } from './standing-set.ts';
import type { Variables } from './substitute.ts';
import type { SourceFile } from './text.ts';
import type { DesiredState } from '../model/resource.ts';
import { compareText } from '../model/text.ts';

/** The resources that one file declares, with the number of each document in the reading. */
export type DeclaredDocuments = readonly { readonly declared: Declared; readonly document: number }[];

type Declare = (path: string, reading: FileReading) => DeclaredDocuments;

interface KeptFile {
  readonly contentId: string | undefined;
  readonly reading: FileReading;
  documents?: DeclaredDocuments;
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
  ): FileReading[] {
    // The readings change, so the last set cannot be amended any more.
    this.#standing = undefined;
    const said = textOf(variables);
    if (said !== this.#variables) this.#files = new Map();
    this.#variables = said;
    const kept = new Map<string, KeptFile>();
    /** Created at the first file that changed. */
    let byContent: Map<string, FileReading> | undefined;
    const keptFile = (file: SourceFile): KeptFile => {
      const { path, contentId } = file;
      const known = this.#files.get(path);
      if (known !== undefined && contentId !== undefined && known.contentId === contentId) return known;
      byContent ??= readingsByContent(this.#files);
      const same = contentId === undefined ? undefined : byContent.get(contentId);
      if (same === undefined) this.#parsed += 1;
      const reading = same ?? read(file);
      if (contentId !== undefined) byContent.set(contentId, reading);
      return { contentId, reading };
    };
    const readings: FileReading[] = [];
    let faults = 0;
    for (const file of files) {
      if (faults > faultsMax) break;
      const one = keptFile(file);
      kept.set(file.path, one);
      faults += one.reading.faults.length;
      readings.push(one.reading);
    }
    this.#files = kept;
    return readings;
  }

  /** Returns the documents of a file with their positions. It calls `declare` if they are not cached. */
  documentsOf(path: string, reading: FileReading, declare: Declare): DeclaredDocuments {
    const known = this.#files.get(path);
    if (known?.reading !== reading) return declare(path, reading);
    known.documents ??= declare(path, reading);
    return known.documents;
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
      const before = this.#files.get(path)?.documents;
      const reading = read(file);
      this.#parsed += 1;
      const kept: KeptFile = { contentId, reading, documents: declare(path, reading) };
      this.#files.set(path, kept);
      if (reading.faults.length > 0 || reading.unread.length > 0 || !declareTheSame(before, kept.documents))
        return undefined;
      for (const { declared } of kept.documents ?? []) documents.push(declared);
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

function declareTheSame(before: DeclaredDocuments | undefined, now: DeclaredDocuments | undefined): boolean {
  if (before === undefined || now === undefined || before.length !== now.length) return false;
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
