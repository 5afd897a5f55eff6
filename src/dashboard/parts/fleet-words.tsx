import type { CommitSummary } from '../../model/fleet.ts';
import type { AttentionKind, FleetState } from '../../model/fleet-words.ts';
import { ATTENTION_WORDS } from '../../views/attention-words.ts';
import { commitStateWords } from '../../views/commit-words.ts';
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
  unhealthy: { label: 'Not healthy', tone: 'bad', icon: 'alert' },
  unknown: { label: 'Not compared', tone: 'quiet', icon: 'question' },
};

/** Items that require manual action. */
export const ATTENTION: Readonly<Record<AttentionKind, Shown>> = {
  source: { label: ATTENTION_WORDS.source, tone: 'bad', icon: 'commit' },
  platform: { label: ATTENTION_WORDS.platform, tone: 'bad', icon: 'platform' },
  approval: { label: ATTENTION_WORDS.approval, tone: 'warn', icon: 'hand' },
  doubt: { label: ATTENTION_WORDS.doubt, tone: 'warn', icon: 'question' },
  hold: { label: ATTENTION_WORDS.hold, tone: 'warn', icon: 'hand' },
  policy: { label: ATTENTION_WORDS.policy, tone: 'bad', icon: 'hand' },
  failure: { label: ATTENTION_WORDS.failure, tone: 'bad', icon: 'cross' },
  orphan: { label: ATTENTION_WORDS.orphan, tone: 'warn', icon: 'question' },
  suspended: { label: ATTENTION_WORDS.suspended, tone: 'paused', icon: 'pause' },
  unhealthy: { label: ATTENTION_WORDS.unhealthy, tone: 'bad', icon: 'alert' },
};

/** States of commits. */
export const COMMITS: Readonly<Record<CommitSummary['state'], Shown>> = {
  reading: { label: sentence(commitStateWords('reading')), tone: 'busy', icon: 'sync' },
  rejected: { label: sentence(commitStateWords('rejected')), tone: 'bad', icon: 'cross' },
  applying: { label: sentence(commitStateWords('applying')), tone: 'busy', icon: 'sync' },
  applied: { label: sentence(commitStateWords('applied')), tone: 'good', icon: 'check' },
  superseded: { label: sentence(commitStateWords('superseded')), tone: 'quiet', icon: 'right' },
  contained: { label: sentence(commitStateWords('contained')), tone: 'quiet', icon: 'right' },
  'not-accepted': { label: sentence(commitStateWords('not-accepted')), tone: 'warn', icon: 'alert' },
  unknown: { label: sentence(commitStateWords('unknown')), tone: 'quiet', icon: 'question' },
};

function sentence(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** The badge of a state. */
export function StateBadge({ of: { label, tone, icon }, title }: { readonly of: Shown; readonly title?: string }) {
  return (
    <Badge tone={tone} icon={icon} {...(title === undefined ? {} : { title })}>
      {label}
    </Badge>
  );
}
