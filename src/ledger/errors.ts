import { isPostgres } from './address.ts';
import { invalidInput, PortolanError } from '../model/errors.ts';
import type { LeaseHolder } from './lease-holder.ts';
import type { Intent } from '../model/owned.ts';
import type { EpochMs } from '../model/time.ts';
import { copyForControllers, placeOfCopy, type Retirement } from './retirement.ts';
import { unreachable } from '../model/unreachable.ts';

/** Who has the ledger open for writing, as that process itself wrote it down. */
export interface Holder {
  readonly actor: string;
  readonly sinceMs: EpochMs;
}

/** Returns `2026-11-20T13:51:46.000Z`, or the bare number if it is not a date. */
export function instant(ms: EpochMs): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}

export function locked(location: string, holder: Holder | undefined): PortolanError {
  const who = holder === undefined ? 'another process' : `${holder.actor}, since ${instant(holder.sinceMs)}`;
  return new PortolanError({
    code: 'ledger/locked',
    disposition: 'locked',
    message: `The ledger ${location} is held by ${who}. It was not opened, and nothing was changed.`,
    remedy: wayOut(location, holder?.actor ?? ''),
  });
}

/** A daemon does by itself what a command wants to do; its holder's text ends with the address of its API. */
function wayOut(location: string, actor: string): string {
  if (!actor.startsWith('portolan run')) {
    return (
      'Wait until it ends and run this again; plan and status only read, and work beside it. ' +
      'The lock goes with its process; there is no lock file to remove.'
    );
  }
  const url = / (https?:\/\/\S+)$/.exec(actor)?.[1] ?? 'URL (spec.server.listen of its Settings)';
  const stop = isPostgres(location)
    ? 'stop all controllers of the ledger first, which `portolan replicas --ledger URL` lists'
    : 'stop it first';
  return (
    `The daemon applies its source by itself: commit the change, see it with \`portolan plan --server ${url}\`, ` +
    `and hurry it with \`portolan sync --all --server ${url}\`. Only for what the daemon cannot do, ${stop}; ` +
    'plan and status without --server only read, and work beside it.'
  );
}

export function fenced(location: string, ours: number, theirs: number): PortolanError {
  return new PortolanError({
    code: 'ledger/fenced',
    disposition: 'locked',
    message:
      `The ledger ${location} is at epoch ${Math.max(ours, theirs)}, this transaction at ${Math.min(ours, theirs)}: ` +
      'another process took it over. Nothing was recorded.',
    remedy: 'Stop this process. The process that holds the ledger now resolves what was in flight.',
  });
}

export function closed(location: string): PortolanError {
  return new PortolanError({
    code: 'ledger/fenced',
    disposition: 'locked',
    message: `The ledger ${location} was closed by this process. Nothing was recorded.`,
    remedy: 'Start it again: the next pass resolves what was in flight.',
  });
}

export function readOnly(location: string): PortolanError {
  return new PortolanError({
    code: 'ledger/read-only',
    disposition: 'give-up',
    message: `The ledger ${location} is open for reading only. Nothing was recorded.`,
    remedy:
      location === 'none'
        ? 'A command that writes to the platform needs a ledger: pass `--ledger PATH`.'
        : 'Run the command that writes without the option that made it read only.',
  });
}

export function missing(location: string): PortolanError {
  return invalidInput(
    'ledger/missing',
    `There is no ledger at ${location}, and reading never creates one.`,
    'Check the path, or pass `--ledger none` to read without one: ownership is then unknown.',
  );
}

export function newer(location: string, schema: number, known: number): PortolanError {
  return new PortolanError({
    code: 'ledger/newer',
    disposition: 'invalid',
    message:
      `The ledger ${location} has schema ${schema}; this version of Portolan knows up to ${known}. ` +
      'It was not opened, and nothing was changed.',
    remedy: isPostgres(location)
      ? 'Use the version of Portolan that migrated it, or a newer one.'
      : 'Use the version of Portolan that migrated it, or go back to the backup made before the migration ' +
        `(\`portolan ledger restore ${location}.backup-${known}-….db\`).`,
  });
}

