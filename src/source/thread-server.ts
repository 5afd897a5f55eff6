import type { Declarations } from '../kinds/kind.ts';
import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import { amendmentOf } from '../manifest/amended-set.ts';
import { PortolanError } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Contents } from './contents.ts';
import {
  type CallName,
  type Calls,
  CONTENTS_MAX,
  type LoadOutput,
  PIECE_LENGTH,
  type Question,
  type Reply,
} from './thread-messages.ts';
import { LocalWorkbench } from './workbench.ts';

type Answers = { readonly [Name in CallName]: (input: Calls[Name]['input']) => Promise<Calls[Name]['output']> };

/** Answers in the thread of a source. @returns what takes each question. */
export function serveWorkbench(options: {
  readonly kinds: Declarations;
  readonly clock: Clock;
  /** The process's PATH: where git is looked for. */
  readonly path: string | undefined;
  reply(reply: Reply): void;
}): (question: Question) => Promise<void> {
  const { kinds, clock, path, reply } = options;
  const server = new ThreadServer(kinds, clock, path);
  return async ({ id, call, input }) => {
    try {
      const output = await server.answers[call](input as never);
      reply({ id, type: 'answer', output });
    } catch (error) {
      if (error instanceof PortolanError) {
        const { code, disposition, message, remedy } = error;
        reply({ id, type: 'error', error: { code, disposition, message, remedy } });
      } else {
        const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
        reply({ id, type: 'fault', reason });
      }
    }
  };
}

class ThreadServer {
  readonly answers: Answers;
  readonly #workbench: LocalWorkbench;
  #limits: SourceLimits | undefined;
  readonly #contents = new Map<number, Contents>();
  readonly #streams = new Map<number, AsyncIterator<string>>();
  #parts: string[] = [];
  #readings = 0;
  #answers = 0;
  /** The set that the other side has. */
  #sent: DesiredState = new Map();

  constructor(kinds: Declarations, clock: Clock, path: string | undefined) {
    this.#workbench = new LocalWorkbench({ kinds, clock, path, limits: () => this.#limits as SourceLimits });
    this.answers = {
      commit: async ({ place, limits }) => {
        this.#limits = limits;
        const { contents, ...facts } = await this.#workbench.commit(place);
        return { ...facts, contents: this.#hold(contents) };
      },
      folder: async ({ place, limits }) => {
        this.#limits = limits;
        const { contents, ...facts } = await this.#workbench.folder(place);
        return { ...facts, contents: this.#hold(contents) };
      },
      files: async ({ files }) => ({ contents: this.#hold(await this.#workbench.files(files)) }),
      part: async ({ text }) => void this.#parts.push(text),
      unpack: async () => {
        const parts = this.#parts;
        this.#parts = [];
        const contents = await this.#workbench.unpack(async function* () {
          yield* parts;
        });
        return { contents: this.#hold(contents) };
      },
      load: (input) => this.#load(input),
      pack: async ({ contents, known }) => {
        const { digests, parts } = await this.#held(contents).pack(known);
        return { digests, stream: this.#stream(pieceByPiece(parts)) };
      },
      next: async ({ stream }) => {
        const next = await this.#streams.get(stream)?.next();
        if (next?.done === false) return next.value;
        this.#streams.delete(stream);
        return undefined;
      },
    };
  }

  async #load({ contents, context }: Calls['load']['input']): Promise<LoadOutput> {
    const { desired, problems, snapshot } = await this.#held(contents).load(context);
    const faults = problems.length > 0 ? problems : tooMany(desired, this.#limits);
    if (faults.length > 0) return { type: 'faulty', snapshot, stream: this.#stream(piecesOf(faults)) };
    const before = this.#sent;
    this.#sent = desired;
    const changed = amendedIn(before, desired);
    return changed === undefined
      ? { type: 'whole', snapshot, stream: this.#stream(piecesOf(entriesOf(before, desired))) }
      : { type: 'amended', snapshot, stream: this.#stream(piecesOf(changed)) };
  }

  #held(number: number): Contents {
    const contents = this.#contents.get(number);
    if (contents === undefined) throw new Error(`contents ${number} are not held any more`);
    return contents;
  }

  #hold(contents: Contents): number {
    this.#readings += 1;
    this.#contents.set(this.#readings, contents);
    this.#contents.delete(this.#readings - CONTENTS_MAX);
    return this.#readings;
  }

  #stream(pieces: AsyncGenerator<string>): number {
    this.#answers += 1;
    this.#streams.set(this.#answers, pieces);
    return this.#answers;
  }
}

/** Checked before the documents are sent: the other side would keep all of them. */
function tooMany(desired: DesiredState, limits: SourceLimits | undefined): readonly Problem[] {
  if (limits === undefined || desired.size <= limits.documents) return [];
  const [first] = desired.values().drop(limits.documents);
  const position = first?.position ?? { file: '', line: 1, column: 1 };
  const message = `the source has ${desired.size} documents, more than spec.source.limits.documents of Settings allows (${limits.documents}); this is the first one beyond that`;
  const hint = 'name fewer folders, or raise the limit';
  return [{ code: 'limit/documents', position, path: '', message, expected: `at most ${limits.documents}`, hint }];
}

/** Resources that are other ones; undefined where the sets differ in more than that. */
function amendedIn(before: DesiredState, now: DesiredState): readonly Resource[] | undefined {
  const amendment = amendmentOf(now);
  if (amendment !== undefined && amendment.before === before)
    return [...amendment.changed].map((id) => now.get(id) as Resource);
  if (before.size !== now.size || now.size === 0) return undefined;
  const ids = before.keys();
  const changed: Resource[] = [];
  for (const [id, resource] of now) {
    if (ids.next().value !== id) return undefined;
    if (before.get(id) !== resource) changed.push(resource);
  }
  return changed;
}

function* entriesOf(before: DesiredState, now: DesiredState): Generator<string | Resource> {
  for (const [id, resource] of now) yield before.get(id) === resource ? id : resource;
}

/** JSON arrays of the items, in order. */
async function* piecesOf(items: Iterable<unknown>): AsyncGenerator<string> {
  let texts: string[] = [];
  let length = 0;
  for (const item of items) {
    const text = JSON.stringify(item);
    texts.push(text);
    length += text.length;
    if (length < PIECE_LENGTH) continue;
    yield `[${texts.join(',')}]`;
    texts = [];
    length = 0;
  }
  if (texts.length > 0) yield `[${texts.join(',')}]`;
}

async function* pieceByPiece(items: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const item of items) yield JSON.stringify([item]);
}
