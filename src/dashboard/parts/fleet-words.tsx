import type { AttentionKind, CommitSummary, FleetState } from '../../model/fleet.ts';
import { Badge, type Tone } from './badge.tsx';
import type { IconName } from './icon.tsx';

/** A state in words, with its colour and symbol. */
export interface Shown {
  readonly label: string;
  readonly tone: Tone;
  readonly icon: IconName;
}

/** States of applications. */
export const STATES: Readonly<Record<FleetState, Shown>> = {
  'in-sync': { label: 'In sync', tone: 'good', icon: 'check' },
  drifted: { label: 'Drifted', tone: 'warn', icon: 'differs' },
  pending: { label: 'Pending', tone: 'busy', icon: 'clock' },
  held: { label: 'Held', tone: 'warn', icon: 'hand' },
  failing: { label: 'Failing', tone: 'bad', icon: 'cross' },
  suspended: { label: 'Suspended', tone: 'paused', icon: 'pause' },
  unhealthy: { label: 'Unhealthy', tone: 'bad', icon: 'alert' },
  unknown: { label: 'Unknown', tone: 'quiet', icon: 'question' },
};

/** Items that require manual action. */
export const ATTENTION: Readonly<Record<AttentionKind, Shown>> = {
  source: { label: 'Source rejected', tone: 'bad', icon: 'commit' },
  platform: { label: 'Other platform', tone: 'bad', icon: 'platform' },
  approval: { label: 'Approval', tone: 'warn', icon: 'hand' },
  doubt: { label: 'Result unknown', tone: 'warn', icon: 'question' },
  hold: { label: 'Hold', tone: 'warn', icon: 'hand' },
  policy: { label: 'Policy', tone: 'bad', icon: 'hand' },
  failure: { label: 'Failure', tone: 'bad', icon: 'cross' },
  orphan: { label: 'Orphaned', tone: 'warn', icon: 'question' },
  suspended: { label: 'Suspended', tone: 'paused', icon: 'pause' },
  unhealthy: { label: 'Unhealthy', tone: 'bad', icon: 'alert' },
};

/** States of commits. */
export const COMMITS: Readonly<Record<CommitSummary['state'], Shown>> = {
  reading: { label: 'Reading', tone: 'busy', icon: 'sync' },
  rejected: { label: 'Rejected', tone: 'bad', icon: 'cross' },
  applying: { label: 'Applying', tone: 'busy', icon: 'sync' },
  applied: { label: 'Applied', tone: 'good', icon: 'check' },
  superseded: { label: 'Superseded', tone: 'quiet', icon: 'right' },
  contained: { label: 'Contained', tone: 'quiet', icon: 'right' },
  'not-accepted': { label: 'Not accepted', tone: 'warn', icon: 'alert' },
  unknown: { label: 'Unknown', tone: 'quiet', icon: 'question' },
};

/** The badge of a state. */
export function StateBadge({ of: { label, tone, icon }, title }: { readonly of: Shown; readonly title?: string }) {
  return (
    <Badge tone={tone} icon={icon} {...(title === undefined ? {} : { title })}>
      {label}
    </Badge>
  );
}
