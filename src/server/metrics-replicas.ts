import type { Registry } from 'prom-client';
import type { ControllerApi, ControllerObserver, LeaseEnd, LeaseFacts, RefusedBecause } from '../controller/api.ts';
import type { LeaseUnit } from '../ledger/shared.ts';
import { parseScopeKey, type ScopeKey } from '../model/ids.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { Clock } from '../runtime/clock.ts';
import { registerGauge, type Series } from './metrics-series.ts';
import { type StandingView, viewOf } from './metrics-standing.ts';

export type LeaseObserver = Pick<
  ControllerObserver,
  'units' | 'led' | 'yielded' | 'fenced' | 'recordsLost' | 'databaseAsked' | 'caughtUp'
>;

/** Holds a lease of this process. */
interface HeldLease {
  readonly sinceMs: MonotonicMs;
  readonly validUntilMs: () => MonotonicMs;
}

/** Holds what this process knows of the leases and of the database that it shares with others. */
class Standing {
  /** undefined: the ledger has one process, which leads everything. */
  units: readonly LeaseUnit[] | undefined;
  readonly held = new Map<LeaseUnit, HeldLease>();
  answeredMs: MonotonicMs | undefined;
  caughtUpMs: MonotonicMs | undefined;

  leads(unit: LeaseUnit): boolean {
    return this.units === undefined || this.held.has(unit);
  }
}

const FROM: readonly LeaseFacts['from'][] = ['free', 'released', 'expired'];
const REFUSED: readonly RefusedBecause[] = ['taken-over', 'records-lost'];
const RECORDS_LOST =
  'Times that this controller has noticed that the database lacks records that it had written, or had read of another controller. The log line with ledger/replaced says whether installs of all applications wait.';
const ENDS: readonly LeaseEnd[] = ['handed-over', 'stopped', 'lost'];

/**
 * Registers the metrics of leases. They have samples only if several controllers share the ledger.
 * @returns what counts them, and the view of a scrape: all that this process leads, so that sums over controllers count nothing
 * twice.
 */
export function leaseMetrics(registry: Registry, { counter }: Series, clock: Clock) {
  const standing = new Standing();
  registerLeases(registry, standing, clock);
  const taken = counter(
    'portolan_lease_acquisitions_total',
    'Leases that this controller took. from="expired" is a takeover from a controller that gave no sign.',
    ['unit', 'from'],
  );
  const ended = counter(
    'portolan_lease_losses_total',
    'Leases that this controller does not hold any more, by cause.',
    ['because'],
  );
  const fenced = counter(
    'portolan_fenced_writes_total',
    'Transactions that the ledger refused. because="taken-over": this controller did not hold the lease of the unit any more. because="records-lost": the database had lost transactions of it. No request to the platform is counted.',
    ['because'],
  );
  const lost = counter('portolan_records_lost_total', RECORDS_LOST, []);
  const failed = counter(
    'portolan_database_failures_total',
    'Attempts of this controller to send its heartbeat and to read the leaders that failed, because the database did not answer or refused them. Renewals of leases are not counted.',
    [],
  );
  const observer: LeaseObserver = {
    units(units) {
      // The counters start at 0, so that the first takeover shows as an increase.
      if (standing.units === undefined) {
        for (const because of ENDS) ended.inc({ because }, 0);
        for (const because of REFUSED) fenced.inc({ because }, 0);
      }
      for (const unit of units) for (const from of FROM) taken.inc({ unit, from }, 0);
      standing.units = units;
    },
    led({ unit, from, validUntilMs }) {
      standing.held.set(unit, { sinceMs: clock.monotonic(), validUntilMs });
      taken.inc({ unit, from });
    },
    yielded(unit, because) {
      standing.held.delete(unit);
      ended.inc({ because });
    },
    fenced(_, because) {
      fenced.inc({ because });
      if (because === 'records-lost') lost.inc();
    },
    recordsLost: () => lost.inc(),
    databaseAsked(isAnswered) {
      if (isAnswered) standing.answeredMs = clock.monotonic();
      else failed.inc();
    },
    caughtUp() {
      standing.caughtUpMs = clock.monotonic();
    },
  };
  return {
    observer,
    view: (api: ControllerApi) => (standing.units === undefined ? viewOf(api) : ledView(api, standing)),
  };
}

function registerLeases(registry: Registry, standing: Standing, clock: Clock): void {
  const sinceSeconds = (fromMs: MonotonicMs): number => Math.max(0, clock.monotonic() - fromMs) / 1000;
  const leftMs = (lease: HeldLease | undefined): number =>
    (lease?.validUntilMs() ?? Number.NEGATIVE_INFINITY) - clock.monotonic();
  registerGauge(
    registry,
    'portolan_lease_held',
    '1 while this controller leads the platform or source, 0 while another one may. The sum over all controllers should be 1.',
    ['unit'],
    () => (standing.units ?? []).map((unit) => [{ unit }, leftMs(standing.held.get(unit)) > 0 ? 1 : 0]),
  );
  registerGauge(registry, 'portolan_lease_age_seconds', 'Time since this controller took the lease.', ['unit'], () =>
    [...standing.held].map(([unit, { sinceMs }]) => [{ unit }, sinceSeconds(sinceMs)]),
  );
  registerGauge(
    registry,
    'portolan_lease_remaining_seconds',
    'Time until another controller may take the lease, if this one does not renew it. Not positive: it may have done so.',
    ['unit'],
    () => [...standing.held].map(([unit, lease]) => [{ unit }, leftMs(lease) / 1000]),
  );
  registerGauge(
    registry,
    'portolan_database_silence_seconds',
    'Time since this controller last read the leaders from the database, which it does at least every half second. It keeps growing while the database does not answer, or refuses heartbeats.',
    [],
    () => (standing.answeredMs === undefined ? [] : [[{}, sinceSeconds(standing.answeredMs)]]),
  );
  registerGauge(
    registry,
    'portolan_shared_state_age_seconds',
    'Time since this controller last read what the other controllers have shared: status, events and the accepted revision.',
    [],
    () => (standing.caughtUpMs === undefined ? [] : [[{}, sinceSeconds(standing.caughtUpMs)]]),
  );
}

/** Returns the part of a controller's state that this process leads. The leader of the source also leads what no platform is known of. */
function ledView(api: ControllerApi, standing: Standing): StandingView {
  const leadsSource = standing.leads(`source:${api.status().source.name}`);
  const leadsScope = (scope: ScopeKey | null): boolean => {
    const platform = scope === null ? undefined : parseScopeKey(scope)?.platform;
    return platform === undefined ? leadsSource : standing.leads(`platform:${platform}`);
  };
  const whole = viewOf(api);
  const status = api.status(leadsScope);
  return {
    status: { ...status, regions: status.regions.filter(({ platform }) => standing.leads(`platform:${platform}`)) },
    leadsSource,
    applications: whole.applications.filter(({ platform }) => standing.leads(`platform:${platform}`)),
    orphans: whole.orphans.filter(({ scope }) => leadsScope(scope)),
    intents: async () => (await whole.intents()).filter(({ scope }) => leadsScope(scope)),
  };
}
