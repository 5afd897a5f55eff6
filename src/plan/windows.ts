import { Cron } from 'croner';
import type { WindowSettings } from '../configuration/settings/windows-spec.ts';
import type { Scope } from '../model/ids.ts';
import type { EpochMs } from '../model/time.ts';
import type { Clock } from '../runtime/clock.ts';
import { scopeMatches } from '../model/scope-pattern.ts';
import type { Windows, WindowState } from './guard.ts';

/** A window that is ready to be asked; made from a checked `WindowSettings`. */
export interface SyncWindow {
  readonly spec: WindowSettings;
  readonly cron: Cron;
}

const OPEN: WindowState = { type: 'open' };
/** Windows that follow one another without a gap; so many of them are as good as for ever. */
const STEPS_MAX = 64;

/** @throws TypeError for windows that the check of Settings does not let pass. */
export function syncWindows(specs: readonly WindowSettings[]): readonly SyncWindow[] {
  return specs.map((spec) => ({
    spec,
    cron: new Cron(spec.schedule, { mode: '5-part', timezone: spec.timeZone }),
  }));
}

/**
 * Whether the windows let an application be changed at a moment. A window lasts from each beginning, inclusive, for its
 * duration of elapsed time, exclusive; beginnings that overlap make one long window. A deny beats every allow; where any
 * allow window is meant for the application, it is closed outside of all of them.
 * @param scope resolved values.
 * @param labels of the Application document.
 */
export function windowAt(
  windows: readonly SyncWindow[],
  scope: Scope,
  labels: Readonly<Record<string, string>>,
  nowMs: EpochMs,
): WindowState {
  const meant = windows.filter(({ spec }) => isMeant(spec, scope, labels));
  const closed = closedAt(meant, nowMs);
  if (closed === undefined) return OPEN;
  return { type: 'closed', why: closed.why, window: closed.window, untilMs: opensAt(meant, closed) };
}

/** Returns the function that says whether the windows of Settings are open now. */
export function windowsAt(specs: readonly WindowSettings[], clock: Clock): Windows['at'] {
  const windows = syncWindows(specs);
  return (scope, labels) => windowAt(windows, scope, labels, clock.now());
}

interface Closed {
  readonly why: 'denied' | 'not-allowed';
  readonly window: string;
  /** When to look again: something may be in the way then, too. */
  readonly lookAgainMs: EpochMs | null;
}

/** undefined: open. */
function closedAt(meant: readonly SyncWindow[], nowMs: EpochMs): Closed | undefined {
  const denies = meant
    .filter(({ spec }) => spec.kind === 'deny')
    .map((window) => ({ window, endMs: lastsUntil(window, nowMs) }));
  // If several windows are open, the one that ends last counts.
  const [deny] = denies
    .filter(({ endMs }) => endMs !== undefined)
    .sort((left, right) => (right.endMs ?? 0) - (left.endMs ?? 0));
  if (deny !== undefined) return { why: 'denied', window: deny.window.spec.name, lookAgainMs: deny.endMs ?? null };
  const allows = meant.filter(({ spec }) => spec.kind === 'allow');
  if (allows.length === 0 || allows.some((window) => lastsUntil(window, nowMs) !== undefined)) return undefined;
  const [next] = allows
    .map((window) => ({
      window,
      beginsMs: window.cron.nextRun(new Date(nowMs))?.getTime() ?? Number.POSITIVE_INFINITY,
    }))
    .sort((left, right) => left.beginsMs - right.beginsMs);
  if (next === undefined) return undefined;
  const lookAgainMs = Number.isFinite(next.beginsMs) ? next.beginsMs : null;
  return { why: 'not-allowed', window: next.window.spec.name, lookAgainMs };
}

/** Follows what closes it until nothing does. */
function opensAt(meant: readonly SyncWindow[], first: Closed): EpochMs | null {
  let { lookAgainMs } = first;
  for (let step = 0; step < STEPS_MAX && lookAgainMs !== null; step += 1) {
    const closed = closedAt(meant, lookAgainMs);
    if (closed === undefined) return lookAgainMs;
    lookAgainMs = closed.lookAgainMs;
  }
  return null;
}

/** End of the latest beginning, if it still lasts at that moment. */
function lastsUntil({ cron, spec }: SyncWindow, nowMs: EpochMs): EpochMs | undefined {
  // Beginnings are whole seconds, and those before the next second are at or before now.
  const nextSecondMs = (Math.floor(nowMs / 1000) + 1) * 1000;
  const [began] = cron.previousRuns(1, new Date(nextSecondMs));
  const endMs = began === undefined ? undefined : began.getTime() + spec.durationMs;
  return endMs !== undefined && nowMs < endMs ? endMs : undefined;
}

function isMeant(spec: WindowSettings, scope: Scope, labels: Readonly<Record<string, string>>): boolean {
  const { team, region, appId, platform } = scope;
  const resolved = `${team}/${region}/${appId}`;
  return (
    (spec.platforms?.includes(platform) ?? true) &&
    (spec.scopes?.some((pattern) => scopeMatches(pattern, resolved)) ?? true) &&
    Object.entries(spec.labels ?? {}).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value)
  );
}
