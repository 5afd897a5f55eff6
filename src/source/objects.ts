import { NOT_NEEDED } from '../runtime/clock.ts';
import { createHash } from 'node:crypto';
import PQueue from 'p-queue';
import { type Git, type GitProcess, gitFailed, incompleteClone, interrupted, tooSlow } from './git.ts';
import { safeLine } from '../model/text.ts';
import type { EpochMs } from '../model/time.ts';

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

/** The name of a git object. */
export interface ObjectName {
  /** Object id: SHA-1 or SHA-256 in lower-case hexadecimal. */
  readonly id: string;
  readonly type: ObjectType;
}

/** Facts about a name that git knows without reading the object. */
export type ObjectFacts =
  | { readonly found: 'one'; readonly id: string; readonly type: ObjectType; readonly size: number }
  | { readonly found: 'none' | 'several' };

/**
 * Reads objects with one `git cat-file` process. It starts at the first question, and restarts after a failure. It sees refs and
 * objects that appear while it runs.
 */
export class ObjectReader {
  readonly #git: Git;
  /** One batch of questions at a time, because answers come in the order of the questions. */
  readonly #turns = new PQueue({ concurrency: 1 });
  #process: { readonly git: GitProcess; readonly output: Bytes } | undefined;

  constructor(git: Git) {
    this.#git = git;
  }

  /**
   * Looks up what names refer to now. The answers are in the order of the names.
   * @param names ids or revisions without line breaks.
   * @throws PortolanError `give-up` when git fails or is too slow.
   */
  facts(names: readonly string[]): Promise<readonly ObjectFacts[]> {
    return this.#ask(
      names.map((name) => `info ${name}\n`),
      async (output, index) => this.#factsOf(names[index] as string, await output.line()),
    );
  }

  /**
   * Reads contents, in the order of the names. Checks each against its id: a damaged or forged object is an error.
   * @throws PortolanError `give-up` when an object is missing or damaged, or git fails or is too slow.
   */
  read(names: readonly ObjectName[]): Promise<readonly Uint8Array[]> {
    return this.#ask(
      names.map(({ id }) => `contents ${id}\n`),
      (output, index) => this.#content(names[index] as ObjectName, output),
    );
  }

  /** Ends the process, and resolves when it has ended. */
  async close(): Promise<void> {
    const talk = this.#process;
    this.#process = undefined;
    talk?.git.end();
    await talk?.git.ended;
  }

  #ask<T>(questions: readonly string[], parse: (output: Bytes, index: number) => Promise<T>): Promise<readonly T[]> {
    return this.#turns.add(() => this.#exchange(questions, parse));
  }

  async #exchange<T>(
    questions: readonly string[],
    parse: (output: Bytes, index: number) => Promise<T>,
  ): Promise<readonly T[]> {
    if (questions.length === 0) return [];
    this.#process ??= this.#begin();
    const { git, output } = this.#process;
    const done = new AbortController();
    let isLate = false;
    this.#git.limitTime(done.signal, () => {
      isLate = true;
      git.end();
    });
    try {
      git.write(questions.join(''));
      const answers: T[] = [];
      for (const index of questions.keys()) answers.push(await parse(output, index));
      return answers;
    } catch (error) {
      await this.close();
      if (this.#git.isInterrupted()) throw interrupted();
      if (isLate) throw tooSlow(this.#git.root);
      if (error instanceof Ended) throw this.#failed('read objects', git.errorOutput() || 'it ended too early');
      throw error;
    } finally {
      done.abort(NOT_NEEDED);
    }
  }

  #begin(): { readonly git: GitProcess; readonly output: Bytes } {
    const git = this.#git.start(['cat-file', '--batch-command']);
    return { git, output: new Bytes(git.output) };
  }

  #factsOf(name: string, answer: string): ObjectFacts {
    if (answer === `${name} missing`) return { found: 'none' };
    if (answer === `${name} ambiguous`) return { found: 'several' };
    const [, id, type, size] = /^([0-9a-f]{40,64}) (blob|tree|commit|tag) ([0-9]+)$/.exec(answer) ?? [];
    if (id === undefined) throw this.#failed(`look up ${name}`, `the answer is "${answer}"`);
    return { found: 'one', id, type: type as ObjectType, size: Number(size) };
  }

  async #content({ id, type }: ObjectName, output: Bytes): Promise<Uint8Array> {
    const answer = await output.line();
    if (answer === `${id} missing`) throw incompleteClone(this.#git.root);
    const size = answer.startsWith(`${id} ${type} `) ? Number(answer.slice(id.length + type.length + 2)) : Number.NaN;
    if (!Number.isSafeInteger(size)) throw this.#failed(`read ${type} ${id}`, `the answer is "${answer}"`);
    const content = await output.take(size);
    await output.line();
    if (objectId(type, content, id.length) !== id)
      throw this.#failed(`read ${type} ${id}`, 'its content does not match its id');
    return content;
  }

  #failed(what: string, complaint: string): Error {
    return gitFailed(this.#git.root, what, complaint);
  }
}

