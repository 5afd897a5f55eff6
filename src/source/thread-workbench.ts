import PQueue from 'p-queue';
import { amend } from '../manifest/amended-set.ts';
import type { SourceFile } from '../manifest/text.ts';
import { bareValue, sharedText, type Value } from '../manifest/values.ts';
import type { PolicyQuestion, PolicyResult } from '../policies/spec.ts';
import { PortolanError } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import { safeLine } from '../model/text.ts';
import { after, type Clock, NOT_NEEDED } from '../runtime/clock.ts';
import type { OpenThread } from '../runtime/thread.ts';
import type {
  CommitContents,
  CommitPlace,
  Contents,
  FolderContents,
  FolderPlace,
  Limits,
  Workbench,
} from './contents.ts';
import { interrupted } from './git.ts';
import type { PackedPart } from './packing.ts';
import type { Calls, Stream } from './thread-messages.ts';
import { ThreadEnded, ThreadSession } from './thread-session.ts';
import { type Attempt, loadingOf, type Unreadable } from './unreadable.ts';

export interface ThreadWorkbenchOptions {
  readonly openThread: OpenThread;
  readonly clock: Clock;
  readonly limits: Limits;
  /** Sources that exceeded the limits earlier. Default: none. */
  readonly unreadable?: Unreadable;
  /** The thread ends after this idle time. Default: it stays, so that a commit costs only its changes. */
  readonly idleMs?: number;
  /** Returns the error for work that ended the thread. */
  failure(why: ThreadFailure, label: string): PortolanError;
}

export type ThreadFailure =
  | { readonly type: 'out-of-memory' | 'too-slow' }
  | { readonly type: 'failed'; readonly reason: string };

/** Time after which an attempt is recorded. Most commits take less time and need no write. */
const ATTEMPT_MS = 200;

interface Task {
  readonly attempt?: Attempt | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The task only returns files that were read. Closing the workbench waits for it. */
  readonly isHandOut?: boolean;
  /** Returns the error for a task that ended the thread. Default: that of the options. */
  failure?(why: ThreadFailure): PortolanError;
}

/**
 * Reads and parses in a thread, which starts with the first task. Its heap and the time of each task are limited. A task that
 * exceeds a limit ends the thread, and the next task starts another one.
 */
export class ThreadWorkbench implements Workbench {
  readonly #options: ThreadWorkbenchOptions;
  readonly #turns = new PQueue({ concurrency: 1 });
  #session: ThreadSession | undefined;
  #task: Task | undefined;
  #isClosing = false;
  #idle = new AbortController();

  constructor(options: ThreadWorkbenchOptions) {
    this.#options = options;
  }

  commit(place: CommitPlace, label: string): Promise<CommitContents> {
    return this.#read('commit', place, label);
  }

