import type { EventsSince, SharedLedger } from '../../ledger/shared.ts';
import { PortolanError } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { ControllerEvent } from '../../model/status.ts';
import type { EpochMs, MonotonicMs } from '../../model/time.ts';
import type { Clock } from '../../runtime/clock.ts';
import { soon } from '../../runtime/look.ts';
import type { Log } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import { LoopBugs } from '../bugs.ts';
import { EVENTS_KEPT, type EventLog, eventOf } from '../events.ts';
import { pause } from './pause.ts';

/** Events wait so long for others, so that a pass that reports many sends few statements. */
const BATCH_MS = 20;
/** Events of one statement. */
const BATCH_MAX = 200;
/** Events that are read at once. */
const READ_MAX = 500;
/** A signal may be lost, and none arrives behind a pooler. */
const POLL_MS = 2_000;
const RETRY_MS_MAX = 5_000;
/** The database was read so recently that it counts as reachable. */
const REACHABLE_MS = 5_000;

export interface SharedEventLog extends EventLog {
  /** When the database was last read. */
  contact(): DatabaseContact;
  /** Stores the events that wait, for at most this time, and reads no more. */
  close(graceMs: number): Promise<void>;
}

export interface DatabaseContact {
  readonly isReachable: boolean;
  readonly asOfMs: EpochMs;
  readonly ageMs: number;
}

export interface SharedEventParts {
  readonly shared: Pick<SharedLedger, 'events' | 'onSignal' | 'reader'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Creates the events of all replicas. The database numbers them, and each replica reads them in this order, its own included, so
 * that a reader can resume at any replica. Publishing only adds to a list that is stored soon after; while the database is out of
 * reach, it keeps as many of the newest as the database would.
 */
export function createSharedEventLog(parts: SharedEventParts): SharedEventLog {
  const { shared, clock, random } = parts;
  const own = new Set<Listener>();
  const processId = random.hex(4);
  let published = 0;
  const stop = new AbortController();
  const ring = createRing();
  const outbox = new Outbox(parts);
  const reader = new Reader(parts, ring, (ids) => outbox.forget(ids));
  const feeding = outbox.feed(reader, stop.signal);
  const polling = reader.poll(stop.signal);
  const unlisten = shared.onSignal((topic) => {
    if (topic === 'event') void reader.read();
  });
  return {
    origin: shared.reader.lineage,
    get newest() {
      return ring.newest();
    },
    publish(draft) {
      published += 1;
      const event = eventOf(draft, { atMs: clock.now(), processId, count: published, sequence: 0 });
      outbox.add(event);
      for (const listener of own) listener(event);
      return event;
    },
    since: ring.since,
    subscribe(listener, of = 'all') {
      const listeners = of === 'own' ? own : ring.listeners;
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    refresh: async () => (await soon(clock, reader.read())) ?? false,
    contact: () => reader.contact(),
    async close(graceMs) {
      await outbox.empty(graceMs);
      unlisten();
      stop.abort(new Error('the controller ends'));
      await Promise.all([feeding, polling]);
      await reader.close();
    },
  };
}

type Listener = (event: ControllerEvent) => void;

/** The newest events, and those who listen for them. An event that was stored twice, after a lost answer, counts once. */
function createRing() {
  const listeners = new Set<Listener>();
  const ids = new Set<string>();
  let events: ControllerEvent[] = [];
  /** The sequence up to which events were read. */
  let through = 0;
  /** Events up to here are no longer stored. */
  let gone = 0;
  /** The newest event that was also read from the former server. */
  let common = 0;
  /** @returns whether it is new. */
  const take = (event: ControllerEvent): boolean => {
    if (event.sequence <= through) return false;
    if (event.sequence > through + 1) {
      // The database has dropped old events before this process read them.
      events = [];
      ids.clear();
      gone = event.sequence - 1;
    }
    through = event.sequence;
    if (ids.has(event.id)) return false;
    ids.add(event.id);
    events.push(event);
    // Half as many more are kept for a moment, so that not each event moves all others.
    if (events.length > EVENTS_KEPT * 1.5) {
      const dropped = events.slice(0, -EVENTS_KEPT);
      events = events.slice(-EVENTS_KEPT);
      for (const { id } of dropped) ids.delete(id);
      gone = dropped.at(-1)?.sequence ?? gone;
    }
    return true;
  };
  return {
    listeners,
    newest: () => through,
    /** Takes the place of all that was read before. */
    replace(all: readonly ControllerEvent[]): void {
      common = all.findLast(({ id }) => ids.has(id))?.sequence ?? 0;
      events = [];
      ids.clear();
      through = 0;
      gone = 0;
      for (const event of all) take(event);
      for (const event of events) for (const listener of listeners) listener(event);
    },
    add(event: ControllerEvent): void {
      if (take(event)) for (const listener of listeners) listener(event);
    },
    since(sequence: number, limit: number) {
      // A sequence that this server has not reached is of the former one, which had events that are lost.
      const isLost = sequence > through;
      const from = indexAfter(events, isLost ? common : sequence);
      const found = events.slice(from, from + limit);
      const isWhole = from + found.length === events.length;
      const last = isWhole ? through : (found.at(-1)?.sequence ?? sequence);
      return { events: found, isComplete: sequence >= gone && !isLost, through: last };
    },
  };
}

/** Returns the index of the first event with a higher sequence. */
function indexAfter(events: readonly ControllerEvent[], sequence: number): number {
  let from = 0;
  let to = events.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((events[middle] as ControllerEvent).sequence > sequence) to = middle;
    else from = middle + 1;
  }
  return from;
}

type Ring = ReturnType<typeof createRing>;

/** Reads events in order, one reading at a time. */
class Reader {
  readonly #parts: SharedEventParts;
  readonly #ring: Ring;
  readonly #onRead: (ids: ReadonlySet<string>) => void;
  #reading: Promise<boolean> | undefined;
  #next: Promise<boolean> | undefined;
  #isClosed = false;
  readonly #bugs: LoopBugs;
  #readMs: MonotonicMs;
  #readAtMs: EpochMs;
  /** The server that answered last. */
  #server: string | undefined;

