import type { CommitSummary } from '../model/fleet.ts';
import { shortRevision } from '../model/revision.ts';
import { unreachable } from '../model/unreachable.ts';

/** The words about commits, on the command line and on the page. */

const STATE_WORDS: Readonly<Record<CommitSummary['state'], string>> = {
  reading: 'being read',
  rejected: 'rejected',
  applying: 'applying',
  applied: 'applied',
  superseded: 'superseded',
  contained: 'part of a later commit',
  'not-accepted': 'not accepted',
  unknown: 'unknown',
};

export function commitStateWords(state: CommitSummary['state']): string {
  return STATE_WORDS[state];
}

/** Returns the answer to the question whether a commit is live, in one or two sentences. */
export function commitHeadline(commit: Pick<CommitSummary, 'state' | 'progress' | 'successor'>): string {
  const { state, successor, progress } = commit;
  const later = successor === null ? '' : shortRevision(successor);
  switch (state) {
    case 'reading':
      return 'The controller has found this commit and is reading it.';
    case 'rejected':
      return 'This commit was rejected. None of it is applied.';
    case 'applied':
      return progress.changed === 0
        ? 'This commit is accepted. It changes no application.'
        : `This commit is live: applied to ${ofAll(progress)}.`;
    case 'applying':
      return `Applied to ${ofAll(progress)}; ${progress.waiting === 1 ? '1 waits' : `${progress.waiting} wait`}.${restOf(progress)}`;
    case 'superseded':
      return `This commit was superseded before all applications had applied it: applied to ${ofAll(progress)}.${restOf(progress)}${later === '' ? '' : ` ${later} came next.`}`;
    case 'contained':
      return `This commit is part of ${later}, which was read in its place.`;
    case 'not-accepted':
      return 'This commit is in the repository, but not part of the accepted revision. It may be on another branch, or not read yet.';
    case 'unknown':
      return `This commit is older than the records of this controller, so its progress is not known.${restOf(progress)}`;
    default:
      return unreachable(state);
  }
}

function ofAll({ applied, changed }: CommitSummary['progress']): string {
  return `${applied} of ${changed} ${changed === 1 ? 'application' : 'applications'} that it changed`;
}

function restOf({ superseded, unknown }: CommitSummary['progress']): string {
  return [
    ...(superseded > 0 ? [` ${superseded} superseded by a later commit.`] : []),
    ...(unknown > 0 ? [` ${unknown} not known.`] : []),
  ].join('');
}
