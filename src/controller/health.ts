import type { Json } from '../model/json.ts';
import type { EpochMs } from '../model/time.ts';
import type { Verdict } from './conditions.ts';

/** What the platform itself says of an application. */
export interface RunningFacts {
  /** `running`, `part_running`, `closed`; anything else as it came. */
  readonly status: string;
  readonly componentCount: number;
  readonly runningComponentCount: number;
}

/**
 * Whether an application does what it is there for, by its own status.
 * @param dueMs it was changed, and has time until then to run; null: nothing was changed lately.
 */
export function statusHealth(facts: RunningFacts, dueMs: EpochMs | null, nowMs: EpochMs): Verdict {
  const { status, componentCount, runningComponentCount } = facts;
  const counted = `${runningComponentCount} of ${componentCount} components run`;
  if (componentCount === 0) return { status: 'Unknown', reason: 'NothingRuns', message: 'it has no components' };
  if (status === 'running') return { status: 'True', reason: 'Running', message: counted };
  if (dueMs !== null && nowMs < dueMs)
    return { status: 'Unknown', reason: 'Progressing', message: `it was changed and does not run yet: ${counted}` };
  if (dueMs !== null)
    return {
      status: 'False',
      reason: 'NotRunning',
      message: `it was changed and did not come to run in time: ${counted}`,
    };
  if (status === 'part_running') return { status: 'False', reason: 'PartlyRunning', message: counted };
  // A platform that cannot ask its cluster says "closed" as well.
  return { status: 'Unknown', reason: 'Closed', message: `the platform calls it "${status}"` };
}

/** Facts of an event about health. */
export function healthDetail(before: Verdict | undefined, after: Verdict): Json {
  return {
    before: before === undefined ? null : { status: before.status, reason: before.reason },
    after: { status: after.status, reason: after.reason, message: after.message },
  };
}
