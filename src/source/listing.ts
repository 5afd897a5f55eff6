import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import { join } from 'node:path';
import { LIMITS } from '../manifest/limits.ts';
import { fileProblem, isHiddenName, isManifestName, SKIP_MARKER } from '../manifest/source-rules.ts';
import type { SourceFile } from '../manifest/text.ts';
import type { Problem } from '../model/problem.ts';
import type { PathInCommit } from './checkout.ts';
import { type Extent, Extents } from './extent.ts';
import { type Git, gitFailed } from './git.ts';
import { type ObjectReader, parseTree, type TreeEntry } from './objects.ts';

/** A file to read. */
export interface Candidate {
  /** The path in messages. */
  readonly shown: string;
  readonly id: string;
}

/**
 * A folder of a commit with everything below. It never changes: where another commit has the same tree at the same path, it
 * shares this object and the files in it.
 */
export interface Folder {
  readonly tree: string;
  readonly folders: ReadonlyMap<string, Folder>;
  readonly own: readonly SourceFile[];
  /** Files of this folder and all folders below. */
  readonly files: readonly SourceFile[];
  /** Problems of this folder and all folders below. */
  readonly problems: readonly Problem[];
  readonly extent: Extent;
  /** Size of all files. */
  readonly bytes: number;
}

/** The character that replaces invalid UTF-8. */
const UNREADABLE = '\ufffd';

const NO_FOLDERS: ReadonlyMap<string, Folder> = new Map();

/** A new or changed folder while it is read. */
export class Draft {
  readonly tree: string;
  /** The prefix of its names in messages; it ends with `/`, or is empty. */
  readonly shown: string;
  /** The prefix from the top of the tree. */
  readonly within: string;
  readonly before: Folder | undefined;
  readonly own: (SourceFile | Candidate)[] = [];
  readonly folders = new Map<string, Folder | Draft>();
  readonly problems: Problem[] = [];
  /** Number of all files and folders directly in it, manifests or not. */
  entries = 0;

  constructor(tree: string, shown: string, within: string, before: Folder | undefined) {
    this.tree = tree;
    this.shown = shown;
    this.within = within;
    this.before = before;
  }
}

/**
 * Finds the manifests of a commit in its trees, by the same rules as in a folder on disk. Links and submodules are problems.
 * Trees that did not change since the previous commit are not read.
 */
export class Listing {
  /** Files to read, in any order. */
  readonly candidates: Candidate[] = [];
  /** Number of manifests found so far, including those of the previous commit. */
  files = 0;
  /** Size of the files of the previous commit that are reused. */
  bytes = 0;
  readonly #git: Git;
  readonly #objects: ObjectReader;
  readonly #exclude: ReadonlySet<string>;
  readonly #extents: Extents;

  /**
   * @param exclude excluded paths from the top of the tree.
   * @param limits limits of the whole source.
   */
  constructor(git: Git, objects: ObjectReader, exclude: readonly string[], limits: SourceLimits) {
    this.#extents = new Extents(limits, (ids) => this.#trees(ids));
    this.#git = git;
    this.#objects = objects;
    this.#exclude = new Set(exclude);
  }

  /** True when there are more manifests than Portolan reads. */
  get isTooMany(): boolean {
    return this.files > LIMITS.files;
  }

  /**
   * Finds the manifests at a path.
   * @param top id of the commit's tree.
   * @param before the folder at this path in another commit.
   * @returns undefined when the commit does not have the path.
   * @throws PortolanError when git fails.
   */
  async find(
    top: string,
    { named, within }: PathInCommit,
    before: Folder | undefined,
  ): Promise<Folder | Draft | undefined> {
    let entry: TreeEntry | undefined = { type: 'folder', id: top, name: '' };
    for (const name of within === '' ? [] : within.split('/')) {
      if (entry?.type !== 'folder') return undefined;
      const trees = await this.#trees([entry.id]);
      entry = trees.get(entry.id)?.find((one) => one.name === name);
    }
    if (entry === undefined) return undefined;
    if (entry.type !== 'folder') {
      const alone = new Draft('', '', '', before);
      this.#file(alone, named, within, entry);
      return alone;
    }
    if (before?.tree === entry.id) {
      this.#extents.add(before.extent);
      this.#reuse(before);
      return before;
    }
    // The prefix that `join` would give to each name: calling `join` for each name takes longer than all the rest.
    const shown = join(named, '-').slice(0, -1);
    const draft = new Draft(entry.id, shown, within === '' ? '' : `${within}/`, before);
    await this.#extents.measure(entry.id, before);
    this.#descend(draft);
    return draft;
  }

