import { join } from 'node:path';
import { LIMITS } from '../manifest/limits.ts';
import { fileProblem, isHiddenName, isManifestName, SKIP_MARKER } from '../manifest/source-rules.ts';
import type { Problem } from '../model/problem.ts';
import type { PathInCommit } from './checkout.ts';
import { type Git, gitFailed } from './git.ts';
import type { ObjectReader } from './objects.ts';
import { parseTree, type TreeEntry } from './trees.ts';

/** A file that is to be read. */
export interface Candidate {
  /** As messages show it. */
  readonly shown: string;
  readonly id: string;
}

/** Trees by their ids: what one commit had, another need not read again. */
export type KnownTrees = ReadonlyMap<string, readonly TreeEntry[]>;

/** Folders within each other; a path is longer than systems allow before. */
const DEPTH_MAX = 1_000;
/** Files and folders in all, manifests or not. A few small trees can name more than any disk holds. */
const ENTRIES_MAX = 2_000_000;

/**
 * Finds the manifests of a commit in its trees: the same names count as in a folder of the disk. A link and a submodule
 * are problems; each file is found once, whatever path leads to it.
 */
export class Listing {
  readonly candidates: Candidate[] = [];
  readonly problems: Problem[] = [];
  readonly #trees: Trees;
  readonly #seen: Set<string>;
  #entries = 0;

  /** @param exclude paths from the top of the tree that are left out. */
  constructor(git: Git, objects: ObjectReader, known: KnownTrees, exclude: readonly string[]) {
    this.#trees = new Trees(git, objects, known);
    this.#seen = new Set(exclude);
  }

  /** Every tree that was needed. */
  get trees(): KnownTrees {
    return this.#trees.used;
  }

  /** @param top id of the commit's tree. @throws PortolanError when git fails. */
  async add(top: string, { named, within }: PathInCommit, commit: string): Promise<void> {
    let entry: TreeEntry | undefined = { type: 'folder', id: top, name: '' };
    for (const name of within === '' ? [] : within.split('/')) {
      if (entry?.type !== 'folder') entry = undefined;
      if (entry === undefined) break;
      await this.#trees.need([entry.id]);
      entry = this.#trees.entries(entry.id).find((one) => one.name === name);
    }
    if (entry === undefined) {
      const message = `there is no such file or folder in commit ${commit.slice(0, 12)}`;
      this.reject(named, 'source/not-found', message, 'a path that the commit has');
    } else if (entry.type === 'folder') {
      await this.#fetch(entry.id);
      // What `join` puts before a name in that folder; joining each name again would take longer than all the rest.
      this.#folder(join(named, '-').slice(0, -1), within === '' ? '' : `${within}/`, entry.id);
    } else this.#file(named, within, entry);
  }

  reject(shown: string, code: string, message: string, expected: string): void {
    this.problems.push(fileProblem(shown, code, message, expected));
  }

  /** Reads the trees below, level by level: each level is one batch. */
  async #fetch(top: string): Promise<void> {
    let level: readonly string[] = [top];
    for (let depth = 0; level.length > 0; depth += 1) {
      if (depth > DEPTH_MAX) throw this.#trees.tooLarge(`folders within each other more than ${DEPTH_MAX} deep`);
      await this.#trees.need(level);
      const below = level
        .filter((id) => id === top || !this.#isSkipped(id))
        .flatMap((id) => this.#trees.entries(id).filter(isSeen).filter(isFolder));
      level = [...new Set(below.map(({ id }) => id))];
    }
  }

  /** @param shown and `within` end with `/`, or are empty. */
  #folder(shown: string, within: string, id: string): void {
    for (const entry of this.#trees.entries(id)) {
      this.#entries += 1;
      if (this.#entries > ENTRIES_MAX) throw this.#trees.tooLarge(`more than ${ENTRIES_MAX} files and folders`);
      if (!isSeen(entry)) continue;
      const { name } = entry;
      if (isFolder(entry)) {
        if (!this.#isSkipped(entry.id)) this.#folder(`${shown}${name}/`, `${within}${name}/`, entry.id);
        continue;
      }
      // What a submodule holds would be missing without a word, whatever its name is.
      if (entry.type === 'submodule' || isManifestName(name)) this.#file(shown + name, within + name, entry);
      // One more than allowed says as much as all of them.
      if (this.candidates.length > LIMITS.files) return;
    }
  }

  #isSkipped(id: string): boolean {
    return this.#trees.entries(id).some(({ name }) => name === SKIP_MARKER);
  }

  #file(shown: string, path: string, { type, id }: TreeEntry): void {
    if (this.#seen.has(path)) return;
    this.#seen.add(path);
    if (type === 'link')
      this.reject(shown, 'source/link', 'it is a symbolic link; in a commit none is followed', 'a plain file');
    else if (type === 'submodule')
      this.reject(
        shown,
        'source/submodule',
        'it is a submodule; what it holds is not part of the commit',
        'folders without submodules: a narrower -f leaves it out',
      );
    else this.candidates.push({ shown, id });
  }
}

function isSeen({ name }: TreeEntry): boolean {
  return !isHiddenName(name);
}

function isFolder({ type }: TreeEntry): boolean {
  return type === 'folder';
}

class Trees {
  readonly used = new Map<string, readonly TreeEntry[]>();
  readonly #git: Git;
  readonly #objects: ObjectReader;
  readonly #known: KnownTrees;

  constructor(git: Git, objects: ObjectReader, known: KnownTrees) {
    this.#git = git;
    this.#objects = objects;
    this.#known = known;
  }

  /** After this, `entries` knows them. */
  async need(ids: readonly string[]): Promise<void> {
    const unread: string[] = [];
    for (const id of ids) {
      const known = this.used.get(id) ?? this.#known.get(id);
      if (known === undefined) unread.push(id);
      else this.used.set(id, known);
    }
    const contents = await this.#objects.read(unread.map((id) => ({ id, type: 'tree' })));
    for (const [index, content] of contents.entries()) {
      const id = unread[index] as string;
      const entries = parseTree(content, id.length / 2);
      if (entries === undefined) throw gitFailed(this.#git.root, `read tree ${id}`, 'it names files as no git does');
      this.used.set(id, entries);
    }
  }

  entries(id: string): readonly TreeEntry[] {
    const entries = this.used.get(id);
    if (entries === undefined) throw new Error(`tree ${id} was not asked for`);
    return entries;
  }

  tooLarge(what: string): Error {
    return gitFailed(this.#git.root, 'list the files of the commit', `it has ${what}`);
  }
}
