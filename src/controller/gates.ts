import type { ResourceId, Scope } from '../model/ids.ts';
import type { Pause, RegionStatus } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import { createCircuitBreaker, isPlatformFailure, type PassResult, type Place } from './breaker.ts';
import type { EventDraft, EventLog } from './events.ts';
import type { ControllerConfiguration } from './options.ts';
import type { WorkQueue } from './queue.ts';
import type { AppRecord } from './record.ts';
import { createRegions, type SeenRegion } from './regions.ts';
import type { Windows } from '../plan/window-guard.ts';
import { type SyncWindow, syncWindows, windowAt } from '../plan/windows.ts';

/** What may keep an application from being worked on: a person, the time of day, its region, a platform that fails. */
export interface Gates {
  /** Whether it is looked at at all. A `go` must be followed by `after`. */
  before(record: AppRecord): Promise<Gate>;
  /** Why nothing is written for it although it is looked at. */
  pauseOf(record: AppRecord, scope: Scope): Pause | null;
  /** @returns the pause of its region, where that is why nothing could be done. */
  after(record: AppRecord, outcome: Outcome): Promise<Pause | null>;
  forget(record: AppRecord): void;
  readonly windowAt: Windows['at'];
  regions(): readonly RegionStatus[];
}

export type Gate =
  | { readonly type: 'go' }
  | { readonly type: 'paused'; readonly pause: Pause; readonly lookAgainMs: EpochMs };

/** A region that takes no changes is looked at so often. */
export const REGIONS_EVERY_MS = 30_000;

/** Whoever failed last leaves the first look to others. */
const FAILED_LOOK_LATER_MS = 2_000;

export interface GatesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventLog;
  readonly records: ReadonlyMap<ResourceId, AppRecord>;
  readonly queue: Pick<WorkQueue, 'add'>;
  configuration(): ControllerConfiguration;
}

export function createGates({ clock, log, events, records, queue, configuration }: GatesOptions): Gates {
  const breaker = createCircuitBreaker(clock);
  const regions = createRegions({ clock, intervalMs: REGIONS_EVERY_MS, onChange: regionChanged });
  let windows: { readonly of: ControllerConfiguration; readonly ready: readonly SyncWindow[] } | undefined;

  const placeOf = ({ work }: AppRecord): Place => ({
    platform: work.application.spec.platform,
    region: work.application.spec.region,
  });
  const isIn = (record: AppRecord, { platform, region }: Place): boolean => {
    const place = placeOf(record);
    return place.platform === platform && place.region === region;
  };

  /** Whoever was kept back looks now; the others need not. */
  function wake(place: Place, kept: 'region' | 'circuit', because: string): void {
    for (const record of records.values())
      if (isIn(record, place) && record.status.pause?.type === kept) queue.add(record.id, because, 'routine');
  }

  function tell(draft: EventDraft): void {
    log[draft.severity === 'info' ? 'info' : 'warn'](draft.message);
    events.publish(draft);
  }

  function regionChanged({ platform, region, state, message, sinceMs }: SeenRegion): void {
    const detail = { platform, region, sinceMs };
    if (state === 'paused') {
      tell({ type: 'region.paused', severity: 'warning', message: `${message}: nothing is written to it`, detail });
      return;
    }
    tell({ type: 'region.resumed', severity: 'info', message: `${message} again`, detail });
    wake({ platform, region }, 'region', 'its region is enabled again');
  }

  const isKnownPaused = ({ platform, region }: Place): boolean =>
    regions.seen().some((seen) => seen.state === 'paused' && seen.platform === platform && seen.region === region);

  async function lookAtRegion(record: AppRecord): Promise<Gate> {
    const { platform, region } = placeOf(record);
    const { team } = record.work.application.spec;
    const look = await regions.look(configuration().client(platform), team, region);
    if (look.type !== 'paused') return { type: 'go' };
    const { state, sinceMs, lookAgainMs } = look;
    return { type: 'paused', pause: { type: 'region', region, state, sinceMs }, lookAgainMs };
  }

  function readyWindows(): readonly SyncWindow[] {
    const now = configuration();
    if (windows?.of !== now) windows = { of: now, ready: syncWindows(now.settings.windows) };
    return windows.ready;
  }

  const windowOf: Windows['at'] = (scope, labels) => windowAt(readyWindows(), scope, labels, clock.now());

  return {
    windowAt: windowOf,
    async before(record) {
      const place = placeOf(record);
      if (isKnownPaused(place)) {
        const gate = await lookAtRegion(record);
        if (gate.type === 'paused') return gate;
      }
      const admission = breaker.admit(place, record.id);
      if (admission.type === 'go') return { type: 'go' };
      // One that worked when it was tried last, and has something new to do, is not made to wait for others that fail; it
      // may as well be the one that finds the region at work again.
      if (record.status.failures === 0 && record.isFresh) return { type: 'go' };
      const untilMs = admission.untilMs + (record.status.failures === 0 ? 0 : FAILED_LOOK_LATER_MS);
      return { type: 'paused', pause: { type: 'circuit', region: place.region, untilMs }, lookAgainMs: untilMs };
    },
    pauseOf({ kept, work }, scope) {
      if (kept.suspended !== null) return { type: 'suspended', ...kept.suspended };
      const window = windowOf(scope, work.application.labels);
      return window.type === 'open' ? null : { type: 'window', window: window.window, untilMs: window.untilMs };
    },
    async after(record, outcome) {
      const place = placeOf(record);
      const change = breaker.report(place, record.id, resultOf(outcome));
      const detail = { platform: place.platform, region: place.region };
      if (change === 'opened') {
        const because = breaker.state(place)?.because ?? '';
        const message = `region ${place.region} of ${place.platform} is left alone for a while: ${because}`;
        tell({ type: 'circuit.opened', severity: 'error', message, detail });
      }
      if (change === 'closed') {
        tell({
          type: 'circuit.closed',
          severity: 'info',
          message: `region ${place.region} of ${place.platform} works again`,
          detail,
        });
        wake(place, 'circuit', 'its region works again');
      }
      if (!isRegionClosed(outcome)) return null;
      const gate = await lookAtRegion(record);
      return gate.type === 'paused' ? gate.pause : null;
    },
    forget: (record) => breaker.forget(placeOf(record), record.id),
    regions: () => regionStatuses(records, placeOf, breaker.state, regions.seen()),
  };
}

function regionStatuses(
  records: ReadonlyMap<ResourceId, AppRecord>,
  placeOf: (record: AppRecord) => Place,
  circuitOf: ReturnType<typeof createCircuitBreaker>['state'],
  seen: readonly SeenRegion[],
): readonly RegionStatus[] {
  const places = new Map(
    [...records.values()].map((record) => {
      const place = placeOf(record);
      return [`${place.platform}/${place.region}`, place] as const;
    }),
  );
  return [...places.values()].map(({ platform, region }): RegionStatus => {
    const paused = seen.find((one) => one.platform === platform && one.region === region && one.state === 'paused');
    if (paused !== undefined) return { platform, region, state: 'paused', message: paused.message };
    const circuit = circuitOf({ platform, region });
    if (circuit !== undefined) return { platform, region, state: 'circuit-open', message: circuit.because };
    return { platform, region, state: 'open', message: '' };
  });
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
