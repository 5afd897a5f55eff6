import { pause } from '../../controller/replicas/pause.ts';
import { isPostgres } from '../../ledger/address.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Settings } from '../../configuration/settings/spec.ts';
import { PortolanError } from '../../model/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { startWaitingServer, type WaitingServer } from '../../server/waiting.ts';
import type { Surroundings } from './command.ts';
import { openLedger } from './open-ledger.ts';
import type { Replica } from './replica.ts';

interface RunLedgerOptions {
  readonly ledger: string | undefined;
  readonly actor: string;
  /** Name of this process among those that share the ledger. */
  readonly name: string | undefined;
  readonly source: string;
  readonly settings: Settings;
  readonly log: Log;
}

interface RunLedger {
  /** Reads all records. Without a replica, it is also written. */
  readonly ledger: Ledger;
  /** undefined: this process alone has the ledger. */
  readonly replica: Replica | undefined;
  close(): Promise<void>;
}

/**
 * Opens a ledger in a file for this process alone, or a ledger in a database together with other controllers.
 * @returns undefined if the process was asked to end while it waited for the database.
 * @throws PortolanError for anything that time alone does not correct.
 */
export async function openRunLedger(
  options: RunLedgerOptions,
  surroundings: Surroundings,
): Promise<RunLedger | undefined> {
  const { ledger: address, actor, name, source, settings, log } = options;
  if (isPostgres(address)) {
    const { openReplica } = await import('./replica.ts');
    const { leaseMs } = settings.controller;
    const open = () => openReplica({ ledger: address, name, source, actor, leaseMs, log }, surroundings);
    const replica = await whenUsable(open, options, surroundings);
    if (replica === undefined) return undefined;
    const { shared } = replica.replicas;
    return { ledger: shared.reader, replica, close: () => shared.close() };
  }
  const { ledger } = await openLedger({ ledger: address, actor, readOnly: false }, surroundings);
  return { ledger, replica: undefined, close: () => ledger.close() };
}

/** The first wait for a database, and the longest one: they double. */
const FIRST_MS = 500;
const LONGEST_MS = 10_000;

/**
 * Waits for a database that is not there yet, or until no controller of another source has the ledger. A process that ended instead
 * would be started again with pauses that grow to minutes, and a database and its controllers are often started together. An error that
 * only a person can correct ends the process at once.
 */
async function whenUsable(
  open: () => Promise<Replica>,
  { settings, log }: RunLedgerOptions,
  { clock, random, signal }: Surroundings,
): Promise<Replica | undefined> {
  const beganMs = clock.monotonic();
  let server: WaitingServer | undefined;
  let said: string | undefined;
  try {
    for (let waitMs = FIRST_MS; ; waitMs = Math.min(LONGEST_MS, 2 * waitMs)) {
      let because: string;
      try {
        const replica = await open();
        if (said !== undefined) log.info(`the ledger can be used, after ${secondsSince(clock.monotonic() - beganMs)}`);
        return replica;
      } catch (error) {
        if (!(error instanceof PortolanError) || error.disposition !== 'retry') throw error;
        const { message, code, remedy } = error;
        if (message !== said) log.error(`${message} Waiting for it.`, { code, remedy });
        said = message;
        because = code;
      }
      server?.waitFor(because);
      if (server === undefined && !signal.aborted) {
        server = await startWaitingServer(settings.server, because);
        log.info(`${server.url}/readyz answers 503 until then`);
      }
      await pause(clock, waitMs * (0.75 + random.next() / 2), signal);
      if (!signal.aborted) continue;
      log.info(`ended after ${secondsSince(clock.monotonic() - beganMs)}, before the ledger could be used`);
      return undefined;
    }
  } finally {
    await server?.close();
  }
}

function secondsSince(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
