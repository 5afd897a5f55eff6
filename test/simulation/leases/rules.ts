import { type Claim, holdsLease, type Leases } from '../../support/lease-rows.ts';

/** How the monotonic clock of a process runs: a tick is lost, or gained, in each period. */
export type Rate = 'even' | 'slow' | 'fast';

/** Durations in ticks. */
export interface Timing {
  readonly lease: number;
  readonly sendWithin: number;
  readonly margin: number;
  /** The longest between the check of a deadline and the first byte: both happen in one turn of the event loop. */
  readonly leave: number;
  /** Time in which the platform finishes a request, or abandons it. */
  readonly platform: number;
  /** The settle window of a write in doubt. */
  readonly settle: number;
}

/** The shortest times in which everything has its place, and in which a request outlives the lease of who sent it. */
export const coarse: Timing = { lease: 3, sendWithin: 1, margin: 1, leave: 1, platform: 3, settle: 4 };

/** One renewal, or taking, that was answered with yes. Times are of the process's own monotonic clock, but for the last two. */
export interface Renewal {
  readonly formerTicks: number;
  readonly sentTicks: number;
  readonly answeredTicks: number;
  /** The end of the lease, by the clock of the database. */
  readonly expiresTicks: number;
  /** The wall clock of the process shows so much more than that of the database. */
  readonly wallOffsetTicks: number;
}

/** The decisions of the protocol, as in production. A mutant replaces one of them. */
export interface LeaseRules {
  /** Until when a lease is valid. */
  validUntil(renewal: Renewal, timing: Timing): number;
  /** Before when a request must leave, whenever its intent was recorded. */
  lastSend(validUntilTicks: number, timing: Timing): number;
  /** Whether the database takes a transaction. */
  accepts(leases: Leases, claim: Claim): boolean;
  /** A process gives its lease up while it has a write under way. */
  readonly releasesInFlight: boolean;
  /** A successor does not ask what its predecessor may have sent. */
  readonly forgetsIntents: boolean;
}

export const production: LeaseRules = {
  validUntil: ({ formerTicks, sentTicks }, { lease }) => Math.max(formerTicks, sentTicks + lease),
  lastSend: (validUntilTicks, { sendWithin, margin }) => validUntilTicks - (sendWithin + margin),
  accepts: holdsLease,
  releasesInFlight: false,
  forgetsIntents: false,
};

export interface LeaseMutant {
  readonly name: string;
  readonly rules: Partial<LeaseRules>;
  /** Clocks that show it sooner. */
  readonly rates?: readonly Rate[];
  /** Statements that the database carries out late. */
  readonly ghostsMax?: number;
  /** Invariants that may kill it. */
  readonly rightly: readonly string[];
}

export const leaseMutants: readonly LeaseMutant[] = [
  {
    name: 'the epoch is not checked',
    rules: { accepts: ({ epoch, rows }, { scope, holder }) => holdsLease({ epoch, rows }, { scope, holder, epoch }) },
    ghostsMax: 1,
    rightly: ['fenced'],
  },
  { name: 'the fence is ignored', rules: { accepts: () => true }, rightly: ['fenced'] },
  {
    name: 'the local wall clock is trusted',
    rules: { validUntil: ({ expiresTicks, wallOffsetTicks }) => expiresTicks - wallOffsetTicks },
    rightly: ['one sender'],
  },
  {
    name: 'validity counts from the answer',
    rules: { validUntil: ({ formerTicks, answeredTicks }, { lease }) => Math.max(formerTicks, answeredTicks + lease) },
    rightly: ['one sender'],
  },
  {
    name: 'the margin is left out',
    rules: { lastSend: (validUntilTicks) => validUntilTicks },
    rates: ['slow', 'slow'],
    rightly: ['one sender'],
  },
  {
    name: 'released with a write in flight',
    rules: { releasesInFlight: true },
    rightly: ['one sender', 'handed over'],
  },
  { name: 'open intents are forgotten at a takeover', rules: { forgetsIntents: true }, rightly: ['one request'] },
];
