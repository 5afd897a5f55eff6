import { conditionOf, decidedStatus, fleetState } from '../controller/application-state.ts';
import { pauseMessage } from '../controller/conditions.ts';
import type { Standing } from '../controller/api.ts';
import type { FleetState } from '../model/fleet-words.ts';
import type { ApplicationRow } from '../model/fleet.ts';
import { parseScopeKey } from '../model/ids.ts';
import type { ApplicationStatus } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import { unreachable } from '../model/unreachable.ts';
import { cut } from '../plan/words.ts';

/** An application as lists show it. */
export interface FleetEntry {
  readonly status: ApplicationStatus;
  readonly kept: Standing['kept'];
  readonly row: ApplicationRow;
  /** The name, the id on the platform and the labels, in lower case. */
  readonly text: () => string;
}

const REASON_LENGTH_MAX = 200;

/** Entries by the status that they were derived from. A status is replaced, never changed. */
const entries = new WeakMap<ApplicationStatus, FleetEntry>();

/** Entries that are derived before the event loop turns. They take a few milliseconds. */
const PART_SIZE = 500;

/**
 * Returns the entry of each application. An entry is derived again only after a pass. After a round over ten thousand
 * applications all of them are, which takes longer than one turn of the event loop.
 */
export async function deriveEntries(
  standings: readonly Standing[],
  turn: () => Promise<void>,
): Promise<readonly FleetEntry[]> {
  const found: FleetEntry[] = [];
  let derived = 0;
  for (const { status, kept } of standings) {
    const known = entries.get(status);
    if (known?.kept === kept) {
      found.push(known);
      continue;
    }
    const entry = entryOf(status, kept);
    entries.set(status, entry);
    found.push(entry);
    derived += 1;
    if (derived % PART_SIZE === 0) await turn();
  }
  return found;
}

function entryOf(status: ApplicationStatus, kept: Standing['kept']): FleetEntry {
  let text: string | undefined;
  // Most lists search nothing.
  return { status, kept, row: rowOf(status, kept), text: () => (text ??= textOf(status)) };
}

function rowOf(seen: ApplicationStatus, kept: Standing['kept']): ApplicationRow {
  const status = decidedStatus(seen, kept);
  const { id, scope, platform, region, labels, resources } = status;
  const state = fleetState(status);
  return {
    id,
    scope,
    platform,
    region,
    team: scope === null ? null : (parseScopeKey(scope)?.team ?? null),
    labels,
    state,
    sinceMs: sinceOf(status, state),
    reason: cut(reasonOf(status, state), REASON_LENGTH_MAX),
    health: conditionOf(status, 'Healthy')?.status ?? 'Unknown',
    revision: status.lastAppliedRevision,
    change: kept.lastChange,
    resources: {
      total: resources.length,
      notReady: resources.filter((resource) => conditionOf(resource, 'Ready')?.status !== 'True').length,
    },
  };
}

function textOf({ id, scope, labels }: ApplicationStatus): string {
  const words = [id.slice(id.indexOf('/') + 1), scope ?? ''];
  for (const [key, value] of Object.entries(labels)) words.push(`${key}=${value}`);
  return words.join('\n').toLowerCase();
}

/** Returns why an application is in its state; '' for one in sync. */
export function reasonOf(status: ApplicationStatus, state: FleetState): string {
  const { pause, approval, lastError } = status;
  switch (state) {
    case 'in-sync':
      return '';
    case 'failing':
      return lastError?.message ?? '';
    case 'suspended':
      return pauseMessage(pause);
    case 'unhealthy':
      return conditionOf(status, 'Healthy')?.message ?? '';
    case 'held':
      if (approval !== null) return approval.refusals.map(({ message }) => message).join('; ');
      return conditionOf(status, 'Stalled')?.message || (conditionOf(status, 'Ready')?.message ?? '');
    case 'drifted':
    case 'pending':
    case 'unknown':
      return pause === null ? (conditionOf(status, 'Ready')?.message ?? '') : pauseMessage(pause);
    default:
      return unreachable(state);
  }
}

/** Returns the time since which an application is in its state. */
export function sinceOf(status: ApplicationStatus, state: FleetState): EpochMs {
  const { pause, approval, resources } = status;
  const readyMs = conditionOf(status, 'Ready')?.sinceMs ?? 0;
  switch (state) {
    case 'suspended':
      return pause !== null && 'sinceMs' in pause ? pause.sinceMs : readyMs;
    case 'unhealthy':
      return conditionOf(status, 'Healthy')?.sinceMs ?? readyMs;
    case 'held':
      if (approval !== null) return approval.sinceMs;
      return conditionOf(status, 'Stalled')?.sinceMs ?? readyMs;
    case 'drifted':
      return Math.min(...resources.flatMap(({ drift }) => (drift === null ? [] : [drift.sinceMs])));
    case 'in-sync':
    case 'failing':
    case 'pending':
    case 'unknown':
      return readyMs;
    default:
      return unreachable(state);
  }
}
