import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import { amendmentOf } from '../manifest/amended-set.ts';
import { errorFacts, PortolanError } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import type { Contents } from './contents.ts';
import {
  type CallName,
  type Calls,
  CONTENTS_MAX,
  type LoadOutput,
  PIECE_LENGTH,
  type Question,
  type Reply,
  type Stream,
} from './thread-messages.ts';
import { LocalWorkbench, type WorkbenchOptions } from './workbench.ts';

type Answers = { readonly [Name in CallName]: (input: Calls[Name]['input']) => Promise<Calls[Name]['output']> };

/** Serves a workbench in the thread of a source. @returns a function that takes each question. */
export function serveWorkbench({
  reply,
  ...around
}: Surroundings & { reply(reply: Reply): void }): (question: Question) => Promise<void> {
  const answers = answersOf(around);
  return async ({ id, call, input }) => {
    try {
      const output = await answers[call](input as never);
      reply({ id, type: 'answer', output });
    } catch (error) {
      if (error instanceof PortolanError) reply({ id, type: 'error', error: errorFacts(error) });
      else {
        const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
        reply({ id, type: 'fault', reason });
      }
    }
  };
}

/** The rest of an answer: the next piece, read already to know that there is one, and what follows it. */
interface Rest {
  readonly piece: string;
  readonly after: AsyncIterator<string>;
}

type Surroundings = Omit<WorkbenchOptions, 'limits'>;

function answersOf(around: Surroundings): Answers {
  let limits: SourceLimits | undefined;
  /** The set that the main thread has. */
  let sent: DesiredState = new Map();
  const workbench = new LocalWorkbench({ ...around, limits: () => limits as SourceLimits });
  const held = numbered<Contents>(CONTENTS_MAX);
  const rests = numbered<Rest>();
  const packed = numbered<string[]>(1);
  const streamFrom = async ({ piece, after }: Rest): Promise<Stream> => {
    const next = await after.next();
    return { piece, rest: next.done === true ? undefined : rests.add({ piece: next.value, after }) };
  };
  const streamOf = async (pieces: AsyncIterator<string>): Promise<Stream> => {
    const first = await pieces.next();
    if (first.done === true) return { piece: undefined, rest: undefined };
    return streamFrom({ piece: first.value, after: pieces });
  };
  const hold = <Read extends { readonly contents: Contents }>(read: Read) => {
    return { ...read, contents: held.add(read.contents) };
  };
  return {
    commit: async ({ place, limits: next }) => {
      limits = next;
      return hold(await workbench.commit(place));
    },
    folder: async ({ place, limits: next }) => {
      limits = next;
      return hold(await workbench.folder(place));
    },
    files: async ({ files }) => ({ contents: held.add(await workbench.files(files)) }),
    parts: async () => ({ parts: packed.add([]) }),
    part: async ({ parts, text }) => void packed.get(parts).push(text),
    unpack: async ({ parts }) => {
      const texts = packed.take(parts);
      return { contents: held.add(await workbench.unpack(() => texts)) };
    },
    load: async ({ contents, context }) => {
      const { desired, problems, snapshot } = await held.get(contents).load(context);
      const answer = async (type: LoadOutput['type'], items: Iterable<unknown>): Promise<LoadOutput> => {
        return { type, snapshot, stream: await streamOf(piecesOf(items)) };
      };
      const faults = problems.length > 0 ? problems : tooMany(desired, limits);
      if (faults.length > 0) return answer('faulty', faults);
      const before = sent;
      sent = desired;
      const changed = amendedIn(before, desired);
      return changed === undefined ? answer('whole', entriesOf(before, desired)) : answer('amended', changed);
    },
    judge: (question) => workbench.judge(question),
    pack: async ({ contents, known }) => {
      const { digests, parts } = await held.get(contents).pack(known);
      return { digests, stream: await streamOf(pieceByPiece(parts)) };
    },
    next: async ({ rest }) => streamFrom(rests.take(rest)),
  };
}

/** Stores values under numbers that the main thread uses. @param max number of values to keep, the newest. */
function numbered<Value>(max = Number.POSITIVE_INFINITY) {
  const values = new Map<number, Value>();
  let last = 0;
  const get = (number: number): Value => {
    const value = values.get(number);
    if (value === undefined) throw new Error(`${number} is not held any more`);
    return value;
  };
  return {
    add(value: Value): number {
      last += 1;
      values.set(last, value);
      values.delete(last - max);
      return last;
    },
    get,
    /** Returns a value that is not needed any more. */
    take(number: number): Value {
      const value = get(number);
      values.delete(number);
      return value;
    },
  };
}

/** Returns a problem when there are too many documents. Checked here because the main thread keeps all documents. */
function tooMany(desired: DesiredState, limits: SourceLimits | undefined): readonly Problem[] {
  if (limits === undefined || desired.size <= limits.documents) return [];
  const [first] = desired.values().drop(limits.documents);
  const position = first?.position ?? { file: '', line: 1, column: 1 };
  const message = `the source has ${desired.size} documents, more than spec.source.limits.documents of Settings allows (${limits.documents}); this is the first one above the limit`;
  const hint = 'name fewer folders, or raise the limit';
  return [{ code: 'limit/documents', position, path: '', message, expected: `at most ${limits.documents}`, hint }];
}

/** Returns the changed resources; undefined when the sets have different ids or another order. */
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

/** Yields the items in order, as JSON arrays. */
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

async function* pieceByPiece(items: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const item of items) yield JSON.stringify([item]);
}
