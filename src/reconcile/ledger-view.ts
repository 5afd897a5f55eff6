import { isNews, type ObjectPlace, renamed, toObject, transaction } from './apply/journal.ts';
import type { ApplyWorld } from './apply/world.ts';
import { makesCopies } from '../kinds/define.ts';
import { type LedgerView, ledgerRecordOf } from '../kinds/reconciled.ts';
import { awaitsConfirmation, knownSince } from '../ledger/confirmation.ts';
import type { LedgerOperation } from '../ledger/ledger.ts';
import { type Scope, scopeKey } from '../model/ids.ts';
import type { ScopePlan } from '../model/plan.ts';
import type { LedgerUpdates } from '../plan/draft.ts';

interface UpdateInput {
  readonly scope: Scope;
  readonly ledgerView: LedgerView;
  readonly plan: ScopePlan;
  readonly ledgerUpdates: LedgerUpdates;
}

/**
 * Records objects that are in sync, and drops those that are gone. Writes nothing if nothing is new.
 * @returns whether anything was written.
 */
export async function updateLedger(world: ApplyWorld, prepared: UpdateInput): Promise<boolean> {
  const operations = await ledgerOperations(world, prepared);
  if (operations.length === 0) return false;
  await world.ledger.commit(transaction(world, prepared.scope, operations));
  return true;
}

/** Returns the operations that bring the ledger up to date; none if it is. */
export async function ledgerOperations(world: ApplyWorld, prepared: UpdateInput): Promise<readonly LedgerOperation[]> {
  const operations: LedgerOperation[] = [];
  for (const { resource, kind, recording } of prepared.ledgerUpdates.inSync) {
    const place: ObjectPlace = { scope: prepared.scope, kind, resource };
    const prior = ledgerRecordOf(prepared.ledgerView, kind, recording.naturalKey);
    const replaced =
      recording.replaces === undefined ? undefined : ledgerRecordOf(prepared.ledgerView, kind, recording.replaces);
    const next = toObject(world, place, recording, prior ?? replaced, 0);
    if (!isNews(next, prior)) continue;
    if (replaced === undefined) operations.push({ op: 'put-object', object: next });
    else operations.push(...renamed(replaced.uid, next));
    if (prior === undefined && replaced === undefined)
      operations.push({
        op: 'record',
        event: recording.origin === 'adopted' ? 'adopted' : 'recorded',
        uid: next.uid,
        detail: { resource, lastApplied: recording.lastApplied },
      });
  }
  for (const object of prepared.ledgerUpdates.forget) {
    operations.push(
      { op: 'drop-object', uid: object.uid },
      { op: 'record', event: 'forgotten', uid: object.uid, detail: { resource: object.resource } },
    );
  }
  // Recording the scope must not turn a first install into a known one: the hold outlives this pass until its cause ends.
  if (
    prepared.plan.holds.some(({ code }) => [...world.kinds.values()].some((kind) => kind.firstHolds?.has(code))) &&
    (await world.ledger.fact(installsFact(prepared.scope))) === undefined
  ) {
    operations.push({ op: 'set-fact', key: installsFact(prepared.scope), value: 'unconfirmed' });
  }
  return operations;
}

/**
 * `confirmed`: a person said that installing into this scope is safe; `unconfirmed`: it has been seen, and no person did;
 * `forgotten`: a person dropped an install from the ledger, and none confirmed it since.
 */
export function installsFact(scope: Scope): string {
  return `installs ${scopeKey(scope)}`;
}

export async function readLedgerView(
  world: Pick<ApplyWorld, 'kinds' | 'ledger'>,
  scope: Scope,
  { ledgerKnown }: { readonly ledgerKnown: boolean },
): Promise<LedgerView> {
  if (!ledgerKnown) return { known: false, scopeRecorded: false, restored: false, objects: [] };
  const objects = await world.ledger.objects({ scope: scopeKey(scope) });
  const confirmed = await world.ledger.fact(installsFact(scope));
  const installedBefore = objects.some(({ kind }) => makesCopies(world.kinds, kind));
  const scopeRecorded =
    installedBefore || confirmed === 'confirmed' || (objects.length > 0 && confirmed !== 'unconfirmed');
  const restored = confirmed === 'forgotten' || (await awaitsConfirmation(world.ledger, scopeKey(scope)));
  const { total, besides } = await knownSince(world.ledger, scopeKey(scope));
  return {
    known: true,
    scopeRecorded,
    restored,
    objects,
    ...(total === undefined ? {} : { componentsSince: total }),
    ...(besides === undefined ? {} : { besides }),
  };
}
