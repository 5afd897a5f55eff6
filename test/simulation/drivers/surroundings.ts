import type { LedgerTransaction } from '../../../src/ledger/ledger.ts';
import type { Books } from '../books.ts';
import type { Intent } from '../../../src/model/owned.ts';
import type { Workbench } from '../../../src/source/contents.ts';
import type { Transport } from '../../../src/platform/transport.ts';
import type { Chance } from '../chance.ts';
import type { LedgerHost } from '../ledgers.ts';
import type { Span } from '../spans.ts';
import type { WiredWorld } from '../wire.ts';
import type { AppName } from './estate.ts';
import type { Git } from './git.ts';
import type { Permissions, Write } from './permissions.ts';
import type { DriverSettings } from './settings.ts';

/** One process with the ledger open, as the world and the invariants look at it. */
export interface Sender {
  readonly number: number;
  readonly kind: 'daemon' | 'command' | 'person';
  readonly alive: boolean;
  readonly epoch: number;
  /** When it lived. */
  readonly life: Span;
  /** Virtual time at which it was asked to end. */
  readonly drainMs: number | undefined;
  /** A person, or a job in the name of one, has seen what it removes. */
  readonly isAgreed: boolean;
  /** `--allow-rewind`: a person confirms the rewind, for this run and for those after it. */
  readonly allowsRewind: boolean;
  /** Whether an intent is one of its own. */
  owns(intent: Intent): boolean;
  /** From its beginning to its end. */
  live(): Promise<void>;
  /** SIGTERM. */
  stop(): void;
  kill(): void;
  /**
   * A write leaves: what must be allowed then.
   * @param atMs when its intent was opened.
   * @returns whether it is done in the name of a person, and so counts for no allowance.
   */
  check(write: Write, atMs: number): boolean;
  /** It has told the ledger something. */
  hasCommitted(transaction: LedgerTransaction): void;
}

/** The world, as a process has to do with it. */
export interface Surroundings extends WiredWorld<Sender> {
  readonly seed: number;
  readonly books: Books;
  readonly permissions: Permissions;
  readonly git: Git;
  readonly ledgers: LedgerHost;
  readonly boot: string;
  readonly wallOffsetMs: number;
  /** What a process that sends at this step saw on its wall clock last. */
  readonly seenWallMs: number;
  readonly isCalm: boolean;
  /** Digests that wait in the ledger to be taken up. */
  readonly approved: Map<AppName, string>;
  settings: DriverSettings;
  /** What an operator might configure. */
  anySettings(chance: Chance): DriverSettings;
  /** What a schedule is worth. */
  approvals: number;
  sourceChanges: number;
  sharedReadings: number;
  resolved: number;
  /** Returns how much of the time between two moments some process could see what is missing from the source. */
  watchedMs(scope: string, fromMs: number, toMs: number): number;
  /** A pass begins. */
  began(process: Sender): void;
  readonly workbench: Workbench;
  /** How long a feed needs to read a commit. */
  readonly readingMs: number;
  /** Of one process. */
  chanceOf(number: number): Chance;
  transportOf(process: Sender): Transport;
  takeFullDisk(): boolean;
  committed(transaction: LedgerTransaction, process: Sender): void;
  /** A process has come to its end by itself. */
  ended(process: Sender): void;
}
