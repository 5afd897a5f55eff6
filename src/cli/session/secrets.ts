import type { SecretReference } from '../../configuration/platform/spec.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import { Secret } from '../../model/secret.ts';
import type { Surroundings } from './command.ts';
import { readNamedFile } from './files.ts';

/** Maximum age of a secret from a file: a rotated token is used within this time. */
const FILE_AGE_MAX_MS = 5_000;

/**
 * Opens the secret that a reference of the configuration names.
 * @param where the position of the reference, for messages: `Platform/default spec.auth.value`.
 * @returns a function that gives the current secret. A file is read again when its content is older than 5 s; while it
 * cannot be read, the former secret is used.
 * @throws PortolanError `secret/missing`, at once, when the reference leads to no secret.
 */
export function openSecret(
  reference: SecretReference,
  where: string,
  { env, clock, redaction }: Pick<Surroundings, 'env' | 'clock' | 'redaction'>,
): () => Secret {
  const wrap = (value: string | undefined, origin: string): Secret => {
    const secret = checked(value, origin, where);
    redaction.add(secret);
    return new Secret(secret, origin);
  };
  if ('env' in reference) {
    const secret = wrap(env[reference.env], `environment variable ${reference.env}`);
    return () => secret;
  }
  const origin = `file ${reference.file}`;
  const read = (): Secret => {
    const text = new TextDecoder().decode(readNamedFile(reference.file, `the secret of ${where}`));
    return wrap(text.replace(/\r?\n$/, ''), origin);
  };
  let secret = read();
  let readAtMs = clock.monotonic();
  return () => {
    if (clock.monotonic() - readAtMs <= FILE_AGE_MAX_MS) return secret;
    readAtMs = clock.monotonic();
    try {
      secret = read();
    } catch (error) {
      // The file may be in the middle of a rotation: the former secret is still the best one.
      if (!(error instanceof PortolanError)) throw error;
    }
    return secret;
  };
}

function checked(value: string | undefined, origin: string, where: string): string {
  if (value !== undefined && value !== '') return value;
  throw invalidInput(
    'secret/missing',
    `${where} takes its secret from the ${origin}, which is ${value === undefined ? 'not set' : 'empty'}. Nothing was sent.`,
    `Set the ${origin}, or correct the reference in the configuration.`,
  );
}
