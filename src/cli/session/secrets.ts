import type { SecretReference } from '../../configuration/platform/spec.ts';
import { decryptSops, SopsError } from '../../configuration/sops.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import { Secret } from '../../model/secret.ts';
import type { Log } from '../../runtime/log.ts';
import type { Surroundings } from './command.ts';
import { readFileIfThere, readNamedFile } from './files.ts';

/** Default file of SOPS for age identities. */
const AGE_KEYS_FILE = '~/.config/sops/age/keys.txt';

/** Maximum age of a secret from a file: a rotated token is used within this time. */
const FILE_AGE_MAX_MS = 5_000;

/**
 * Opens the secret that a reference of the configuration names.
 * @param where the position of the reference, for messages: `Platform/default spec.auth.value`.
 * @returns a function that gives the current secret. A file, encrypted or not, is read again when its content is older than 5 s; while it
 * cannot be read, the former secret is used, and the second failure in a row is logged: a rotation takes only a moment.
 * @throws PortolanError `secret/missing`, at once, when the reference leads to no secret.
 */
export function openSecret(
  reference: SecretReference,
  where: string,
  { env, clock, redaction }: Pick<Surroundings, 'env' | 'clock' | 'redaction'>,
  log?: Pick<Log, 'warn' | 'info'>,
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
  const read =
    'sops' in reference
      ? () => wrap(sopsValue(reference.sops, where, env), `file ${reference.sops}`)
      : () => wrap(fileText(reference.file, where).replace(/\r?\n$/, ''), `file ${reference.file}`);
  let secret = read();
  let readAtMs = clock.monotonic();
  let failures = 0;
  return () => {
    if (clock.monotonic() - readAtMs <= FILE_AGE_MAX_MS) return secret;
    readAtMs = clock.monotonic();
    try {
      secret = read();
      if (failures > 1) log?.info(`${where} is read again`);
      failures = 0;
    } catch (error) {
      // The file may be in the middle of a rotation: the former secret is still the best one.
      if (!(error instanceof PortolanError)) throw error;
      failures += 1;
      const { message: reason, code, remedy } = error;
      if (failures === 2)
        log?.warn(`${where} cannot be read again; its former value stays in use`, { reason, code, remedy });
    }
    return secret;
  };
}

function fileText(file: string, where: string): string {
  return new TextDecoder().decode(readNamedFile(file, `the secret of ${where}`));
}

/** @param reference FILE#KEY. @throws PortolanError when the file cannot be read or decrypted. */
function sopsValue(reference: string, where: string, env: Surroundings['env']): string | undefined {
  const [file = '', key = ''] = reference.split('#');
  try {
    const values = decryptSops(fileText(file, where), ageIdentities(env));
    if (values.has(key)) return values.get(key);
  } catch (error) {
    if (!(error instanceof SopsError)) throw error;
    throw invalidInput(
      'secret/sops',
      `${where} takes its secret from ${file}, which cannot be decrypted: ${error.message}. Nothing was sent.`,
      `Check it with: sops decrypt ${file}. Portolan takes age identities from SOPS_AGE_KEY, SOPS_AGE_KEY_FILE or ${AGE_KEYS_FILE}.`,
    );
  }
  throw invalidInput(
    'secret/missing',
    `${where} takes its secret from ${file}, which has no text at the key ${key}. Nothing was sent.`,
    `Add it with: sops edit ${file}. Or correct the key after # in the configuration.`,
  );
}

/** Returns the age identities from where SOPS itself takes them. */
function ageIdentities({ SOPS_AGE_KEY, SOPS_AGE_KEY_FILE, XDG_CONFIG_HOME, HOME }: Surroundings['env']): string {
  if (SOPS_AGE_KEY !== undefined) return SOPS_AGE_KEY;
  if (SOPS_AGE_KEY_FILE !== undefined)
    return new TextDecoder().decode(readNamedFile(SOPS_AGE_KEY_FILE, 'the file of SOPS_AGE_KEY_FILE'));
  const folder = XDG_CONFIG_HOME ?? (HOME === undefined ? undefined : `${HOME}/.config`);
  const file = folder === undefined ? undefined : `${folder}/sops/age/keys.txt`;
  const content = file === undefined ? undefined : readFileIfThere(file, 'the age identities');
  return new TextDecoder().decode(content ?? new Uint8Array());
}

function checked(value: string | undefined, origin: string, where: string): string {
  if (value !== undefined && value !== '') return value;
  throw invalidInput(
    'secret/missing',
    `${where} takes its secret from the ${origin}, which is ${value === undefined ? 'not set' : 'empty'}. Nothing was sent.`,
    `Set the ${origin}, or correct the reference in the configuration.`,
  );
}
