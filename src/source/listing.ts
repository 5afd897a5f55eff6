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

/** A file that is to be read. */
export interface Candidate {
  /** As messages show it. */
  readonly shown: string;
  readonly id: string;
}

/**
 * What a folder of a commit holds, with everything below. Nothing of it is ever changed: where another commit has the same
 * tree at the same path, it has this very object, and in it the very same files.
 */
export interface Folder {
  readonly tree: string;
  readonly folders: ReadonlyMap<string, Folder>;
  readonly own: readonly SourceFile[];
  /** Its own, and those of all folders below. */
  readonly files: readonly SourceFile[];
  /** Of it and of all folders below. */
  readonly problems: readonly Problem[];
  readonly extent: Extent;
  /** Of all files. */
  readonly bytes: number;
}

/** What a character that is no UTF-8 became. */
const UNREADABLE = '\ufffd';

const NO_FOLDERS: ReadonlyMap<string, Folder> = new Map();

/** A folder that is not what was read before at that path, on its way to be one. */
export class Draft {
  readonly tree: string;
  /** What messages put before a name in it; it ends with `/`, or is empty. */
  readonly shown: string;
  /** The same from the top of the tree. */
  readonly within: string;
  readonly before: Folder | undefined;
  readonly own: (SourceFile | Candidate)[] = [];
  readonly folders = new Map<string, Folder | Draft>();
  readonly problems: Problem[] = [];
  /** Files and folders of its own, manifests or not. */
  entries = 0;

  constructor(tree: string, shown: string, within: string, before: Folder | undefined) {
    this.tree = tree;
    this.shown = shown;
    this.within = within;
    this.before = before;
  }
}

/**
 * Finds the manifests of a commit in its trees: the same names count as in a folder of the disk. A link and a submodule
 * are problems. Trees that stand where they stood before are not looked at again.
 */
export class Listing {
  /** What is to be read, in no particular order. */
  readonly candidates: Candidate[] = [];
  /** Manifests so far, those that were read before with them. */
  files = 0;
  /** Of the files that were read before. */
  bytes = 0;
  readonly #git: Git;
  readonly #objects: ObjectReader;
  readonly #exclude: ReadonlySet<string>;
  readonly #extents: Extents;

  /**
   * @param exclude paths from the top of the tree that are left out.
   * @param limits of everything that is found.
   */
  constructor(git: Git, objects: ObjectReader, exclude: readonly string[], limits: SourceLimits) {
    this.#extents = new Extents(limits, (ids) => this.#trees(ids));
    this.#git = git;
    this.#objects = objects;
    this.#exclude = new Set(exclude);
  }

  /** More than are read. */
  get isTooMany(): boolean {
    return this.files > LIMITS.files;
  }

  /**
   * @param top id of the commit's tree.
   * @param before what was found there in another commit.
   * @returns undefined where the commit has no such path.
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
    // What `join` puts before a name in that folder; joining each name again would take longer than all the rest.
    const shown = join(named, '-').slice(0, -1);
    const draft = new Draft(entry.id, shown, within === '' ? '' : `${within}/`, before);
    await this.#extents.measure(entry.id, before);
    this.#descend(draft);
    return draft;
  }

  /** Expands the trees below, all of which were measured, level by level. */
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
    const twins = twinsAmong(entries);
    for (const entry of entries) {
      // One more than allowed says as much as all of them.
      if (this.isTooMany) return;
      const { name } = entry;
      if (isHiddenName(name)) continue;
      const shown = draft.shown + name;
      const within = draft.within + name;
      if (entry.type === 'folder') {
        if (twins.has(name)) draft.problems.push(twin(shown));
        else this.#below(draft, entry, `${shown}/`, `${within}/`, below);
        // What a submodule holds would be missing without a word, whatever its name is.
      } else if (entry.type === 'submodule' || isManifestName(name)) {
        if (twins.has(name)) draft.problems.push(twin(shown));
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
      const message = 'it is a symbolic link; in a commit none is followed';
      draft.problems.push(fileProblem(shown, 'source/link', message, 'a plain file'));
    } else if (type === 'submodule') {
      const message = 'it is a submodule; what it holds is not part of the commit';
      const expected = 'folders without submodules: a narrower -f leaves it out';
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
      if (entries === undefined) throw gitFailed(this.#git.root, `read tree ${id}`, 'it names files as no git does');
      trees.set(id, entries);
    }
    return trees;
  }
}

/** Two names that are no UTF-8 may look alike; of one that cannot be told from another nothing must depend. */
function twinsAmong(entries: readonly TreeEntry[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const twins = new Set<string>();
  for (const { name } of entries) {
    if (!name.includes(UNREADABLE)) continue;
    if (seen.has(name)) twins.add(name);
    seen.add(name);
  }
  return twins;
}

function twin(shown: string): Problem {
  const message = 'its name is not valid UTF-8, and looks like that of another file or folder beside it';
  return fileProblem(shown, 'source/unreadable-name', message, 'names in UTF-8');
}

/** Makes a folder of what was found, when the contents are there. */
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
