import type { PortolanError } from '../model/errors.ts';
import type { Scope } from '../model/ids.ts';
import type { RegionDetails } from '../model/platform-status.ts';
import type { Pause, RegionGate } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import { CircuitBreaker, isPlatformFailure, type OpenCircuit, type PassResult, type RegionKey } from './breaker.ts';
import { draftEvent, draftProblem } from './events.ts';
import type { ControllerConfiguration, CoreBase } from './options.ts';
import type { AppRecord } from './ledger-records.ts';
import { createRegions, type Regions, type CheckedRegion } from './regions.ts';
import type { Windows } from '../plan/guard.ts';
import { type SyncWindow, syncWindows, windowAt } from '../plan/windows.ts';

export type Gate =
  | { readonly type: 'go' }
  | { readonly type: 'paused'; readonly pause: Pause; readonly nextCheckMs: EpochMs };

/** Interval between checks of a region that takes no changes. */
export const REGIONS_EVERY_MS = 30_000;

/** Extra delay for an application that failed last, so that another application probes the region first. */
const FAILED_PROBE_DELAY_MS = 2_000;

const PAUSED = {
  code: 'platform/region-paused',
  remedy: 'Portolan resumes when the platform enables the region. Ask the team of the platform if it takes long.',
};

const regionOf = ({ work }: AppRecord): RegionKey => work.application.spec;

const isInRegion = (record: AppRecord, { platform, region }: RegionKey): boolean => {
  const key = regionOf(record);
  return key.platform === platform && key.region === region;
};

/**
 * Decides whether an application may be worked on: by suspension, sync windows, the state of its region, and the
 * circuit breaker.
 */
export class Gates {
  readonly #core: CoreBase;
  readonly #breaker: CircuitBreaker;
  readonly #regions: Regions;
  /** Regions of which the reports of a former leader are known. */
  readonly #compared = new Set<string>();
  #windows: { readonly of: ControllerConfiguration; readonly ready: readonly SyncWindow[] } | undefined;

