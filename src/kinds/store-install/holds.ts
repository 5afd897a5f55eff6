import type { OwnedObject, Refused } from '../../model/owned.ts';
import { type Difference, type HoldProposal, holding } from '../reconciled.ts';

/** Codes of holds in an application that the ledger has never recorded. */
export const firstHolds: ReadonlySet<string> = new Set(['install/first-into-unknown', 'install/components-elsewhere']);

export function hold(code: string, message: string, remedy: string): Difference<never> {
  return holding({ code, message, remedy });
}

/** Returns the hold of an install that a request in doubt may have created. It is neither adopted nor treated as unmanaged. */
export function copyHold(sent: string, intent: string): HoldProposal {
  return {
    code: 'install/other-in-doubt',
    message: `${sent}, and what is installed may be what it made; nothing is adopted or installed here until that is resolved`,
    remedy: `Resolve intent ${intent} first. \`portolan ledger show ${intent}\` shows its state.`,
  };
}

/** Returns the hold after a refused store key. A retry cannot succeed: the platform uses the first key that it received. */
export function refusedHold(
  { uid }: OwnedObject,
  { reason, message }: Refused,
  summary: string,
): HoldProposal | undefined {
  if (reason !== 'store-credentials') return undefined;
  return {
    code: 'install/store-key-refused',
    message: `the application store refused the platform's access key, so "${summary}" is not sent again. The platform said: ${message}. It keeps the first access key that it gets for the address of a store, even from an install that fails, and ignores any other key for that address`,
    remedy: `Correct the key of this store in the console; or write spec.url of the Store in another way, such as with its port (https://store.example.com:443), which makes a new entry with the key of the Store. Then run \`portolan ledger retry ${uid}\`.`,
  };
}
