import { fileIdentity } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { PortolanError } from '../model/errors.ts';
import type { LedgerState } from '../model/platform-status.ts';
import type { Dependencies } from './api.ts';
import type { Core } from './core.ts';

/** Returns the state of platforms, regions and ledger. */
export async function dependenciesOf({ configuration, gates, sourceLedger }: Core): Promise<Dependencies> {
  return {
    platforms: [...configuration.operator.platforms].map((name) => {
      const client = configuration.client(name);
      return { name, url: client.url, load: client.load() };
    }),
    regions: gates.regionDetails(),
    ledger: await ledgerState(sourceLedger.ledger),
  };
}

async function ledgerState(ledger: Ledger): Promise<LedgerState> {
  const { location, lineage, epoch } = ledger;
  const facts = { location, lineage, epoch, ...filesOf(location) };
  try {
    const [newest] = await ledger.history({ limit: 1 });
    const intents = await ledger.intents({ states: ['open', 'unknown'] });
    const inDoubt = intents.filter(({ state }) => state === 'unknown').length;
    return { ...facts, isReadable: true, serial: newest?.serial ?? null, open: intents.length - inDoubt, inDoubt };
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return { ...facts, isReadable: false, serial: null, open: 0, inDoubt: 0 };
  }
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