  constructor(core: CoreBase) {
    const { clock } = core.options;
    this.#core = core;
    this.#breaker = new CircuitBreaker(clock);
    this.#regions = createRegions({
      clock,
      intervalMs: REGIONS_EVERY_MS,
      onChange: (region) => this.#regionChanged(region),
    });
  }

  readonly windowAt: Windows['at'] = (scope, labels) =>
    windowAt(this.#parsedWindows(), scope, labels, this.#core.options.clock.now());

  /** Returns whether a pass may start. The caller must call `report` after a `go`. */
  async admit(record: AppRecord): Promise<Gate> {
    const key = regionOf(record);
    if (this.#pausedRegion(key) !== undefined) {
      const gate = await this.#checkRegion(record);
      if (gate.type === 'paused') return gate;
    }
    const admission = this.#breaker.admit(key, record.id);
    if (admission.type === 'go') return { type: 'go' };
    // An application that did not fail and has changes need not wait for others that fail. It may be the one that finds
    // the region working again.
    if (record.status.failures === 0 && record.isUntried) return { type: 'go' };
    const untilMs = admission.untilMs + (record.status.failures === 0 ? 0 : FAILED_PROBE_DELAY_MS);
    return { type: 'paused', pause: { type: 'circuit', region: key.region, untilMs }, nextCheckMs: untilMs };
  }

  /** Returns why nothing may be written for an application that may be observed. */
  pauseOf({ kept, work }: AppRecord, scope: Scope): Pause | null {
    if (kept.suspended !== null) return { type: 'suspended', ...kept.suspended };
    const window = this.windowAt(scope, work.application.labels);
    return window.type === 'open' ? null : { type: 'window', window: window.window, untilMs: window.untilMs };
  }

  /**
   * Notes how a pass ended.
   * @returns the pause of the region, if the pass failed because of it.
   */
  async report(record: AppRecord, outcome: Outcome): Promise<Pause | null> {
    const key = regionOf(record);
    const error = outcome.type === 'refused' ? undefined : outcome.error;
    const result = resultOf(error);
    const change = this.#breaker.report(key, record.id, result);
    const detail = { platform: key.platform, region: key.region };
    if (change === 'opened') {
      const because = this.#breaker.state(key)?.because ?? '';
      const message = `region ${key.region} of ${key.platform} is paused (circuit breaker open): ${because}; the last one: ${error?.message}`;
      const remedy = error?.remedy ?? '';
      const cause = error?.code ?? '';
      const problem = { code: 'platform/circuit-open', remedy };
      this.#core.events.publish(
        draftProblem('circuit.opened', 'error', message, problem, { detail: { ...detail, cause } }),
      );
    }
    const left = result === 'success' ? this.#leftOf(key) : { isOpen: false, isPaused: false };
    if (change === 'closed' || left.isOpen) {
      const message = `region ${key.region} of ${key.platform} works again`;
      this.#core.events.publish(draftEvent('circuit.closed', message, { detail }));
      this.#requeue(key, 'circuit', 'its region works again');
    }
    if (!isRegionClosed(outcome)) {
      if (left.isPaused) await this.#reportIfEnabled(record);
      return null;
    }
    const gate = await this.#checkRegion(record);
    return gate.type === 'paused' ? gate.pause : null;
  }

  /** Compares each region once more with the reports of a former leader. */
  beginLead(): void {
    this.#compared.clear();
  }

  /**
   * Returns what the last leader of a region reported and did not end, the first time that this process finds the region working since
   * it leads it.
   */
  #leftOf({ platform, region }: RegionKey): { readonly isOpen: boolean; readonly isPaused: boolean } {
    const key = `${platform}/${region}`;
    if (this.#compared.has(key)) return { isOpen: false, isPaused: false };
    this.#compared.add(key);
    const { events } = this.#core.events.since(0, Number.POSITIVE_INFINITY);
    const last = (area: 'circuit.' | 'region.'): string | undefined =>
      events.findLast(({ type, detail }) => {
        const about = detail as Partial<RegionKey> | null;
        return type.startsWith(area) && about?.platform === platform && about.region === region;
      })?.type;
    return { isOpen: last('circuit.') === 'circuit.opened', isPaused: last('region.') === 'region.paused' };
  }

  /** Reports that a region is enabled again which a former leader found paused. */
  async #reportIfEnabled(record: AppRecord): Promise<void> {
    await this.#checkRegion(record);
    const { platform, region } = regionOf(record);
    const found = this.#regions.checked().find((one) => one.platform === platform && one.region === region);
    if (found?.state === 'open') this.#regionChanged(found);
  }

  forget(record: AppRecord): void {
    this.#breaker.forget(regionOf(record), record.id);
  }

  /** Returns the regions of these applications. */
  regions(records: Iterable<AppRecord>): readonly RegionGate[] {
    const keys = new Map<string, RegionKey>();
    for (const { platform, region } of [...records].map(regionOf))
      keys.set(`${platform}/${region}`, { platform, region });
    return [...keys.values()].map((key): RegionGate => {
      const paused = this.#pausedRegion(key);
      if (paused !== undefined) return { ...key, state: 'paused', message: paused.message };
      const circuit = this.#breaker.state(key);
      if (circuit !== undefined) return { ...key, state: 'circuit-open', message: circuit.because };
      return { ...key, state: 'open', message: '' };
    });
  }

  /** Returns why and until when a region gets no requests; undefined while its circuit is closed. */
  circuitOf(key: RegionKey): OpenCircuit | undefined {
    return this.#breaker.state(key);
  }

  /** Returns the regions with the times of their states. */
  regionDetails(): readonly RegionDetails[] {
    const records = [...this.#core.records.values()];
    return this.regions(records).map((region): RegionDetails => {
      const paused = this.#pausedRegion(region);
      const circuit = this.#breaker.state(region);
      return {
        ...region,
        sinceMs: paused?.sinceMs ?? circuit?.sinceMs ?? null,
        untilMs: paused === undefined ? (circuit?.untilMs ?? null) : null,
        applications: records.filter((record) => isInRegion(record, region)).length,
      };
    });
  }

  /** Requeues the applications of the region that this pause kept back. */
  #requeue(key: RegionKey, kept: 'region' | 'circuit', because: string): void {
    for (const record of this.#core.records.values())
      if (isInRegion(record, key) && record.status.pause?.type === kept)
        this.#core.queue.add(record.id, because, 'routine');
  }

  #regionChanged({ platform, region, state, message, sinceMs }: CheckedRegion): void {
    const detail = { platform, region, sinceMs };
    if (state === 'paused')
      return void this.#core.events.publish(
        draftProblem('region.paused', 'warning', `${message}: nothing is changed in it`, PAUSED, { detail }),
      );
    this.#core.events.publish(draftEvent('region.resumed', `${message} again`, { detail }));
    this.#requeue({ platform, region }, 'region', 'its region is enabled again');
  }

  #pausedRegion({ platform, region }: RegionKey): CheckedRegion | undefined {
    return this.#regions
      .checked()
      .find((one) => one.state === 'paused' && one.platform === platform && one.region === region);
  }

  async #checkRegion(record: AppRecord): Promise<Gate> {
    const { platform, team, region } = record.work.application.spec;
    const check = await this.#regions.check(this.#core.configuration.client(platform), team, region);
    if (check.type !== 'paused') return { type: 'go' };
    const { state, sinceMs, nextCheckMs } = check;
    return { type: 'paused', pause: { type: 'region', region, state, sinceMs }, nextCheckMs };
  }

  #parsedWindows(): readonly SyncWindow[] {
    const now = this.#core.configuration;
    if (this.#windows?.of !== now) this.#windows = { of: now, ready: syncWindows(now.settings.windows) };
    return this.#windows.ready;
  }
}

function resultOf(error: PortolanError | undefined): PassResult {
  if (error === undefined) return 'success';
  return isPlatformFailure(error) ? 'platform-failure' : 'other';
}

function isRegionClosed(outcome: Outcome): boolean {
  if (outcome.type === 'refused') return outcome.refusals.some(({ code }) => code === 'guard/region');
  if (outcome.error?.code === 'guard/region') return true;
  return (
    outcome.type === 'ended' &&
    outcome.results.some(
      (result) =>
        result.status === 'failed' && result.reason.type === 'stop-scope' && result.reason.why === 'region-not-ready',
    )
  );
}