  /** Expands the trees below level by level. All of them were measured. */
  #descend(top: Draft): void {
    let level: readonly Draft[] = [top];
    while (level.length > 0) {
      const below: Draft[] = [];
      for (const draft of level) {
        const entries = this.#extents.entriesOf(draft.tree);
        if (draft === top || !entries.some(({ name }) => name === SKIP_MARKER)) this.#expand(draft, entries, below);
        if (this.isTooMany) return;
      }
      level = below;
    }
  }

  #expand(draft: Draft, entries: readonly TreeEntry[], below: Draft[]): void {
    draft.entries = entries.length;
    const own = new Map(draft.before?.own.map((file) => [file.path, file]));
    const ambiguous = ambiguousNamesIn(entries);
    for (const entry of entries) {
      // One file above the limit is enough to report it.
      if (this.isTooMany) return;
      const { name } = entry;
      if (isHiddenName(name)) continue;
      const shown = draft.shown + name;
      const within = draft.within + name;
      if (entry.type === 'folder') {
        if (ambiguous.has(name)) draft.problems.push(ambiguousName(shown));
        else this.#below(draft, entry, `${shown}/`, `${within}/`, below);
        // The files of a submodule would be missing without an error, so every submodule is a problem.
      } else if (entry.type === 'submodule' || isManifestName(name)) {
        if (ambiguous.has(name)) draft.problems.push(ambiguousName(shown));
        else this.#file(draft, shown, within, entry, own.get(shown));
      }
    }
  }

  #below(draft: Draft, { name, id }: TreeEntry, shown: string, within: string, below: Draft[]): void {
    const before = draft.before?.folders.get(name);
    if (before?.tree === id) {
      this.#reuse(before);
      draft.folders.set(name, before);
      return;
    }
    const folder = new Draft(id, shown, within, before);
    draft.folders.set(name, folder);
    below.push(folder);
  }

  #file(draft: Draft, shown: string, within: string, { type, id }: TreeEntry, before?: SourceFile): void {
    if (this.#exclude.has(within)) return;
    if (type === 'link') {
      const message = 'this is a symbolic link, and links in a commit are not followed';
      draft.problems.push(fileProblem(shown, 'source/link', message, 'a plain file'));
    } else if (type === 'submodule') {
      const message = 'this is a submodule, and its files are not part of the commit';
      const expected = 'folders without submodules: a narrower -f excludes it';
      draft.problems.push(fileProblem(shown, 'source/submodule', message, expected));
    } else {
      this.files += 1;
      if (before?.contentId === id) {
        this.bytes += before.content.length;
        draft.own.push(before);
        return;
      }
      const candidate = { shown, id };
      draft.own.push(candidate);
      this.candidates.push(candidate);
    }
  }

  #reuse({ files, bytes }: Folder): void {
    this.files += files.length;
    this.bytes += bytes;
  }

  async #trees(ids: readonly string[]): Promise<ReadonlyMap<string, readonly TreeEntry[]>> {
    const unique = [...new Set(ids)];
    for (const facts of await this.#objects.facts(unique)) if (facts.found === 'one') this.#extents.addTree(facts.size);
    const contents = await this.#objects.read(unique.map((id) => ({ id, type: 'tree' })));
    const trees = new Map<string, readonly TreeEntry[]>();
    for (const [index, content] of contents.entries()) {
      const id = unique[index] as string;
      const entries = parseTree(content, id.length / 2);
      if (entries === undefined) throw gitFailed(this.#git.root, `read tree ${id}`, 'the tree has invalid names');
      trees.set(id, entries);
    }
    return trees;
  }
}

/** Returns names that occur twice once invalid UTF-8 is replaced. They are ambiguous, so they are not used. */
function ambiguousNamesIn(entries: readonly TreeEntry[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const ambiguous = new Set<string>();
  for (const { name } of entries) {
    if (!name.includes(UNREADABLE)) continue;
    if (seen.has(name)) ambiguous.add(name);
    seen.add(name);
  }
  return ambiguous;
}

function ambiguousName(shown: string): Problem {
  const message = 'its name is not valid UTF-8, and equals another name in the folder once it is displayed';
  return fileProblem(shown, 'source/unreadable-name', message, 'names in UTF-8');
}

/** Returns the folder of a draft, once the contents are read. */
export function folderOf(draft: Draft, contentOf: (candidate: Candidate) => SourceFile | Problem): Folder {
  const own: SourceFile[] = [];
  const problems = [...draft.problems];
  for (const part of draft.own) {
    const found = 'id' in part ? contentOf(part) : part;
    if ('content' in found) own.push(found);
    else problems.push(found);
  }
  const folders = new Map<string, Folder>();
  for (const [name, folder] of draft.folders)
    folders.set(name, folder instanceof Draft ? folderOf(folder, contentOf) : folder);
  const all = [...folders.values()];
  return {
    tree: draft.tree,
    folders: all.length === 0 ? NO_FOLDERS : folders,
    own,
    files: all.length === 0 ? own : [own, ...all.map(({ files }) => files)].flat(),
    problems: [problems, ...all.map((folder) => folder.problems)].flat(),
    extent: {
      folders: all.reduce((sum, { extent }) => sum + extent.folders, 1),
      entries: all.reduce((sum, { extent }) => sum + extent.entries, draft.entries),
      depth: 1 + Math.max(0, ...all.map(({ extent }) => extent.depth)),
    },
    bytes: all.reduce(
      (sum, { bytes }) => sum + bytes,
      own.reduce((sum, { content }) => sum + content.length, 0),
    ),
  };
}