  folder(place: FolderPlace, label: string): Promise<FolderContents> {
    return this.#read('folder', place, label, (before, now) => {
      if (now.digest === before.digest) return;
      throw new PortolanError({
        code: 'source/changed',
        disposition: 'retry',
        message: `The files of ${place.paths.join(', ')} changed after they were read, and the thread that read them ended. Nothing was applied.`,
        remedy: 'Do nothing: Portolan reads them again.',
      });
    });
  }

  /** Reads a place. @param requireSame throws when a second reading differs; a commit never differs. */
  #read<Name extends 'commit' | 'folder'>(
    call: Name,
    place: Calls[Name]['input']['place'],
    label: string,
    requireSame: (before: Calls[Name]['output'], now: Calls[Name]['output']) => void = () => {},
  ): Promise<Omit<Calls[Name]['output'], 'contents'> & { readonly contents: Contents }> {
    // An attempt is remembered together with its limits.
    const limits = this.#options.limits();
    const attempt = this.#options.unreadable?.attempt(place, label, limits);
    const read = (session: ThreadSession): Promise<Calls[Name]['output']> =>
      session.open(call, { place, limits } as Calls[Name]['input']);
    return this.run({ attempt }, async (session) => {
      const found = await read(session);
      const reopen = async (other: ThreadSession): Promise<number> => {
        const now = await read(other);
        requireSame(found, now);
        return now.contents;
      };
      return { ...found, contents: threadContents(this, { session, contents: found.contents }, reopen, attempt) };
    });
  }

  unpack(read: () => Iterable<string> | AsyncIterable<string>): Promise<Contents> {
    return this.#hold({}, async (session) => {
      const { parts } = await session.call('parts', undefined);
      for await (const text of read()) await session.call('part', { parts, text });
      return session.open('unpack', { parts });
    });
  }

  files(files: readonly SourceFile[], signal?: AbortSignal): Promise<Contents> {
    return this.#hold({ signal }, (session) => session.open('files', { files }));
  }

  #hold(task: Task, open: (session: ThreadSession) => Promise<{ readonly contents: number }>): Promise<Contents> {
    const reopen = async (session: ThreadSession): Promise<number> => (await open(session)).contents;
    return this.run(task, async (session) => {
      return threadContents(this, { session, contents: await reopen(session) }, reopen);
    });
  }

  judge(question: PolicyQuestion): Promise<readonly PolicyResult[]> {
    return this.run({ failure: policyFailure }, (session) => session.call('judge', question));
  }

  async forgetFailures(): Promise<boolean> {
    return (await this.#options.unreadable?.forget()) ?? false;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#idle.abort(NOT_NEEDED);
    if (this.#task?.isHandOut !== true) await this.#session?.end();
    await this.#turns.onIdle();
    await this.#session?.end();
  }

  /**
   * Runs tasks one after another.
   * @throws PortolanError `failure` when the task ended the thread, now or earlier.
   */
  run<T>(task: Task, work: (session: ThreadSession) => Promise<T>): Promise<T> {
    return this.#turns.add(async () => {
      this.#idle.abort(NOT_NEEDED);
      if (this.#isClosing && task.isHandOut !== true) throw interrupted();
      task.signal?.throwIfAborted();
      if (task.attempt !== undefined) await this.#options.unreadable?.check(task.attempt);
      this.#task = task;
      try {
        return await this.#watched(task, work);
      } finally {
        this.#task = undefined;
        this.#endWhenIdle();
      }
    });
  }

  async #watched<T>(task: Task, work: (session: ThreadSession) => Promise<T>): Promise<T> {
    const { clock, limits, failure } = this.#options;
    const session = await this.#open();
    const done = new AbortController();
    let isLate = false;
    const end = (): void => void session.end();
    task.signal?.addEventListener('abort', end, { once: true });
    after(clock, limits().timeoutMs, done.signal, () => {
      isLate = true;
      end();
    });
    const isBegun = this.#begin(task, done.signal);
    try {
      return await work(session);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      task.signal?.throwIfAborted();
      if (this.#isClosing) throw interrupted();
      const why = reasonOf(error, isLate);
      const failed = task.failure?.(why) ?? failure(why, task.attempt?.label ?? '');
      if (task.attempt !== undefined) await this.#options.unreadable?.remember(task.attempt, failed);
      throw failed;
    } finally {
      done.abort(NOT_NEEDED);
      task.signal?.removeEventListener('abort', end);
      if (task.attempt !== undefined && (await isBegun)) await this.#options.unreadable?.end(task.attempt);
    }
  }

  /**
   * Records an attempt that takes long. A process that does not lead the source cannot record it, so it records it once it leads.
   * @returns whether it was recorded.
   */
  async #begin({ attempt }: Task, done: AbortSignal): Promise<boolean> {
    const { clock, unreadable } = this.#options;
    if (attempt === undefined || unreadable === undefined) return false;
    try {
      do await clock.sleep(ATTEMPT_MS, done);
      while (!(await unreadable.begin(attempt)));
      return true;
    } catch {
      return false; // It took less time, or the ledger rejects writes, which other writes report.
    }
  }

  async #open(): Promise<ThreadSession> {
    if (this.#session === undefined || this.#session.isGone) {
      const { openThread, limits } = this.#options;
      // Two threads at once would need the memory of both.
      await this.#session?.end();
      this.#session = new ThreadSession(await openThread({ heapMib: limits().heapMib }));
    }
    return this.#session;
  }

  #endWhenIdle(): void {
    const { clock, idleMs } = this.#options;
    if (idleMs === undefined || this.#isClosing || this.#turns.size > 0) return;
    this.#idle = new AbortController();
    after(clock, idleMs, this.#idle.signal, () => void this.#session?.end());
  }
}