  constructor(parts: SharedEventParts, ring: Ring, onRead: (ids: ReadonlySet<string>) => void) {
    this.#parts = parts;
    this.#ring = ring;
    this.#onRead = onRead;
    this.#bugs = new LoopBugs(parts.log);
    this.#readMs = parts.clock.monotonic();
    this.#readAtMs = parts.clock.now();
  }

  /** Reads what was stored before this call. Resolves also when the database is out of reach. @returns whether it has read all. */
  read(): Promise<boolean> {
    if (this.#reading === undefined) return this.#begin();
    // The reading under way may have missed it.
    this.#next ??= this.#reading.then(() => {
      this.#next = undefined;
      return this.#begin();
    });
    return this.#next;
  }

  /** Begins no reading any more, and resolves when none is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#reading;
    await this.#next;
  }

  async #begin(): Promise<boolean> {
    if (this.#isClosed) return false;
    this.#reading = this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return await this.#reading;
  }

  async #readAll(): Promise<boolean> {
    try {
      for (;;) {
        const { server, events } = await this.#since(this.#ring.newest());
        if (server !== (this.#server ?? server)) await this.#readAgain();
        else for (const event of events) this.#ring.add(event);
        this.#server = server;
        if (events.length < READ_MAX) break;
      }
      this.#bugs.clear();
      return true;
    } catch (error) {
      // The next read may succeed.
      if (!(error instanceof PortolanError)) this.#bugs.note(error);
      return false;
    }
  }

  async #since(sequence: number) {
    const { clock, shared } = this.#parts;
    const found: EventsSince = await shared.events.since(sequence, READ_MAX);
    [this.#readMs, this.#readAtMs] = [clock.monotonic(), clock.now()];
    const events = found.events.map(({ sequence: number, event }) => {
      return { ...(event as unknown as ControllerEvent), sequence: number };
    });
    this.#onRead(new Set(events.map(({ id }) => id)));
    return { ...found, events };
  }

  /** Reads all events of another server, which may lack the last ones that were read, and have others in their place. */
  async #readAgain(): Promise<void> {
    const all: ControllerEvent[] = [];
    for (;;) {
      const { events } = await this.#since(all.at(-1)?.sequence ?? 0);
      all.push(...events);
      if (events.length < READ_MAX) return this.#ring.replace(all);
    }
  }

  async poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.read();
      await pause(this.#parts.clock, POLL_MS, signal);
    }
  }

  contact(): DatabaseContact {
    const ageMs = Math.max(0, Math.round(this.#parts.clock.monotonic() - this.#readMs));
    return { isReachable: ageMs < REACHABLE_MS, asOfMs: this.#readAtMs, ageMs };
  }
}

/** The events of this process that are not stored yet, oldest first. */
class Outbox {
  readonly #parts: SharedEventParts;
  #waiting: ControllerEvent[] = [];
  #dropped = 0;
  #wake: (() => void) | undefined;
  #emptied: (() => void)[] = [];
  readonly #bugs: LoopBugs;

  constructor(parts: SharedEventParts) {
    this.#parts = parts;
    this.#bugs = new LoopBugs(parts.log);
  }

  add(event: ControllerEvent): void {
    this.#waiting.push(event);
    if (this.#waiting.length > EVENTS_KEPT) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
    this.#wake?.();
  }

  /** Removes events that were read, so they are stored. */
  forget(ids: ReadonlySet<string>): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter(({ id }) => !ids.has(id));
    if (this.#waiting.length === 0) for (const emptied of this.#emptied.splice(0)) emptied();
  }

  /** Resolves when all events are stored, or after this time. */
  async empty(graceMs: number): Promise<void> {
    if (this.#waiting.length === 0) return;
    const enough = new AbortController();
    const emptied = new Promise<void>((resolve) => this.#emptied.push(resolve));
    await Promise.race([emptied, pause(this.#parts.clock, graceMs, enough.signal)]);
    enough.abort();
  }

  /** Stores events until the signal is aborted. */
  async feed(reader: Reader, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    let failures = 0;
    signal.addEventListener('abort', () => this.#wake?.(), { once: true });
    while (!signal.aborted) {
      if (this.#waiting.length === 0) await this.#whenAdded();
      const waitMs = failures === 0 ? BATCH_MS : Math.min(RETRY_MS_MAX, BATCH_MS * 8 * 2 ** failures);
      await pause(clock, waitMs, signal);
      if (signal.aborted || this.#waiting.length === 0) continue;
      // The database may have stored them, although its answer was lost.
      if (failures > 0) await reader.read();
      failures = (await this.#storeSome(failures)) ? 0 : failures + 1;
      if (failures === 0) await reader.read();
    }
  }

  async #storeSome(failures: number): Promise<boolean> {
    const { shared, log } = this.#parts;
    const batch = this.#waiting.slice(0, BATCH_MAX);
    if (batch.length === 0) return true;
    try {
      await shared.events.append(batch.map(({ sequence: _, ...event }) => event as unknown as Json));
      this.forget(new Set(batch.map(({ id }) => id)));
      if (failures > 0)
        log.info('events are stored in the database again', { waiting: this.#waiting.length, dropped: this.#dropped });
      this.#dropped = 0;
      this.#bugs.clear();
      return true;
    } catch (error) {
      if (!(error instanceof PortolanError)) this.#bugs.note(error);
      else if (failures === 0) {
        const { code, remedy } = error;
        log.warn('events wait in memory: the database does not store them', { code, remedy });
      }
      return false;
    }
  }

  async #whenAdded(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}
