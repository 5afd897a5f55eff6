import type { PortRecord, RuleRecord } from '../../model/observed.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { HoldProposal, Readable, Recording } from '../reconciled.ts';
import { endpointHold } from './endpoint.ts';
import type { ComponentProposal, ObservedComponent } from './live.ts';
import { reopening } from './port-diff.ts';

interface Restoration {
  readonly steps: readonly ComponentProposal[];
  readonly holds: readonly HoldProposal[];
}

/**
 * What a port that no manifest lists any more still has to get back: outer access that an earlier run closed for a moment.
 * undefined where nothing is owed, or nothing is left to restore.
 */
export function restoration(
  object: OwnedObject | undefined,
  serviceId: string,
  live: PortRecord | undefined,
  rules: Readable<readonly RuleRecord[]>,
): Restoration | undefined {
  if (object?.obligation?.['outer'] !== true || live === undefined || live.outer) return undefined;
  if (live.inner) return { steps: [reopening(serviceId, live, rules)], holds: [] };
  return { steps: [], holds: [leftClosed(object, live.port)] };
}

/**
 * A port that no manifest lists any more and that owes nothing now: it is seen to be open (closed later, it was somebody's
 * wish), and its endpoint has followed its protocol.
 */
export function paidOff(
  object: OwnedObject | undefined,
  live: PortRecord,
  observed: ObservedComponent,
): Recording | undefined {
  if (object === undefined || object.obligation === null) return undefined;
  if (object.obligation['outer'] === true && !live.outer) return undefined;
  if (endpointHold(object, live, observed) !== undefined) return undefined;
  const { naturalKey, remoteId, remoteAux, origin, state, lastApplied } = object;
  return { naturalKey, remoteId, remoteAux, origin, state, lastApplied, obligation: null };
}

function leftClosed({ uid, resource }: OwnedObject, port: number): HoldProposal {
  return {
    code: 'component/left-closed',
    message: `outer access of port ${port} of ${resource} was closed for a moment by an earlier run, no manifest lists the port any more, and its inner access is closed now, so outer cannot be opened again; nothing was sent`,
    remedy: `Open the port in the console if it should be open, and then, or if it should not, run \`portolan ledger forget ${uid} --reason "…"\`.`,
  };
}