export function older(location: string, schema: number, known: number): PortolanError {
  return invalidInput(
    'ledger/older',
    `The ledger ${location} has schema ${schema}, this version reads ${known}; reading alone does not migrate.`,
    isPostgres(location)
      ? 'Make a `portolan ledger backup` with the former version of Portolan, migrate it with `portolan ledger migrate`, and read it again.'
      : 'Migrate it with `portolan ledger migrate`, which keeps a backup, and read it again.',
  );
}

export function corrupt(location: string, what: string, cause?: unknown): PortolanError {
  return new PortolanError({
    code: 'ledger/corrupt',
    disposition: 'give-up',
    message: `The ledger ${location} is damaged: ${what}. It was left exactly as it is; nothing was sent to the platform.`,
    remedy:
      `Keep a copy of the ${isPostgres(location) ? 'database' : 'file and what stands beside it'}, then \`portolan ledger restore BACKUP\`. ` +
      'Do not delete it to start from nothing: an empty ledger owns nothing and may install twice.',
    cause,
  });
}

export function networkFilesystem(directory: string, filesystem: string): PortolanError {
  return new PortolanError({
    code: 'ledger/network-filesystem',
    disposition: 'invalid',
    message:
      `The ledger's directory ${directory} is on ${filesystem}, where file locks and shared memory cannot be relied on: ` +
      'two controllers could both believe they hold it. It was not opened.',
    remedy: 'Put the ledger on a local disk.',
  });
}

export function full(location: string, cause: unknown): PortolanError {
  return new PortolanError({
    code: 'ledger/full',
    disposition: 'retry',
    message: `The disk of the ledger ${location} is full. Nothing was recorded, so nothing more is sent to the platform.`,
    remedy: 'Free space on this disk. Then writing works again, and `portolan ledger compact` removes old history.',
    cause,
  });
}

export function inputOutput(location: string, cause: unknown): PortolanError {
  return new PortolanError({
    code: 'ledger/io',
    disposition: 'retry',
    message: `The ledger ${location} could not be read or written (${reason(cause)}). Nothing was recorded.`,
    remedy: 'Check that disk, its mount and its permissions. Writing works again once it does.',
    cause,
  });
}

export function busy(location: string, cause: unknown): PortolanError {
  return new PortolanError({
    code: 'ledger/busy',
    disposition: 'retry',
    message: `Another program keeps the ledger ${location} locked for writing. Nothing was recorded.`,
    remedy: 'Close the database shell, backup or copy that has it open. Writing then works again.',
    cause,
  });
}

/**
 * The files of a ledger changed under the process that holds it.
 * @param what happened, as the end of a sentence.
 * @param loss see `file-guard.ts`.
 */
export function replaced(
  location: string,
  what: string,
  loss: 'replaced' | 'overwritten' | 'beside' | 'restored' | 'lost',
): PortolanError {
  const remedies = {
    replaced:
      `Put the ledger back, and start again. As this process ends, it saves the ledger as ${location}.rescued-…; ` +
      '`portolan ledger restore FILE` puts that copy in its place.',
    overwritten:
      'Restore a backup with `portolan ledger restore BACKUP`, which keeps what is there now, and start again. ' +
      'Never copy a file over a ledger that a process holds.',
    beside:
      'Make sure that no other process uses the ledger, remove any second name of these files, and start again. ' +
      `\`portolan ledger verify --ledger ${location}\` checks it.`,
    restored:
      'The database was restored, or a standby took its place without the last transactions. Stop all controllers, save what ' +
      'is there now with `portolan ledger backup FILE --ledger URL`, and restore that file with `portolan ledger restore FILE ' +
      '--ledger URL`: installs then wait until you confirm each application. Start the controllers again.',
    lost:
      'The database was restored, or a standby took its place without the last transactions. Installs of all applications wait, also ' +
      'after a restart. Stop all controllers, compare each application with the console, and confirm it with ' +
      '`portolan ledger confirm SCOPE --ledger URL`. Start the controllers again.',
  };
  return new PortolanError({
    code: 'ledger/replaced',
    disposition: 'ask-human',
    message: `The ledger ${location} changed while this process held it: ${what}. Nothing more is sent to the platform.`,
    remedy: remedies[loss],
  });
}

