import { Option } from '@commander-js/extra-typings';
import type { Ledger } from '../../ledger/ledger.ts';
import { invalidInput } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { count } from '../terminal/text.ts';

/** Returns `--if-empty WHAT`: what happens when there is no manifest at all. */
export function ifEmptyOption() {
  return new Option(
    '--if-empty <what>',
    'result if there is no manifest: fail, or ok while the ledger holds no object of the source ' +
      '(default: a warning on a terminal, otherwise fail)',
  ).choices(['ok', 'fail'] as const);
}

export interface EmptyFlags {
  readonly ifEmpty?: 'ok' | 'fail' | undefined;
}

/** Holds the paths that were read, and the number of files and resources in them. */
export interface Extent {
  readonly paths: readonly string[];
  readonly files: number;
  readonly desired: { readonly size: number };
}

/**
 * Refuses manifests that name no resource: a wrong folder must not look like success. `guard/empty-source` protects what
 * the ledger holds of the source, whatever the flag is.
 * @param owned the ledger and the source; undefined: no ledger is open.
 * @throws PortolanError `invalid` `source/empty`
 */
export async function checkEmpty(
  { paths, files, desired }: Extent,
  { ifEmpty }: EmptyFlags,
  { err }: Pick<Terminal, 'err'>,
  owned?: { readonly ledger: Ledger; readonly source: string },
): Promise<void> {
  if (desired.size > 0 || ifEmpty === 'ok') return;
  const objects = owned === undefined ? [] : await owned.ledger.objects({ source: owned.source });
  if (objects.some(({ state }) => state !== 'gone')) return;
  const where = safeLine(paths.join(', '));
  const found =
    files === 0 ? 'no file there ends in .yaml, .yml or .json' : `${count(files, 'file')} without a document`;
  const message = `No manifest found in ${where}: ${found}.`;
  if (ifEmpty === undefined && err.isTerminal) {
    err.write(`warning: ${message} Is the path right?\n`);
    return;
  }
  throw invalidInput(
    'source/empty',
    message,
    'Correct the path after -f. If there is nothing to manage yet, pass --if-empty ok.',
  );
}

/** Warns about files that are not read because of their names. */
export function warnMisnamed(misnamed: readonly string[], { err }: Pick<Terminal, 'err'>): void {
  for (const path of misnamed)
    err.write(
      `warning: ${safeLine(path)} is not read: the name of a manifest ends in .yaml, .yml or .json, in lower case\n`,
    );
}
