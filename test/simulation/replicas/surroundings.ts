import type { LeaseUnit } from '../../../src/ledger/shared.ts';
import { STALE_MS } from '../../../src/controller/replicas/shared-state.ts';
import { defaultTiming, type Timing } from '../../../src/reconcile/apply/world.ts';
import type { MemoryDatabase } from '../../support/memory-database.ts';
import { type AppName, OTHER_PLATFORM } from '../drivers/estate.ts';
import type { Commit, Git } from '../drivers/git.ts';
import type { Sends } from '../drivers/sends.ts';
import type { SettingTimes } from '../drivers/settings.ts';
import type { Sender, Surroundings } from '../drivers/surroundings.ts';

/** Shorter than by default, as all times here, so that a schedule takes less virtual time. */
export const LEASE_MS = 7_500;
/** The part of the times that a schedule of one controller has. */
export const PACE = 0.5;
/** What one process stores reaches the others within this time, or they send nothing. */
export const LAG_MS = STALE_MS * 1.03 + 2_000;
export const settingTimes: SettingTimes = {
  pruneAfterMs: [20_000, 60_000, 120_000],
  resyncIntervalMs: [20_000, 60_000],
};
/** How much later than it asked for a busy process goes on at most. */
export const LATE_MS = 1_500;
/** How much faster or slower than time a monotonic clock runs at most. */
export const CLOCK_ERROR = 0.03;
/** The platform of each application that is not on the default one, until it moves. */
export const platforms: ReadonlyMap<AppName, string> = new Map([['three', OTHER_PLATFORM]]);
export const PLATFORMS: ReadonlySet<string> = new Set(['default', OTHER_PLATFORM]);

/** Shorter settle windows than by default; the platform acts within them. */
export const timing: Timing = {
  ...defaultTiming,
  settleTargetStateMs: 8_000,
  settleCreationMs: 15_000,
  settleInstallMs: 40_000,
};

/** The platform acts within a settle window by any clock. */
export const platformTiming: Timing = {
  ...timing,
  settleTargetStateMs: timing.settleTargetStateMs * (1 - CLOCK_ERROR),
  settleCreationMs: timing.settleCreationMs * (1 - CLOCK_ERROR),
  settleInstallMs: timing.settleInstallMs * (1 - CLOCK_ERROR),
};

/** What a process may be cut off from: the database does not hear it, or it does not hear the database; the platform; git. */
export type Link = 'requests' | 'answers' | 'platform' | 'git';

/** One of several controllers. */
export interface Peer extends Sender {
  readonly name: string;
  readonly isFrozen: boolean;
  isCut(link: Link): boolean;
  /** Something of the database arrives. */
  receive(run: () => void): void;
  /** It has taken a lease. */
  takes(epoch: number): void;
  /** Whether it leads a unit, as it believes. */
  leads(unit: LeaseUnit): boolean;
  /** Whether it believes that a request may leave. */
  mayWrite(unit: LeaseUnit): boolean;
}

/** The world of several controllers. */
export interface ReplicaSurroundings extends Surroundings {
  readonly database: MemoryDatabase;
  readonly timing: Timing;
  readonly git: Git;
  readonly truth: Sends;
  /** The share of signals that never arrive. */
  readonly lostSignals: number;
  readonly leaders: { sends(platform: string, replica: string, epoch: number): void };
  readonly alive: readonly Peer[];
  named(name: string): Peer | undefined;
  /** Whether the database is out of reach for all. */
  isOut(): boolean;
  /** Whether the accepted revision names a rule, or one did that some process may still follow. */
  isNamed(name: AppName, key: string): boolean;
  /** Whether the accepted revision has an application in this scope, or one did that some process may still follow. */
  isPlaced(scope: string): boolean;
  /** When the accepted revision moved an application away from this scope; undefined: it did not. */
  movedMs(scope: string): number | undefined;
  /** What was accepted so long ago that every process that can write knows it. */
  settledCommit(): Commit | undefined;
}
