import type { AttentionKind } from '../model/fleet-words.ts';

/** The names of the kinds of items that require manual action. */
export const ATTENTION_WORDS: Readonly<Record<AttentionKind, string>> = {
  source: 'Source not accepted',
  platform: 'Other platform',
  approval: 'Approval needed',
  doubt: 'Write in doubt',
  hold: 'Hold',
  policy: 'Denied by a policy',
  failure: 'Failing',
  orphan: 'Orphaned',
  suspended: 'Suspended for long',
  unhealthy: 'Not healthy',
};
