import type { Ledger } from '../../ledger/ledger.ts';
import type { Lead, LeaseUnit } from '../../ledger/shared.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';

/**
 * Decides what this process may write: passes of a platform need the lead of the platform, and the acceptance of commits needs the
 * lead of the source.
 */
export interface Leadership {
  /** Other processes share the ledger: each unit has its leader, and a lost one does not end this process. */
  readonly isShared: boolean;
  /** A request leaves only if the lease is valid for longer than this, which covers the way of its first byte. */
  readonly sendMarginMs: number;
  /** Returns the right to begin work in a unit; undefined while another process has it, or while this one hands it over. */
  of(unit: LeaseUnit): Lead | undefined;
  /** Returns the right to finish work in a unit: the same, also while this process hands the unit over. */
  held(unit: LeaseUnit): Lead | undefined;
  /**
   * Reports changes. Listeners are called in order, and waited for.
   * @returns ends it.
   */
  onChange(listener: LeadListener): () => void;
}

/** @returns a promise that is awaited before the next change of the unit. */
export type LeadListener = (change: LeadChange) => Promise<void> | void;

export type LeadChange =
  /** This process has taken the lease; `of` does not return it yet. When a listener rejects, the lease is released. */
  | { readonly type: 'taken'; readonly lead: Lead }
  /** `of` returns it from now on. */
  | { readonly type: 'leading'; readonly lead: Lead }
  /** `of` does not return it any more. The lease is released once the listeners have finished the work in progress. */
  | { readonly type: 'leaving'; readonly lead: Lead }
  /** This process has released it, or another process has taken it over. */
  | { readonly type: 'ended'; readonly lead: Lead };

export function platformUnit(platform: string): LeaseUnit {
  return `platform:${platform}`;
}

export function sourceUnit(source: string): LeaseUnit {
  return `source:${source}`;
}

/** Returns whether no other process can have the lead of a unit, by the clock of this one. */
export function isCertain(lead: Lead | undefined, clock: Clock): lead is Lead {
  return lead !== undefined && lead.validUntilMs() > clock.monotonic();
}

/**
 * Returns the clock of one replica. Times since boot end with the process: another replica may run on another machine, or in a
 * container whose times begin elsewhere, so it trusts none of them and begins each settle window again.
 */
export function replicaClock(clock: Clock, random: Random): Clock {
  const boot = `replica-${random.hex(16)}`;
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    sinceBoot: () => ({ ...clock.sinceBoot(), boot }),
  };
}

const NEVER = new AbortController().signal;

/** Returns the leadership of the only process that writes a ledger: it leads every unit, as long as it has the ledger. */
export function soleLeadership(ledger: Ledger): Leadership {
  const leads = new Map<LeaseUnit, Lead>();
  const leadOf = (unit: LeaseUnit): Lead => ({
    unit,
    ledger,
    validUntilMs: () => Number.POSITIVE_INFINITY,
    over: NEVER,
  });
  const of = (unit: LeaseUnit): Lead => {
    let lead = leads.get(unit);
    if (lead === undefined) leads.set(unit, (lead = leadOf(unit)));
    return lead;
  };
  return {
    isShared: false,
    sendMarginMs: 0,
    of,
    held: of,
    onChange: () => () => {},
  };
}
