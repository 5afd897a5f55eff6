import { FileCache } from '../../../src/manifest/file-cache.ts';
import type { Contents } from '../../../src/source/contents.ts';
import type { SourceReading } from '../../../src/source/feed.ts';
import type { Descent } from '../../../src/source/revision.ts';
import { Chance } from '../chance.ts';
import { contentsOf } from './workbench.ts';
import { type AppName, type Content, edited, type EditName, filesOf, sizeOf } from './estate.ts';

export interface Commit {
  readonly id: string;
  readonly parent: Commit | undefined;
  readonly content: Content;
  /** Counts from 1, in the order in which they were made. */
  readonly number: number;
  /** Parsed once, however many processes read it. */
  readonly contents: Contents;
}

/** A branch that grows, breaks, and is rewound. */
export class Git {
  #head: Commit;
  readonly #commits = new Map<string, Commit>();
  /** When the branch showed each commit first and last: how often its head had changed by then. */
  readonly #shown = new Map<string, { readonly first: number; readonly last: number }>();
  #changes = 0;
  /** Nobody can read it now. */
  isAway = false;
  readonly #contentsOf: (content: Content) => Contents;
  #made = 0;

  /** @param contentsFor by default files that are parsed for this branch alone. */
  constructor(content: Content, contentsFor?: (content: Content) => Contents) {
    const cache = new FileCache();
    this.#contentsOf = contentsFor ?? ((one) => contentsOf(filesOf(one), cache));
    this.#head = this.#commit(content, undefined);
    this.head = this.#head;
  }

  get head(): Commit {
    return this.#head;
  }

  set head(commit: Commit) {
    this.#changes += 1;
    const former = this.#shown.get(this.#head.id);
    if (former !== undefined) this.#shown.set(this.#head.id, { ...former, last: this.#changes });
    this.#head = commit;
    const first = this.#shown.get(commit.id)?.first ?? this.#changes;
    this.#shown.set(commit.id, { first, last: Number.POSITIVE_INFINITY });
  }

  commitOf(id: string): Commit | undefined {
    return this.#commits.get(id);
  }

  hasAlwaysNamed(name: AppName): boolean {
    return [...this.#commits.values()].every(({ content }) => content.apps.has(name));
  }

  /** Whether any commit has it away from where it began. */
  hasMoved(name: AppName): boolean {
    return [...this.#commits.values()].some(({ content }) => content.moved?.has(name));
  }

  firstShown(id: string): number {
    return this.#shown.get(id)?.first ?? 0;
  }

  /** Infinity: it is the head. */
  lastShown(id: string): number {
    return this.#shown.get(id)?.last ?? 0;
  }

  edit(edit: EditName, chance: Chance): void {
    const content = edited(this.head.content, edit, chance);
    if (content !== this.head.content) this.head = this.#commit(content, this.head);
  }

  /** The next commit, whole. */
  commit(content: Content): void {
    this.head = this.#commit(content, this.head);
  }

  /** The branch goes back, as after a force-push; what is committed next does not descend from what was there. */
  rewind(): void {
    this.head = this.head.parent ?? this.head;
  }

  /** What stands in the way of being taken in is put right by a commit. */
  repair(): void {
    this.isAway = false;
    const { content } = this.head;
    if (content.isFaulty) this.edit('repair', new Chance(1));
    // Emptied by mistake: the commit before it is what was meant.
    for (let at: Commit | undefined = this.head; sizeOf(this.head.content) === 0 && at !== undefined; at = at.parent) {
      if (sizeOf(at.content) === 0) continue;
      this.head = this.#commit({ ...at.content, isFaulty: false }, this.head);
    }
  }

  #commit(content: Content, parent: Commit | undefined): Commit {
    this.#made += 1;
    const id = this.#made.toString(16).padStart(40, '0');
    const commit = { id, parent, content, number: this.#made, contents: this.#contentsOf(content) };
    this.#commits.set(id, commit);
    return commit;
  }
}

export function descendsFrom(commit: Commit, ancestor: string): boolean {
  for (let at: Commit | undefined = commit; at !== undefined; at = at.parent) if (at.id === ancestor) return true;
  return false;
}

export function readingOf(commit: Commit, nowMs: number): SourceReading {
  return {
    revision: `main@sha1:${commit.id}`,
    commit: { id: commit.id, committedMs: nowMs },
    contents: commit.contents,
    observedMs: nowMs,
    descentFrom: async (ancestor): Promise<Descent> =>
      descendsFrom(commit, ancestor) ? 'descends' : 'does-not-descend',
  };
}
