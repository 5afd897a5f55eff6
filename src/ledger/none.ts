import { readOnly } from './errors.ts';
import type { Ledger } from './ledger.ts';

/** The ledger of `--ledger none`: it remembers nothing, so ownership is unknown, and it takes no transaction. */
export const noLedger: Ledger = {
  location: 'none',
  lineage: 'none',
  epoch: 0,
  objects: async () => [],
  objectCount: async () => 0,
  intents: async () => [],
  history: async () => [],
  scopes: async () => [],
  fact: async () => undefined,
  lastSnapshot: async () => undefined,
  commit: async () => {
    throw readOnly('none');
  },
  close: async () => {},
};
