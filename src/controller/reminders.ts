import { formatDuration } from '../model/duration.ts';
import type { ResourceId } from '../model/ids.ts';
import type { EpochMs } from '../model/time.ts';
import { modeOf } from './conditions.ts';
import { draftProblem, type EventDraft } from './events.ts';
import type { AppRecord } from './ledger-records.ts';

const LONG = {
  code: 'application/suspended',
  remedy: 'Resume it, or remove it from the source; drift of suspended resources is not corrected',
};

/**
 * Records since when resources of an application are suspended, by an operator or by annotation, in `kept` of the
 * record. Returns a reminder after `notifyAfterMs`, and again after each such period, so that no suspension is
 * forgotten.
 */
export function remindOfSuspended(record: AppRecord, notifyAfterMs: number, nowMs: EpochMs): readonly EventDraft[] {
  const { kept, work, id } = record;
  const aside = [...work.resources.values()].filter((resource) => modeOf(resource) === 'suspend');
  const asideSince = Object.fromEntries(
    aside.map((resource) => [resource.id, kept.asideSince[resource.id] ?? nowMs] as const),
  );
  const suspended: readonly (readonly [ResourceId, EpochMs])[] = [
    ...(kept.suspended === null ? [] : [[id, kept.suspended.sinceMs] as const]),
    ...aside.map((resource) => [resource.id, asideSince[resource.id] ?? nowMs] as const),
  ];
  const long = suspended.filter(([, sinceMs]) => nowMs - sinceMs >= notifyAfterMs);
  const isDue = long.length > 0 && (kept.remindedMs === null || nowMs - kept.remindedMs >= notifyAfterMs);
  record.kept = { ...kept, asideSince, remindedMs: isDue ? nowMs : long.length === 0 ? null : kept.remindedMs };
  if (!isDue) return [];
  const named = long.map(([name, sinceMs]) => `${name} for ${formatDuration(nowMs - sinceMs)}`).join(', ');
  const message = `suspended for a long time: ${named}. ${LONG.remedy}`;
  const detail = { suspended: long.map(([resource, sinceMs]) => ({ resource, sinceMs })) };
  return [draftProblem('application.suspended-long', 'warning', message, LONG, { detail })];
}
