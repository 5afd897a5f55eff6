import { fenced } from './errors.ts';
import type { IntentState } from '../model/owned.ts';
import { unreachable } from '../model/unreachable.ts';
import type { LedgerOperation, LedgerTransaction } from './ledger.ts';

/** States of an intent without a known outcome: at most one such intent per object, one install per scope. */
export const pendingStates = ['open', 'unknown'] as const satisfies readonly IntentState[];

/** Whether an intent still waits for its outcome. */
export function isPending(state: IntentState): boolean {
  return state === 'open' || state === 'unknown';
}

/** A scope may have only one of these under way: the server creates a copy for every call. The index of the schema names them. */
export function isInstall(operation: string): boolean {
  return operation === 'install' || operation === 'upgrade';
}

/**
 * Checks a transaction before a ledger changes its store.
 * @throws PortolanError `ledger/fenced` for an intent stamped with another epoch than the ledger's.
 * @throws RangeError for a transaction that no correct caller builds: rows of another scope, an intent that is not
 * open, `resolved` without a person, two snapshots of one source, a time that is not an integer.
 */
export function checkTransaction(transaction: LedgerTransaction, epoch: number, location: string): void {
  whole('atMs', transaction.atMs);
  const sources = new Set<string>();
  for (const operation of transaction.operations) {
    switch (operation.op) {
      case 'put-object':
        sameScope(operation.object.uid, operation.object.scope, transaction.scope);
        whole('failures', operation.object.failures);
        break;
      case 'open-intent':
        sameScope(operation.intent.uid, operation.intent.scope, transaction.scope);
        checkIntent(operation);
        if (operation.intent.epoch !== epoch) throw fenced(location, epoch, operation.intent.epoch);
        break;
      case 'move-intent':
        if (operation.settleMs !== undefined) whole('settleMs', operation.settleMs);
        if (operation.state === 'resolved' && operation.resolvedBy === undefined) {
          throw new RangeError(`intent ${operation.id} cannot be resolved by nobody: resolvedBy is missing`);
        }
        break;
      case 'accept-snapshot':
        whole('objects', operation.snapshot.objects);
        whole('acceptedMs', operation.snapshot.acceptedMs);
        if (sources.has(operation.snapshot.source)) {
          throw new RangeError(`two snapshots of source ${operation.snapshot.source} in one transaction`);
        }
        sources.add(operation.snapshot.source);
        break;
      case 'drop-object':
      case 'set-fact':
      case 'expect-snapshot':
      case 'record':
        break;
      default:
        return unreachable(operation);
    }
  }
}

function checkIntent({ intent }: Extract<LedgerOperation, { op: 'open-intent' }>): void {
  if (intent.state !== 'open') throw new RangeError(`intent ${intent.id} must begin as open, not ${intent.state}`);
  whole('createdMs', intent.createdMs);
  whole('sendDeadlineMs', intent.sendDeadlineMs);
  whole('settleMs', intent.settleMs);
}

function sameScope(uid: string, scope: string, expected: string): void {
  if (scope !== expected) throw new RangeError(`${uid} is of scope ${scope}, the transaction of scope ${expected}`);
}

function whole(name: string, value: number): void {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${name} must be a whole number, got ${value}`);
}