/** A ledger that was copied, and is used where the copy is. */
export function retiredLedger(location: string, retirement: Retirement): PortolanError {
  const copy = placeOfCopy(retirement);
  return new PortolanError({
    code: 'ledger/retired',
    disposition: 'invalid',
    message:
      `The ledger ${location} was copied to ${copy} at ${instant(retirement.atMs)}, and does not know what was done since. ` +
      'It is only read from then on. Nothing was changed, and nothing was sent to the platform.',
    remedy:
      `Use ${copyForControllers(copy)}. To use this one again on purpose, stop whatever uses the other, make a \`portolan ledger backup\` of this one, ` +
      'and `portolan ledger restore` it in its place: installs then wait until you have confirmed them.',
  });
}

/** The copy is complete, but nothing keeps a process from writing the ledger that was copied. */
export function notRetired(location: string, copy: string, cause: unknown): PortolanError {
  return new PortolanError({
    code: 'ledger/not-retired',
    disposition: 'give-up',
    message:
      `The ledger ${location} was copied to ${copy}, and every row is the same; but it could not be marked as retired ` +
      `(${reason(cause)}). If processes wrote both, each could install what the other has installed.`,
    remedy: `Remove the copy, and copy again once the cause is gone. Until then, use only ${location}.`,
    cause,
  });
}

/** A process that meets this error must end: another version or another ledger is used now. */
export function isLedgerPast({ code }: Pick<PortolanError, 'code'>): boolean {
  return code === 'ledger/newer' || code === 'ledger/retired';
}

/** The error of a ledger that this process must not use any longer. */
export function isLedgerLost({ code }: Pick<PortolanError, 'code'>): boolean {
  return code === 'ledger/fenced' || code === 'ledger/replaced';
}

/** Controllers of two sources would leave each other's applications alone, see `areRivals`. */
export function otherSource({ replica, source }: Pick<LeaseHolder, 'replica' | 'source'>): PortolanError {
  return new PortolanError({
    code: 'controller/other-source',
    disposition: 'retry',
    message: `The controller ${replica} works on another source, "${source}", with this ledger. A platform has one leader for all sources, which reconciles its own source only.`,
    remedy:
      'Give the controllers of each source a database of their own (or a schema, ?schema=NAME, with this name in the files of examples/postgres), or the same --source. To rename the source, stop all controllers, and start them with the new name.',
  });
}

/** The target of a copy has a ledger already. */
export function notEmpty(location: string, what: string): PortolanError {
  return invalidInput(
    'ledger/not-empty',
    `Nothing was copied to ${location}: ${what}.`,
    'Name a file that does not exist, or a database without a ledger (or a schema, ?schema=NAME, with this name in the files of examples/postgres).',
  );
}

/** An older copy is in the place of a ledger, and no process has noted that in it yet: a copy of it would not hold installs. */
export function olderCopy(location: string, serial: number, expected: number): PortolanError {
  return new PortolanError({
    code: 'ledger/older-copy',
    disposition: 'ask-human',
    message:
      `The ledger ${location} was not copied: it is an older copy of itself, at transaction ${serial}, and ${location}.serial ` +
      `says that it was at ${expected}. Nothing was changed.`,
    remedy:
      `Put the newer ledger back. To continue with the older one, run \`portolan ledger migrate --ledger ${location}\` and copy ` +
      'it then: installs wait until you have confirmed each application, also in the copy.',
  });
}

/** A copy that differs from its source; it was not kept. */
export function badCopy(location: string, what: string): PortolanError {
  return new PortolanError({
    code: 'ledger/bad-copy',
    disposition: 'give-up',
    message: `The ledger ${location} was not copied: ${what}. Nothing was kept of the copy, and the ledger was not changed.`,
    remedy: 'Run `portolan ledger verify` on the ledger. If it is intact, report this as a bug.',
  });
}

/** Two names of one ledger have two locks and two logs, and each would be written past the other. */
export function linked(path: string): PortolanError {
  return new PortolanError({
    code: 'ledger/linked',
    disposition: 'ask-human',
    message: `${path} has a second name (a hard link), so two processes could use the ledger at once. It was not opened.`,
    remedy:
      'Remove the other name: `find DIRECTORY -samefile FILE` lists all of them. For a copy, use `portolan ledger backup`.',
  });
}

