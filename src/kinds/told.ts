import { PortolanError } from '../model/errors.ts';

/**
 * For steps whose object has no id that a person could give.
 * @throws PortolanError `invalid` when one was given.
 */
export function refuseId(id: string | undefined, why: string): void {
  if (id !== undefined) throw badId(id, why);
}

/** @param id what was given; undefined: one is needed. */
export function badId(id: string | undefined, why: string): PortolanError {
  const what = id === undefined ? 'An --id is needed' : `The --id ${JSON.stringify(id)} does not fit`;
  return new PortolanError({
    code: 'ledger/bad-id',
    disposition: 'invalid',
    message: `${what}: ${why}. Nothing was recorded.`,
    remedy: id === undefined ? 'Say which one with --id.' : 'Correct the --id, or leave it out.',
  });
}
