import type { FolderLimits } from '../configuration/settings/source-spec.ts';
import { isHiddenName, SKIP_MARKER } from '../manifest/source-rules.ts';
import { invalidInput, type PortolanError } from '../model/errors.ts';
import type { TreeEntry } from './objects.ts';

/** The size of a folder and everything below it. */
export interface Extent {
  /** The folder itself and all folders below. */
  readonly folders: number;
  readonly entries: number;
  /** 1 for a folder without folders. */
  readonly depth: number;
}

/** A folder of another commit whose extent is known. */
export interface MeasuredFolder {
  readonly tree: string;
  readonly folders: ReadonlyMap<string, MeasuredFolder>;
  readonly extent: Extent;
}

/** Maximum size of a tree entry: the mode, a name of 255 bytes, and a SHA-256 id. */
const ENTRY_BYTES_MAX = 295;

type Trees = (ids: readonly string[]) => Promise<ReadonlyMap<string, readonly TreeEntry[]>>;

/**
 * Measures the folders of commits before they are expanded. Reads each distinct tree once, so that a few small trees that contain
 * each other many times cost only their own size, not their expanded size.
 */
export class Extents {
  readonly #limits: FolderLimits;
  readonly #read: Trees;
  readonly #trees = new Map<string, readonly TreeEntry[]>();
  /** Trees whose content below was read completely. */
  readonly #walked = new Set<string>();
  /** Extents of trees at paths where the other commit has no folder. */
  readonly #extents = new Map<string, Extent>();
  #folders = 0;
  #entries = 0;
  #treeBytes = 0;

  constructor(limits: FolderLimits, read: Trees) {
    this.#limits = limits;
    this.#read = read;
  }

  /** Returns the entries of a measured tree. */
  entriesOf(tree: string): readonly TreeEntry[] {
    const entries = this.#trees.get(tree);
    if (entries === undefined) throw new Error(`tree ${tree} was not measured`);
    return entries;
  }

  /**
   * Measures a folder.
   * @param before the folder of another commit at the same path. Trees that are the same there are not read.
   * @throws PortolanError `source/too-large` when all measured folders together exceed a limit.
   */
  async measure(tree: string, before: MeasuredFolder | undefined): Promise<Extent> {
    await this.#readAll(tree, before);
    const extent = this.#extentOf(tree, before, 1);
    this.add(extent);
    return extent;
  }

  /** Counts a tree before it is read. */
  addTree(bytes: number): void {
    this.#treeBytes += bytes;
    this.#check(this.#treeBytes / ENTRY_BYTES_MAX, 'entries');
  }

  /** Counts a folder that did not change since the other commit. */
  add({ folders, entries }: Extent): void {
    this.#folders += folders;
    this.#entries += entries;
    this.#check(this.#folders, 'folders');
    this.#check(this.#entries, 'entries');
  }

  /** Reads the trees level by level; each level is one batch. */
  async #readAll(top: string, before: MeasuredFolder | undefined): Promise<void> {
    let level: readonly ExtentPlace[] = [{ tree: top, before }];
    for (let depth = 1; level.length > 0; depth += 1) {
      this.#check(depth, 'depth');
      const unread = [...new Set(level.map(({ tree }) => tree))].filter((id) => !this.#trees.has(id));
      this.#check(this.#trees.size + unread.length, 'folders');
      for (const [id, entries] of await this.#read(unread)) this.#trees.set(id, entries);
      level = level
        .filter((place) => depth === 1 || place.before !== undefined || this.#isFirst(place.tree))
        .flatMap((place) => this.#below(place, depth === 1).filter(isChanged));
    }
  }

  /** Returns true the first time. A tree that another commit has elsewhere may have been read without the trees below it. */
  #isFirst(tree: string): boolean {
    if (this.#walked.has(tree)) return false;
    this.#walked.add(tree);
    return true;
  }

  #extentOf(tree: string, before: MeasuredFolder | undefined, depth: number, isTop = depth === 1): Extent {
    const known = before === undefined && !isTop ? this.#extents.get(tree) : undefined;
    this.#check(depth + (known?.depth ?? 1) - 1, 'depth');
    if (known !== undefined) return known;
    let folders = 1;
    let entries = this.entriesOf(tree).length;
    let below = 0;
    for (const place of this.#below({ tree, before }, isTop)) {
      const extent = isChanged(place)
        ? this.#extentOf(place.tree, place.before, depth + 1, false)
        : (place.before as MeasuredFolder).extent;
      folders += extent.folders;
      entries += extent.entries;
      below = Math.max(below, extent.depth);
    }
    this.#check(depth + below, 'depth');
    const extent = { folders, entries, depth: below + 1 };
    if (before === undefined && !isTop) this.#extents.set(tree, extent);
    return extent;
  }

  /** Returns the folders below that are read. A named folder is read even if it contains a skip marker. */
  #below({ tree, before }: ExtentPlace, isTop: boolean): readonly ExtentPlace[] {
    const entries = this.entriesOf(tree);
    if (!isTop && entries.some(({ name }) => name === SKIP_MARKER)) return [];
    return entries.flatMap(({ type, name, id }) =>
      type === 'folder' && !isHiddenName(name) ? [{ tree: id, before: before?.folders.get(name) }] : [],
    );
  }

  #check(found: number, what: keyof FolderLimits): void {
    const limit = this.#limits[what];
    if (found > limit) throw tooLarge(what, limit);
  }
}

interface ExtentPlace {
  readonly tree: string;
  readonly before: MeasuredFolder | undefined;
}

function isChanged({ tree, before }: ExtentPlace): boolean {
  return before?.tree !== tree;
}

function tooLarge(what: keyof FolderLimits, limit: number): PortolanError {
  const found = {
    folders: `more than ${limit} folders`,
    entries: `more than ${limit} files and folders`,
    depth: `folders nested more than ${limit} deep`,
  }[what];
  return invalidInput(
    'source/too-large',
    `The commit has ${found} in the paths of the source. It was not read.`,
    `Remove them from the commit, name fewer folders (-f, or spec.source.paths of Settings), or raise spec.source.limits.${what}.`,
  );
}
