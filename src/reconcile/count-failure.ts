import { transaction } from './apply/journal.ts';
import type { ApplyWorld } from './apply/world.ts';
import { type Memory, remembered } from '../kinds/reconciled.ts';
import type { Scope } from '../model/ids.ts';
import type { Action } from '../model/plan.ts';
import type { DesiredState } from '../model/resource.ts';
import { withFailure } from '../plan/failures.ts';

/** Counts that a change was accepted and did not take, so that it is not sent for ever. */
export async function countFailure(
  world: ApplyWorld,
  prepared: {
    readonly work: { readonly resources: DesiredState };
    readonly scope: Scope;
    readonly memory: Memory;
  },
  action: Action,
): Promise<void> {
  const kind = action.resource.slice(0, action.resource.indexOf('/'));
  const object = remembered(prepared.memory, kind, action.object);
  if (object === undefined) return;
  const failed = withFailure(object, prepared.work.resources.get(action.resource), undefined);
  await world.ledger.commit(
    transaction(world, prepared.scope, [
      { op: 'put-object', object: failed },
      {
        op: 'record',
        event: 'not-taken',
        uid: object.uid,
        detail: { action: action.id, summary: action.summary, failures: failed.failures },
      },
    ]),
  );
}
