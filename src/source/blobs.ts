import { createHash } from 'node:crypto';
import PQueue from 'p-queue';
import { GIT_TIME_LIMIT_MS, type Git, type GitConversation, gitFailed, interrupted, tooSlow } from './git.ts';

/** A blob as a tree names it. */
export interface BlobName {
  /** Object id, SHA-1 or SHA-256, lower-case hexadecimal. */
  readonly id: string;
  /** Bytes. */
  readonly size: number;
}

/** One `cat-file` for any number of blobs: it starts with the first, and again after it has failed. */
export class BlobReader {
  readonly #git: Git;
  /** Answers come in the order of the questions. */
  readonly #turns = new PQueue({ concurrency: 1 });
  #talk: { readonly git: GitConversation; readonly heard: Bytes } | undefined;

  constructor(git: Git) {
    this.#git = git;
  }

  /**
   * Contents in the order of the names. Each is checked against its id: a damaged or forged object is an error.
   * @throws PortolanError `give-up` when one is missing or not what it should be, or git fails or is too slow.
   */
  read(blobs: readonly BlobName[]): Promise<readonly Uint8Array[]> {
    return this.#turns.add(() => this.#read(blobs));
  }

  close(): void {
    this.#talk?.git.end();
    this.#talk = undefined;
  }

  async #read(blobs: readonly BlobName[]): Promise<readonly Uint8Array[]> {
    if (blobs.length === 0) return [];
    this.#talk ??= this.#begin();
    const { git, heard } = this.#talk;
    const done = new AbortController();
    let isLate = false;
    this.#git.after(GIT_TIME_LIMIT_MS, done.signal, () => {
      isLate = true;
      git.end();
    });
    try {
      git.say(blobs.map(({ id }) => `${id}\n`).join(''));
      const contents: Uint8Array[] = [];
      for (const blob of blobs) contents.push(await this.#one(blob, heard));
      return contents;
    } catch (error) {
      this.close();
      if (this.#git.isInterrupted()) throw interrupted();
      if (isLate) throw tooSlow(this.#git.root);
      if (error instanceof Ended) throw this.#failed('read objects', git.complaints() || 'it ended early');
      throw error;
    } finally {
      done.abort();
    }
  }

  #begin(): { readonly git: GitConversation; readonly heard: Bytes } {
    const git = this.#git.start(['cat-file', '--batch']);
    return { git, heard: new Bytes(git.heard) };
  }

  async #one({ id, size }: BlobName, heard: Bytes): Promise<Uint8Array> {
    const answer = await heard.line();
    if (answer !== `${id} blob ${size}`) throw this.#failed(`read object ${id}`, `it answers "${answer}"`);
    const content = await heard.take(size);
    await heard.line();
    if (blobId(content, id.length) !== id)
      throw this.#failed(`read object ${id}`, 'its content is another than its id says');
    return content;
  }

  #failed(what: string, complaint: string): Error {
    return gitFailed(this.#git.root, what, complaint);
  }
}

function blobId(content: Uint8Array, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** The other side has nothing more to say. */
class Ended extends Error {}

/** A stream of chunks, taken by lines and by lengths. */
class Bytes {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterator<Buffer>) {
    this.#chunks = chunks;
  }

  /** Up to a line feed, without it. */
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

  /** A copy, so that a small file does not keep the chunk that it came in. */
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
