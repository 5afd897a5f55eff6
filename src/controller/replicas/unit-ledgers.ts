import type { Lead, LeaseUnit } from '../../ledger/shared.ts';
import { PortolanError } from '../../model/errors.ts';
import type { AppRecord, StatusLedger } from '../ledger-records.ts';
import type { CoreBase } from '../options.ts';
import { nameOf } from './command-errors.ts';
import { platformUnit } from './leadership.ts';

/**
 * Returns the ledger by which this process writes the records of a unit, also while it hands the unit over.
 * @throws PortolanError `controller/not-leader`
 */
export function ledgerFor(core: CoreBase, unit: LeaseUnit): StatusLedger {
  const lead = core.leadership.held(unit);
  if (lead === undefined) throw notLeader(unit);
  return ledgerBy(core, lead);
}

/** Returns the ledger by which a leader writes the records of its unit. */
export function ledgerBy({ leadership, sourceLedger }: CoreBase, { ledger, unit }: Lead): StatusLedger {
  return { ...sourceLedger, ledger, unit, isShared: leadership.isShared };
}

/** Returns the ledger for the records of a platform. @throws PortolanError as `ledgerFor`. */
export function ledgerOfPlatform(core: CoreBase, platform: string): StatusLedger {
  return ledgerFor(core, platformUnit(platform));
}

/** Returns the ledger for the records of an application. @throws PortolanError as `ledgerFor`. */
export function ledgerOfRecord(core: CoreBase, { status }: AppRecord): StatusLedger {
  return ledgerOfPlatform(core, status.platform);
}

/**
 * Runs work that writes the records of a unit. The unit is not handed over before it ends.
 * @throws PortolanError `controller/not-leader`
 */
export async function leading<Result>(
  core: CoreBase,
  unit: LeaseUnit,
  work: (lead: Lead) => Promise<Result>,
): Promise<Result> {
  const lead = core.leadership.of(unit);
  if (lead === undefined) throw notLeader(unit);
  return core.unitWork.run(unit, () => work(lead));
}

/** Returns whether the process ends, or hands a unit over, or has lost it: then no new work of it starts. */
export function mayNotContinue({ stop, leadership }: CoreBase & { readonly stop: AbortSignal }, lead: Lead): boolean {
  return stop.aborted || lead.over.aborted || leadership.of(lead.unit) !== lead;
}

function notLeader(unit: LeaseUnit): PortolanError {
  return new PortolanError({
    code: 'controller/not-leader',
    disposition: 'retry',
    message: `This controller does not lead ${nameOf(unit)} at this moment. Nothing was done.`,
    remedy: 'Retry in a few seconds; portolan replicas shows the leaders.',
  });
}
