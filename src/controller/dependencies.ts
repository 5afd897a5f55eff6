import { fileIdentity } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { PortolanError } from '../model/errors.ts';
import type { LedgerState } from '../model/platform-status.ts';
import { lookAt } from '../runtime/look.ts';
import type { Dependencies } from './api.ts';
import type { Core } from './core.ts';

/** Returns a function that returns the state of platforms, regions and ledger. */
export function dependenciesOf({ configuration, gates, sourceLedger, options }: Core): () => Promise<Dependencies> {
  const counts = lookAt(options.clock, () => countsOf(sourceLedger.ledger));
  return async () => ({
    platforms: [...configuration.operator.platforms].map((name) => {
      const client = configuration.client(name);
      return { name, url: client.url, load: client.load() };
    }),
    regions: gates.regionDetails(),
    ledger: await ledgerState(sourceLedger.ledger, counts),
  });
}

type Counts = Pick<LedgerState, 'serial' | 'open' | 'inDoubt'>;

async function countsOf(ledger: Ledger): Promise<Counts> {
  const [newest] = await ledger.history({ limit: 1 });
  const intents = await ledger.intents({ states: ['open', 'unknown'] });
  const inDoubt = intents.filter(({ state }) => state === 'unknown').length;
  return { serial: newest?.serial ?? null, open: intents.length - inDoubt, inDoubt };
}

async function ledgerState(ledger: Ledger, look: () => Promise<Counts | undefined>): Promise<LedgerState> {
  const { location, lineage, epoch } = ledger;
  const facts = { location, lineage, epoch, ...filesOf(location) };
  const counts = await look().catch((error: unknown) => {
    if (error instanceof PortolanError) return undefined;
    throw error;
  });
  return { ...facts, isReadable: counts !== undefined, ...(counts ?? { serial: null, open: 0, inDoubt: 0 }) };
}

/** Returns size and last write of the ledger's file and its write-ahead log. */
function filesOf(path: string): Pick<LedgerState, 'bytes' | 'lastWriteMs'> {
  const files = [path, `${path}-wal`].flatMap((file) => fileIdentity(file) ?? []);
  if (files.length === 0) return { bytes: null, lastWriteMs: null };
  return {
    bytes: files.reduce((sum, { bytes }) => sum + Number(bytes), 0),
    lastWriteMs: Math.max(...files.map(({ changedNs }) => Number(changedNs / 1_000_000n))),
  };
}
