import type { Ledger, LedgerOperation, LedgerTransaction } from './ledger.ts';
import type { LeaseUnit } from './shared.ts';
import { parseScopeKey } from '../model/ids.ts';

/** Returns the ledger as the leader of a unit sees it. */
export function ofUnit(ledger: Ledger, unit: LeaseUnit): Ledger {
  return {
    location: ledger.location,
    lineage: ledger.lineage,
    epoch: ledger.epoch,
    objects: (filter) => ledger.objects(filter),
    objectCount: (filter) => ledger.objectCount(filter),
    ownedScopes: (source) => ledger.ownedScopes(source),
    intents: (filter) => ledger.intents(filter),
    history: (filter) => ledger.history(filter),
    scopes: () => ledger.scopes(),
    fact: (key) => ledger.fact(key),
    lastSnapshot: (source) => ledger.lastSnapshot(source),
    close: () => ledger.close(),
    async commit(transaction: LedgerTransaction) {
      mustBelong(transaction, unit);
      await ledger.commit(transaction);
    },
  };
}

/** @throws RangeError for a transaction that the lease of the unit does not cover: see `Lead.ledger`. */
function mustBelong({ scope, operations }: LedgerTransaction, unit: LeaseUnit): void {
  if (scope === unit) return;
  const platform = /^platform:(.+)$/.exec(unit)?.[1];
  if (platform !== undefined) {
    if (parseScopeKey(scope)?.platform === platform) return;
    if (scope.startsWith('source:') && operations.every((operation) => isShared(operation, platform))) return;
  }
  throw new RangeError(`a transaction of ${scope} needs another lease than the one of ${unit}`);
}

/** Whether the leader of a platform may write it beside the leaders of other platforms and of the source. */
function isShared(operation: LedgerOperation, platform: string): boolean {
  if (operation.op === 'record') return true;
  return (
    operation.op === 'set-fact' && (operation.was !== undefined || operation.key.split(/[ /:]/).includes(platform))
  );
}