function objectId(type: ObjectType, content: Uint8Array, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1');
  return hash.update(`${type} ${content.length}\0`).update(content).digest('hex');
}

/** Thrown when the output ends early. */
class Ended extends Error {}

/** Reads a stream of chunks by lines and by lengths. */
class Bytes {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterator<Buffer>) {
    this.#chunks = chunks;
  }

  /** Returns the text up to a line feed, without it. */
  async line(): Promise<string> {
    let text = '';
    for (;;) {
      const end = this.#rest.indexOf(0x0a);
      if (end !== -1) {
        text += Buffer.from(this.#rest.subarray(0, end)).toString('utf8');
        this.#rest = this.#rest.subarray(end + 1);
        return text;
      }
      text += Buffer.from(this.#rest).toString('utf8');
      await this.#next();
    }
  }

  /** Returns the next bytes as a copy, so that a small file does not keep its whole chunk in memory. */
  async take(length: number): Promise<Uint8Array> {
    const content = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      if (this.#rest.length === 0) await this.#next();
      const part = this.#rest.subarray(0, length - at);
      content.set(part, at);
      at += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return content;
  }

  async #next(): Promise<void> {
    let next: IteratorResult<Buffer>;
    try {
      next = await this.#chunks.next();
    } catch (error) {
      throw new Ended('the stream failed', { cause: error });
    }
    if (next.done === true) throw new Ended('the stream ended');
    this.#rest = next.value;
  }
}

/** One entry of a tree object. */
export interface TreeEntry {
  readonly type: 'folder' | 'file' | 'link' | 'submodule';
  readonly id: string;
  /** The name, without `/`. */
  readonly name: string;
}

/** The parts of a commit object that Portolan uses. */
export interface CommitObject {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly committedMs: EpochMs;
  /** Name and address: `Ann <ann@example.com>`; '' where the object has none. */
  readonly author: string;
  /** First line of the message, which may be cut; '' where the message is empty. */
  readonly subject: string;
}

const SUBJECT_LENGTH_MAX = 200;

const TYPES: Readonly<Record<string, TreeEntry['type']>> = {
  '40000': 'folder',
  '120000': 'link',
  '160000': 'submodule',
};

/**
 * Parses a tree object.
 * @param content of the object, already checked against its id.
 * @param idBytes 20 for SHA-1, 32 for SHA-256.
 * @returns undefined for an object that git would not write: a name is invalid, or occurs twice.
 */
export function parseTree(content: Uint8Array, idBytes: number): readonly TreeEntry[] | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const entries: TreeEntry[] = [];
  const names = new Set<string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, at);
    if (space === -1 || end === -1 || space > end || end + 1 + idBytes > bytes.length) return undefined;
    const mode = bytes.toString('latin1', at, space);
    const name = bytes.toString('utf8', space + 1, end);
    // Different names with invalid UTF-8 can become the same text.
    const exact = bytes.toString('latin1', space + 1, end);
    const id = bytes.toString('hex', end + 1, end + 1 + idBytes);
    if (!/^[0-7]{5,6}$/.test(mode) || name === '' || name.includes('/') || names.has(exact)) return undefined;
    names.add(exact);
    entries.push({ type: TYPES[mode.replace(/^0/, '')] ?? 'file', id, name });
    at = end + 1 + idBytes;
  }
  return entries;
}

/** Parses a commit object. @returns undefined for an object that git would not write. */
export function parseCommit(content: Uint8Array): CommitObject | undefined {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8');
  const header = text.slice(0, text.includes('\n\n') ? text.indexOf('\n\n') : text.length);
  const [, tree] = /^tree ([0-9a-f]+)$/m.exec(header) ?? [];
  const [, seconds] = /^committer .* ([0-9]+) [-+][0-9]{4}$/m.exec(header) ?? [];
  const [, author = ''] = /^author (.{0,1000}) [0-9]+ [-+][0-9]{4}$/m.exec(header) ?? [];
  if (tree === undefined || !header.startsWith('tree ')) return undefined;
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id]) => id as string);
  const [first = ''] = text.slice(header.length).trimStart().slice(0, SUBJECT_LENGTH_MAX).split('\n');
  const subject = safeLine(first.trimEnd());
  return { tree, parents, committedMs: Number(seconds ?? 0) * 1000, author, subject };
}
