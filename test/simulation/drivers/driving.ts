import type { Timing } from '../../../src/reconcile/apply/world.ts';
import type { LedgerHost } from '../ledgers.ts';
import type { AppName } from './estate.ts';
import type { SettingTimes } from './settings.ts';

/** Which drivers a schedule runs: the daemon, commands one after another, or each of them in turn. */
export type Driving = 'daemon' | 'command' | 'both';

export interface DriversSettings {
  /** Of each application, where there are several. */
  readonly platforms?: ReadonlyMap<AppName, string>;
  /** Settle windows of the drivers, and the longest that the platform takes. */
  readonly timing?: Timing;
  /** What was accepted reaches every process within this time. */
  readonly lagMs?: number;
  /** Times of what operators configure. */
  readonly settingTimes?: SettingTimes;
  /** How much faster than time the clocks of processes may run. */
  readonly clockError?: number;
  readonly seed: number;
  readonly driving: Driving;
  readonly ledgers: LedgerHost;
  readonly tracing: boolean;
}