/** The ledger is gone, and the mark beside it says that there was one. */
export function gone(location: string, serial: number): PortolanError {
  return new PortolanError({
    code: 'ledger/missing',
    disposition: 'ask-human',
    message: `The ledger ${location} is gone: ${location}.serial says that it had the serial ${serial}. No new ledger was made, because it would own nothing and might install twice.`,
    remedy: `Put it back, or restore a backup (\`portolan ledger restore BACKUP\`). To begin with a new ledger on purpose, remove ${location}.serial.`,
  });
}

/** An intent is already under way for the object, or an install for the scope. */
export function intentConflict(asked: Intent, pending: Intent | undefined, cause?: unknown): PortolanError {
  const blocked = `${asked.operation} of ${asked.resource} (${asked.uid})`;
  return new PortolanError({
    code: 'ledger/conflict',
    disposition: 'retry',
    message:
      pending === undefined
        ? `Intent ${asked.id}, ${blocked}, exists already. Nothing was recorded or sent.`
        : `${blocked} was not begun: intent ${pending.id}, ${pending.operation} of ${pending.resource}, is ${pending.state} ` +
          `since ${instant(pending.createdMs)}. Nothing was recorded or sent.`,
    remedy:
      pending === undefined
        ? 'Plan again; if it stays, report it as a bug.'
        : 'The next pass resolves it by observation; if it is held, decide with ' +
          `\`portolan ledger resolve ${pending.id} --applied|--not-applied --reason TEXT\`.`,
    cause,
  });
}

/** Only an open or unknown intent may move, and `unknown` may not go back to it. */
export function moveConflict(id: string, found: Intent | undefined, wanted: string): PortolanError {
  return new PortolanError({
    code: 'ledger/conflict',
    disposition: 'retry',
    message:
      found === undefined
        ? `There is no intent ${id} in this scope that could become ${wanted}. Nothing was recorded.`
        : `Intent ${id} is already ${found.state} and cannot become ${wanted}. Nothing was recorded.`,
    remedy: 'List the open ones with `portolan ledger list`; this one needs nothing more.',
  });
}

/** A fact has another value than the one that the transaction was made for. */
export function factConflict(key: string): PortolanError {
  return new PortolanError({
    code: 'ledger/conflict',
    disposition: 'retry',
    message: `The ledger record \`${key}\` was changed by another process or pass meanwhile. Nothing was recorded or sent.`,
    remedy: 'The next pass reads it and decides with its new value; no action is required.',
  });
}

/** The transaction is right only for a revision of the source after which another one was accepted. */
export function snapshotConflict(source: string): PortolanError {
  return new PortolanError({
    code: 'ledger/conflict',
    disposition: 'retry',
    message: `Another revision of the source ${source} was accepted meanwhile. Nothing was recorded or sent.`,
    remedy: 'The next pass follows that revision; no action is required.',
  });
}

/** Two sources, or two names, claim one object of the platform. */
export function ownerConflict(uid: string, owner: string, cause?: unknown): PortolanError {
  return new PortolanError({
    code: 'ledger/conflict',
    disposition: 'ask-human',
    message: `${uid} was not recorded: the ledger has that object already, as ${owner}.`,
    remedy: 'Name it in one source only, or take it out of the other one first.',
    cause,
  });
}

/**
 * Classes of database errors. `unknown` is a bug, or already an error of Portolan; `lost` is a connection that ended before the
 * commit, so that nothing was recorded.
 */
export type DatabaseFault = 'unique' | 'busy' | 'lost' | 'full' | 'io' | 'corrupt' | 'unknown';

/** The error to throw for one that a database threw; what we do not know stays what it is. */
export function explained(fault: DatabaseFault, location: string, error: unknown): unknown {
  switch (fault) {
    case 'busy':
      return busy(location, error);
    case 'full':
      return full(location, error);
    case 'io':
    case 'lost':
      return inputOutput(location, error);
    case 'corrupt':
      return corrupt(location, reason(error), error);
    case 'unique':
    case 'unknown':
      return error;
    default:
      return unreachable(fault);
  }
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
