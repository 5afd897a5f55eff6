import type { Json } from '../model/json.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import type { Ledger } from './ledger.ts';

/**
 * A ledger that several processes (replicas) use at once. Each process writes what its leases cover, reads everything, and shares
 * events, commands and sessions with the others. `postgres/shared.ts` implements it; no other ledger does.
 */
export interface SharedLedger {
  /** Reads all records; it takes no transaction. */
  readonly reader: Ledger;
  /**
   * Takes the lease of a unit.
   * @returns undefined while another process has it, or has the whole ledger, or leads a unit for another source.
   * @throws PortolanError `ledger/newer` once a newer version of Portolan has migrated the ledger: this process must end.
   */
  lead(unit: LeaseUnit): Promise<Lead | undefined>;
  /** Returns the last leader of each unit, by the unit. */
  leaders(): Promise<readonly UnitLeader[]>;
  /**
   * Reports that this process is alive, by the database's clock.
   * @returns the live replicas, by name; this one is among them.
   */
  beat(report: ReplicaReport, isDraining: boolean): Promise<readonly LiveReplica[]>;
  /** Removes this process from the live replicas. */
  leave(): Promise<void>;
  /**
   * Returns the facts that were written after the transaction `serial` and whose keys have one of the prefixes, and the newest
   * serial of the same moment, for the next call. No fact is missed.
   */
  factsSince(serial: number, prefixes: readonly string[]): Promise<ChangedFacts>;
  readonly events: SharedEvents;
  readonly commands: SharedCommands;
  readonly sessions: SharedSessions;
  /**
   * Calls the listener when another process, or this one, has changed something. A signal may be lost, and none arrives behind a
   * pooler: every caller polls too.
   * @returns ends it.
   */
  onSignal(listener: (topic: SignalTopic) => void): () => void;
  /** Releases every lease. */
  close(): Promise<void>;
}

/** Names the part of the ledger that one lease covers: the records of a platform, or of a source. */
export type LeaseUnit = `platform:${string}` | `source:${string}`;

/** The right of this process to write what a unit covers. */
export interface Lead {
  readonly unit: LeaseUnit;
  /**
   * Takes transactions of the unit only, under the epoch of this lease. The ledger of a platform takes its scopes and
   * `platform:NAME`, and in `source:…` only facts that are compared (`was`) or whose keys name the platform. The ledger of a
   * source takes `source:NAME`. Closing it releases the lease at once, without waiting for transactions that were not awaited.
   */
  readonly ledger: Ledger;
  /**
   * No other process can lead the unit before, by the monotonic clock of this process. It counts from before the last renewal was
   * sent.
   */
  validUntilMs(): MonotonicMs;
  /**
   * Aborted once this process knows that it does not lead the unit any more: its lease was taken over, or it has released it. If the
   * database has lost the lease, the reason is the error `ledger/replaced`.
   */
  readonly over: AbortSignal;
}

/** The last process that led a unit. */
export interface UnitLeader {
  readonly unit: LeaseUnit;
  /** Identifies its process, as in `LiveReplica`. */
  readonly holder: string;
  /** Name of the replica, as in its `ReplicaReport`. */
  readonly replica: string;
  /** The source that it works on; undefined: it is an earlier version, which does not say so. */
  readonly source: string | undefined;
  /** Names the process for errors: `portolan run on host-1, pid 4711`. */
  readonly actor: string;
  readonly epoch: number;
  /** By the database's clock. */
  readonly sinceMs: EpochMs;
  /** Time until another process may take the unit. Not positive: it may do so now. */
  readonly leftMs: number;
  /** Its leader has given it up. */
  readonly isReleased: boolean;
}

/** Describes a replica, as it reports with each heartbeat. */
export interface ReplicaReport {
  readonly name: string;
  readonly version: string;
  /** URL of its API for users; null: it has none. */
  readonly address: string | null;
  readonly startedMs: EpochMs;
  /** Facts that only this replica knows: load and breakers of the platforms that it leads. */
  readonly facts: Json;
}