/** Returns files in a thread. If that thread has ended, `open` reads them in the next one. */
function threadContents(
  workbench: ThreadWorkbench,
  first: { readonly session: ThreadSession; readonly contents: number },
  open: (session: ThreadSession) => Promise<number>,
  reading?: Attempt,
): Contents {
  let at = first;
  const attempt = reading && loadingOf(reading);
  const numberIn = async (session: ThreadSession): Promise<number> => {
    if (at.session !== session || !session.holds(at.contents)) at = { session, contents: await open(session) };
    return at.contents;
  };
  return {
    load: ({ variables, operator: { platforms, stores } }, signal) =>
      workbench.run({ attempt, signal }, async (session) => {
        const contents = await numberIn(session);
        // The thread gets no other names of the operator.
        const context = { variables, operator: { platforms, stores } };
        const { type, stream, snapshot } = await session.call('load', { contents, context });
        if (type === 'faulty') {
          const problems = await Array.fromAsync(session.items<Problem>(stream));
          return { desired: new Map(), problems, snapshot };
        }
        const desired = await receive(session, type, stream);
        session.base = desired;
        return { desired, problems: [], snapshot };
      }),
    pack: (known) =>
      workbench.run({ isHandOut: true }, async (session) => {
        const { digests, stream } = await session.call('pack', { contents: await numberIn(session), known });
        return { digests, parts: await Array.fromAsync(session.items<PackedPart>(stream)) };
      }),
  };
}

async function receive(session: ThreadSession, type: 'amended' | 'whole', stream: Stream): Promise<DesiredState> {
  const { base } = session;
  const received = new Map<ResourceId, Resource>();
  for await (const item of session.items<ResourceId | Resource>(stream)) {
    const resource = typeof item === 'string' ? (base.get(item) as Resource) : bareResource(item);
    received.set(resource.id, resource);
  }
  if (type === 'whole') return received;
  return received.size === 0 ? base : amend(base, received);
}

/** Returns the resource as if it was parsed here: its maps have no prototype, so a key cannot collide with a member of Object. */
function bareResource({ id, kind, name, labels, annotations, spec, position }: Resource): Resource {
  return {
    id,
    kind: sharedText(kind),
    name,
    position,
    labels: bareValue(labels as Value) as Resource['labels'],
    annotations: bareValue(annotations as Value) as Resource['annotations'],
    spec: bareValue(spec as Value),
  };
}

function reasonOf({ end }: ThreadEnded, isLate: boolean): ThreadFailure {
  if (isLate) return { type: 'too-slow' };
  if (end.type === 'out-of-memory') return { type: 'out-of-memory' };
  return { type: 'failed', reason: end.type === 'failed' ? end.reason : 'it ended by itself' };
}

/** Returns the error for policies whose evaluation ended the thread. Nothing is sent for the application. */
function policyFailure(why: ThreadFailure): PortolanError {
  const happened = { 'too-slow': 'took too long', 'out-of-memory': 'took too much memory', failed: 'ended its thread' };
  const reason = why.type === 'failed' ? `: ${safeLine(why.reason)}` : '';
  return new PortolanError({
    code: 'policy/not-evaluated',
    disposition: 'retry',
    message: `The evaluation of the policies ${happened[why.type]}${reason}. Nothing was sent.`,
    remedy: 'Simplify the expressions in spec.policies of Settings. Portolan retries automatically.',
  });
}
