import type { ViewState } from './model.ts';

/** The words for the states of applications and resources. */
export const STATE_TEXTS: Readonly<Record<ViewState, string>> = {
  'in-sync': 'in sync',
  unhealthy: 'not healthy',
  drifted: 'drifted',
  'to-change': 'out of sync',
  failing: 'failing',
  held: 'held',
  'not-ours': 'unmanaged',
  waiting: 'waiting',
  suspended: 'suspended',
  reported: 'only reported',
  unknown: 'not compared',
  withdrawn: 'removed from git',
  orphaned: 'orphaned',
  'not-in-manifests': 'not in the manifests',
};
