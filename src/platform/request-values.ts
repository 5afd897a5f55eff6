import { PortolanError } from '../model/errors.ts';
import type { Secret } from '../model/secret.ts';

/** Refuses a value before anything is sent. `what` names the field; a value that may be secret is left out of it. */
export function refuse(what: string, expected: string, value?: string | number): never {
  const shown = value === undefined ? '' : ` ${JSON.stringify(typeof value === 'string' ? value.slice(0, 80) : value)}`;
  throw new PortolanError({
    code: 'platform/invalid-request',
    disposition: 'invalid',
    message: `${what}${shown} is not a value the platform documents: expected ${expected}; nothing was sent`,
    remedy: `Correct ${what} in the manifest.`,
  });
}

const ID = /^[\w-]{1,64}$/;
const SERVICE_NAME = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
// C0, DEL and C1, line and paragraph separators: nothing a header, a path or a condition may hold.
export const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

export function checkedId(value: string, what: string): string {
  return ID.test(value) ? value : refuse(what, '1 to 64 letters, digits, _ or -', value);
}

export function checkedPort(value: number, what = 'port'): number {
  return Number.isInteger(value) && value >= 1 && value <= 65_535
    ? value
    : refuse(what, 'an integer from 1 to 65535', value);
}

export function checkedServiceName(value: string, what = 'service name'): string {
  return SERVICE_NAME.test(value)
    ? value
    : refuse(what, 'a lower-case letter, then lower-case letters, digits or -, not ending in -, 63 at most', value);
}

export function checkedInteger(value: number, what: string, min = 0): number {
  return Number.isSafeInteger(value) && value >= min && value <= 2_147_483_647
    ? value
    : refuse(what, `an integer of ${min} or more`, value);
}

/** Text without control characters, never empty. */
export function checkedText(value: string, what: string, lengthMax: number): string {
  return value !== '' && value.length <= lengthMax && !CONTROL.test(value) && value.isWellFormed()
    ? value
    : refuse(what, `1 to ${lengthMax} characters, without control characters`, value);
}

/** The length alone is looked at; the secret itself is revealed only where bytes are written. */
export function checkedSecret(secret: Secret, what: string, lengthMax: number): Secret {
  const { length } = secret.reveal();
  return length >= 1 && length <= lengthMax
    ? secret
    : refuse(`${what} (${secret.origin})`, `1 to ${lengthMax} characters`);
}

/** `true` where the text is an absolute http or https URL without a password. */
export function isWebUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
