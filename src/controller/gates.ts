import type { Scope } from '../model/ids.ts';
import type { Pause, RegionGate } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import { CircuitBreaker, isPlatformFailure, type PassResult, type RegionKey } from './breaker.ts';
import { draftEvent, type EventDraft } from './events.ts';
import type { ControllerConfiguration, CoreBase } from './options.ts';
import type { AppRecord } from './ledger-records.ts';
import { createRegions, type Regions, type SeenRegion } from './regions.ts';
import type { Windows } from '../plan/guard.ts';
import { type SyncWindow, syncWindows, windowAt } from '../plan/windows.ts';

export type Gate =
  | { readonly type: 'go' }
  | { readonly type: 'paused'; readonly pause: Pause; readonly lookAgainMs: EpochMs };

/** How often a region that takes no changes is checked. */
export const REGIONS_EVERY_MS = 30_000;

/** Extra delay for an application that failed last, so that another application probes the region first. */
const FAILED_LOOK_LATER_MS = 2_000;

const placeOf = ({ work }: AppRecord): RegionKey => work.application.spec;

const isIn = (record: AppRecord, { platform, region }: RegionKey): boolean => {
  const place = placeOf(record);
  return place.platform === platform && place.region === region;
};

/**
 * Decides whether an application may be worked on: by suspension, sync windows, the state of its region, and the
 * circuit breaker.
 */
export class Gates {
  readonly #core: CoreBase;
  readonly #breaker: CircuitBreaker;
  readonly #regions: Regions;
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
    windowAt(this.#readyWindows(), scope, labels, this.#core.options.clock.now());

  /** Returns whether a pass may start. The caller must call `after` after a `go`. */
  async before(record: AppRecord): Promise<Gate> {
    const place = placeOf(record);
    if (this.#pausedRegion(place) !== undefined) {
      const gate = await this.#lookAtRegion(record);
      if (gate.type === 'paused') return gate;
    }
    const admission = this.#breaker.admit(place, record.id);
    if (admission.type === 'go') return { type: 'go' };
    // An application that did not fail and has changes need not wait for others that fail. It may be the one that finds
    // the region working again.
    if (record.status.failures === 0 && record.isFresh) return { type: 'go' };
    const untilMs = admission.untilMs + (record.status.failures === 0 ? 0 : FAILED_LOOK_LATER_MS);
    return { type: 'paused', pause: { type: 'circuit', region: place.region, untilMs }, lookAgainMs: untilMs };
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
  async after(record: AppRecord, outcome: Outcome): Promise<Pause | null> {
    const place = placeOf(record);
    const change = this.#breaker.report(place, record.id, resultOf(outcome));
    const detail = { platform: place.platform, region: place.region };
    if (change === 'opened') {
      const because = this.#breaker.state(place)?.because ?? '';
      const message = `region ${place.region} of ${place.platform} is paused (circuit breaker open): ${because}`;
      this.#tell(draftEvent('circuit.opened', 'error', message, { detail }));
    }
    if (change === 'closed') {
      const message = `region ${place.region} of ${place.platform} works again`;
      this.#tell(draftEvent('circuit.closed', 'info', message, { detail }));
      this.#wake(place, 'circuit', 'its region works again');
    }
    if (!isRegionClosed(outcome)) return null;
    const gate = await this.#lookAtRegion(record);
    return gate.type === 'paused' ? gate.pause : null;
  }

  forget(record: AppRecord): void {
    this.#breaker.forget(placeOf(record), record.id);
  }

  regions(): readonly RegionGate[] {
    const places = new Map(
      [...this.#core.records.values()].map(placeOf).map(({ platform, region }) => {
        return [`${platform}/${region}`, { platform, region }] as const;
      }),
    );
    return [...places.values()].map((place): RegionGate => {
      const paused = this.#pausedRegion(place);
      if (paused !== undefined) return { ...place, state: 'paused', message: paused.message };
      const circuit = this.#breaker.state(place);
      if (circuit !== undefined) return { ...place, state: 'circuit-open', message: circuit.because };
      return { ...place, state: 'open', message: '' };
    });
  }

  /** Requeues the applications of the region that this pause kept back. */
  #wake(place: RegionKey, kept: 'region' | 'circuit', because: string): void {
    for (const record of this.#core.records.values())
      if (isIn(record, place) && record.status.pause?.type === kept)
        this.#core.queue.add(record.id, because, 'routine');
  }

  #tell(draft: EventDraft): void {
    this.#core.options.log[draft.severity === 'info' ? 'info' : 'warn'](draft.message);
    this.#core.events.publish(draft);
  }

  #regionChanged({ platform, region, state, message, sinceMs }: SeenRegion): void {
    const detail = { platform, region, sinceMs };
    if (state === 'paused')
      return this.#tell(draftEvent('region.paused', 'warning', `${message}: nothing is changed in it`, { detail }));
    this.#tell(draftEvent('region.resumed', 'info', `${message} again`, { detail }));
    this.#wake({ platform, region }, 'region', 'its region is enabled again');
  }

  #pausedRegion({ platform, region }: RegionKey): SeenRegion | undefined {
    return this.#regions
      .seen()
      .find((seen) => seen.state === 'paused' && seen.platform === platform && seen.region === region);
  }

  async #lookAtRegion(record: AppRecord): Promise<Gate> {
    const { platform, team, region } = record.work.application.spec;
    const look = await this.#regions.look(this.#core.configuration.client(platform), team, region);
    if (look.type !== 'paused') return { type: 'go' };
    const { state, sinceMs, lookAgainMs } = look;
    return { type: 'paused', pause: { type: 'region', region, state, sinceMs }, lookAgainMs };
  }

  #readyWindows(): readonly SyncWindow[] {
    const now = this.#core.configuration;
    if (this.#windows?.of !== now) this.#windows = { of: now, ready: syncWindows(now.settings.windows) };
    return this.#windows.ready;
  }
}

function resultOf(outcome: Outcome): PassResult {
  const error = outcome.type === 'refused' ? undefined : outcome.error;
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