export interface LiveReplica extends ReplicaReport {
  /** Identifies its process: a replica that was restarted may have the name of a former one. */
  readonly holder: string;
  /** Time since its last heartbeat, by the database's clock. */
  readonly seenAgoMs: number;
  /** It is ending, and takes no unit. */
  readonly isDraining: boolean;
  /** The source that it works on; undefined: it is an earlier version, which does not say so. */
  readonly source: string | undefined;
}

export interface ChangedFacts {
  /** The serial to ask from next. */
  readonly serial: number;
  /** Values by key. */
  readonly facts: ReadonlyMap<string, string>;
  /** These are all facts, because another database answers, or one that has lost records: serials from before say nothing of it. */
  readonly isAnew: boolean;
}

/** Events of all replicas in one order. The newest 5,000 are kept. */
export interface SharedEvents {
  /** Gives the events the next sequences, in order. */
  append(events: readonly Json[]): Promise<void>;
  /** Returns at most `limit` events with a higher sequence. */
  since(sequence: number, limit: number): Promise<EventsSince>;
}

export interface EventsSince {
  /** Identifies the process of the database that answered. Another one may lack the last events, and give their sequences to others. */
  readonly server: string;
  /** In order. Sequences increase by one; what is older than the first one was removed. */
  readonly events: readonly SharedEvent[];
}

export interface SharedEvent {
  readonly sequence: number;
  readonly event: Json;
}

/** Orders of users to the leader of a unit. The result of a finished one is kept for an hour, and its arguments are not. */
export interface SharedCommands {
  /**
   * Records a command; it is durable before the promise resolves. The leader of the unit carries it out or refuses it, whichever
   * replica dies.
   * @returns its id.
   */
  add(command: NewCommand): Promise<string>;
  /** Returns the commands of a unit that have no result, oldest first. */
  open(unit: LeaseUnit): Promise<readonly Command[]>;
  /** Returns the commands without a result that are older than this, and whose unit no process leads, oldest first. */
  unled(olderThanMs: number): Promise<readonly Command[]>;
  /** Returns all commands without a result that are older than this, oldest first. */
  overdue(olderThanMs: number): Promise<readonly Command[]>;
  /**
   * Records the result of a command of the unit, or of a unit that no process leads. A command that has a result keeps it.
   * @param overdueMs the age from which the result is recorded also for a unit that another process leads; default: at no age.
   * @throws PortolanError `ledger/fenced` if the lease is not held any more.
   */
  finish(lead: Lead, id: string, result: Json, overdueMs?: number): Promise<void>;
  /** Returns undefined while the command has none, or once it was removed. */
  result(id: string): Promise<Json | undefined>;
}

export interface NewCommand {
  readonly unit: LeaseUnit;
  readonly method: string;
  readonly args: Json;
  /** The user. */
  readonly by: string;
}

export interface Command extends NewCommand {
  readonly id: string;
  /** By the database's clock. */
  readonly addedMs: EpochMs;
  readonly addedAgoMs: number;
}

/** Sessions of browsers, by the hashes of their ids: no database has an id. Times are by the database's clock. */
export interface SharedSessions {
  /** Stores a session that starts now. */
  start(hash: string, user: Json): Promise<void>;
  /** Returns undefined when there is none. */
  find(hash: string): Promise<StoredSession | undefined>;
  /** All sessions, the one used longest ago first. */
  all(): Promise<readonly StoredSession[]>;
  /** Counts as a use of these sessions now. */
  use(hashes: readonly string[]): Promise<void>;
  end(hashes: readonly string[]): Promise<void>;
}

export interface StoredSession {
  readonly hash: string;
  readonly user: Json;
  readonly startedAgoMs: number;
  readonly usedAgoMs: number;
}

/** Names the kind of data that a signal announces. */
export type SignalTopic = 'lease' | 'fact' | 'event' | 'command' | 'session';
