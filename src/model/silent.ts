import type { ReplicaState } from './replicas.ts';

/** A replica sends a heartbeat every 5 s or more often. If three of them are missing, it is not expected to lead anything. */
const SILENT_MS = 15_000;

/** Returns whether a replica gives no sign. */
export function isSilent({ seenAgoMs }: Pick<ReplicaState, 'seenAgoMs'>): boolean {
  return seenAgoMs >= SILENT_MS;
}
