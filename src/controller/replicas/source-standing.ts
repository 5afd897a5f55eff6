import type { SourceProblem, StatusError } from '../../model/status.ts';
import type { EpochMs } from '../../model/time.ts';

/** The state of a source, as its leader knows it. It is stored, so that all replicas show the same and permit the same removals. */
export interface SourceStanding {
  readonly observedRevision: string | null;
  readonly observedMs: EpochMs | null;
  readonly acceptedMs: EpochMs | null;
  readonly error: StatusError | null;
  /** The faults of the files that the error is about. */
  readonly problems: readonly SourceProblem[];
  /** The accepted revision is the present source. */
  readonly isCurrent: boolean;
}

export const noStanding: SourceStanding = {
  observedRevision: null,
  observedMs: null,
  acceptedMs: null,
  error: null,
  problems: [],
  isCurrent: false,
};

export function standingFact(source: string): string {
  return `source ${source}`;
}
