import { fileExists, realPath } from '../../../ledger/files.ts';
import { PortolanError } from '../../../model/errors.ts';

/**
 * For a file that a command is about to write.
 * @throws PortolanError `invalid` when it is the ledger itself, or exists and was not to be replaced.
 */
export function refuseToOverwrite(file: string, ledger: string, overwrite: boolean): void {
  if (!fileExists(file)) return;
  if (realPath(file) === realPath(ledger)) {
    throw new PortolanError({
      code: 'cli/onto-itself',
      disposition: 'invalid',
      message: `${file} is the ledger itself. Nothing was written.`,
      remedy: 'Name another file.',
    });
  }
  if (overwrite) return;
  throw new PortolanError({
    code: 'cli/file-exists',
    disposition: 'invalid',
    message: `${file} exists already. Nothing was written.`,
    remedy: 'Name another file, or add --overwrite to replace it.',
  });
}
