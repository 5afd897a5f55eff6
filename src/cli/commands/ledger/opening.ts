import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import type { ApplyWorld } from '../../../reconcile/apply/world.ts';
import { isPostgres, ledgerArgument } from '../../../ledger/address.ts';
import { fileExists, realPath } from '../../../ledger/files.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import type { SqlLedger } from '../../../ledger/sql-ledger.ts';
import { invalidInput } from '../../../model/errors.ts';
import type { Intent } from '../../../model/owned.ts';
import type { Surroundings } from '../../session/command.ts';
import { addServerOptions, type ServerFlags } from '../../server/options.ts';
import { ledgerWarnings } from '../../session/ledger-warnings.ts';
import { DEFAULT_LEDGER_FILE } from '../../session/open-ledger.ts';
import { outputOption } from '../../session/options.ts';

export interface LedgerOptions {
  /** `--ledger`: a file or the URL of a database; undefined: the default. */
  readonly ledger?: string | undefined;
}

/** Returns `--ledger FILE` for the commands that work on the ledger itself. */
export function ledgerFileOption() {
  const about = `the ledger: a file or a postgres:// URL (default: ${DEFAULT_LEDGER_FILE})`;
  return new Option('--ledger <path>', about).argParser(ledgerArgument);
}

/** Returns `--source NAME` as a filter. Unlike `sourceOption`, its default is all sources. */
export function sourceFilterOption() {
  return new Option('--source <name>', 'only objects of this source');
}

/** Adds the options for the ledger and the output format. */
export function ledgerOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return command.addOption(ledgerFileOption()).addOption(outputOption(['text', 'json']));
}

/** Adds the options of `ledgerOptions`, the filter by source, and those of a controller that has the ledger. */
export function recordOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return addServerOptions(
    command
      .addOption(ledgerFileOption())
      .addOption(sourceFilterOption())
      .addOption(outputOption(['text', 'json'])),
  );
}

/** Returns whether a controller carries out a command. An explicit `--ledger` has overruled PORTOLAN_SERVER before (`env-options.ts`). */
export function isOnServer({ server }: ServerFlags): boolean {
  return server !== undefined;
}

/** Returns whether an intent belongs to a source. Only the uid of its object says so: `<source>:<scope>:…`. */
export function isOfSource({ uid, scope }: Pick<Intent, 'uid' | 'scope'>, source: string): boolean {
  return uid.startsWith(`${source}:${scope}:`);
}

/**
 * Returns the path of the ledger's file or its URL. The ledger may not exist.
 * @throws PortolanError `invalid` for `none`.
 */
export function ledgerPath({ ledger = DEFAULT_LEDGER_FILE }: LedgerOptions): string {
  if (ledger !== 'none') return ledger;
  throw invalidInput(
    'cli/no-ledger',
    'This command needs a ledger, and --ledger is none. Nothing was done.',
    `Name a file with --ledger, or omit it to use ${DEFAULT_LEDGER_FILE} in the working directory.`,
  );
}

/**
 * Returns the path of an existing ledger: a command that reads must never create an empty one. Opening a database checks
 * that itself.
 * @throws PortolanError `invalid` when the file does not exist.
 */
export function existingLedgerPath(options: LedgerOptions): string {
  const path = ledgerPath(options);
  if (isPostgres(path) || fileExists(path)) return path;
  throw invalidInput(
    'ledger/missing',
    `There is no ledger at ${path}. Nothing was done.`,
    `Name the file with --ledger (default: ${DEFAULT_LEDGER_FILE} in the working directory); apply creates it.`,
  );
}

/**
 * Refuses an output file that would replace another file.
 * @throws PortolanError `invalid` when it is the ledger itself, or exists and `overwrite` is false.
 */
export function refuseToOverwrite(file: string, ledger: string, overwrite: boolean): void {
  if (!fileExists(file)) return;
  if (!isPostgres(ledger) && realPath(file) === realPath(ledger)) {
    throw invalidInput('cli/onto-itself', `${file} is the ledger itself. Nothing was written.`, 'Name another file.');
  }
  if (overwrite) return;
  throw invalidInput(
    'cli/file-exists',
    `${file} already exists. Nothing was written.`,
    'Name another file, or add --overwrite to replace it.',
  );
}

async function openExisting(
  options: LedgerOptions,
  surroundings: Surroundings,
  opening: { readonly actor: string; readonly readOnly: boolean },
): Promise<SqlLedger> {
  const path = existingLedgerPath(options);
  if (isPostgres(path)) {
    const { openPostgres } = await import('../../session/postgres.ts');
    return openPostgres(path, { ...opening, mustExist: true }, surroundings);
  }
  const { openSqliteLedger } = await import('../../../ledger/sqlite.ts');
  const { clock, random, terminal } = surroundings;
  return openSqliteLedger(path, { ...opening, clock, random, ...ledgerWarnings(terminal) });
}

/** Opens the ledger for reading, even while another process writes to it, and closes it afterwards. */
export async function readLedger<Result>(
  options: LedgerOptions,
  surroundings: Surroundings,
  work: (ledger: Ledger) => Promise<Result>,
): Promise<Result> {
  const ledger = await openExisting(options, surroundings, { actor: surroundings.who, readOnly: true });
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

/**
 * Opens the ledger for writing, under its lock, and closes it afterwards.
 * @param command for the history and the lock: `ledger retry`.
 * @throws PortolanError `ledger/locked` while another process has it.
 */
export async function writeLedger<Result>(
  command: string,
  options: LedgerOptions,
  surroundings: Surroundings,
  work: (world: Pick<ApplyWorld, 'kinds' | 'clock' | 'actor'> & { readonly ledger: SqlLedger }) => Promise<Result>,
): Promise<Result> {
  const { clock } = surroundings;
  const actor = actorOf(command, surroundings);
  const ledger = await openExisting(options, surroundings, { actor, readOnly: false });
  try {
    return await work({ kinds: await surroundings.kinds.reconciled(), ledger, clock, actor });
  } finally {
    await ledger.close();
  }
}

export function actorOf(command: string, { who }: Surroundings): string {
  return `portolan ${command} by ${who}`;
}
