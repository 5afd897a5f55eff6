import type { LedgerOperation, LedgerTransaction } from './ledger.ts';

/**
 * Returns a transaction as databases store it. UTF-8 has no half of a surrogate pair, so each becomes U+FFFD; a hash over the half
 * itself would make the stored row look changed. Values of JSON are stored as texts that escape it, and stay as they are.
 */
export function wellFormed(transaction: LedgerTransaction): LedgerTransaction {
  return { ...withTexts(transaction), operations: transaction.operations.map(wellFormedOperation) };
}

function wellFormedOperation(operation: LedgerOperation): LedgerOperation {
  switch (operation.op) {
    case 'put-object':
      return { ...operation, object: withTexts(operation.object) };
    case 'open-intent':
      return { ...operation, intent: withTexts(operation.intent) };
    case 'accept-snapshot':
      return { ...operation, snapshot: withTexts(operation.snapshot) };
    default:
      return withTexts(operation);
  }
}

/** Returns a record with all its own texts well-formed; the same one if they are. */
function withTexts<Value extends object>(value: Value): Value {
  const fields = Object.entries(value) as [string, unknown][];
  if (fields.every(([, field]) => typeof field !== 'string' || field.isWellFormed())) return value;
  return Object.fromEntries(
    fields.map(([name, field]) => [name, typeof field === 'string' ? field.toWellFormed() : field]),
  ) as Value;
}
