import type { Command, LeaseUnit } from '../../ledger/shared.ts';
import { formatDuration } from '../../model/duration.ts';
import { PortolanError } from '../../model/errors.ts';

/** Returns the name of a unit for texts. */
export function nameOf(unit: LeaseUnit): string {
  const [type, name] = [unit.slice(0, unit.indexOf(':')), unit.slice(unit.indexOf(':') + 1)];
  return type === 'platform' ? `Platform/${name}` : `the source ${name}`;
}

/**
 * Returns the refusal of a command that a former leader may have begun. The error of this attempt says that nothing was done, and
 * knows nothing of the former one.
 */
export function afterFormerLeader(error: PortolanError, unit: LeaseUnit): PortolanError {
  const { code, disposition, message, remedy } = error;
  return new PortolanError({
    code,
    disposition,
    message: `${withoutClaim(message)} A former leader of ${nameOf(unit)} may have carried the command out, or a part of it.`,
    remedy: `See first whether it did: portolan history and portolan status show that. If it did not: ${remedy}`,
    cause: error,
  });
}

/** Returns a message that says what one attempt did not do, as one that claims nothing about other attempts. */
function withoutClaim(message: string): string {
  const sentence = message.endsWith('.') ? message : `${message}.`;
  return sentence.replaceAll(/\b([Nn])othing was /g, '$1othing more was ');
}

/** Returns the error for a command that is too old to be carried out. */
export function expired(limitMs: number): PortolanError {
  return new PortolanError({
    code: 'controller/command-expired',
    disposition: 'give-up',
    message: `No controller finished it within ${formatDuration(limitMs)} after it was recorded, so it is not carried out any more.`,
    remedy:
      'Look at the status of the application, and repeat the command if it is still needed. If its platform is not in the configuration, add it first.',
  });
}

/** Returns the error for a command that ended with a bug. */
export function failedByBug({ method, id }: Command): PortolanError {
  return new PortolanError({
    code: 'controller/command-failed',
    disposition: 'give-up',
    message: `The command ${id} (${method}) failed because of a bug in the controller that carried it out.`,
    remedy: 'Report the bug with the lines that the leader logged. portolan replicas shows the leaders.',
  });
}

/** Returns the error for a sync of which only the orders to some units were recorded. @param error of another one. */
export function partOfSync(recorded: readonly LeaseUnit[], error: PortolanError): PortolanError {
  return new PortolanError({
    code: 'controller/sync-incomplete',
    disposition: 'retry',
    message: `Only a part of the sync is recorded and will be carried out: ${recorded.map(nameOf).join(', ')}. The rest failed: ${withoutClaim(error.message)}`,
    remedy: `Repeat the sync, which does no harm where it is recorded already. ${error.remedy}`,
    cause: error,
  });
}
