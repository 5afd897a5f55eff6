import { invalidInput } from '../model/errors.ts';
import type { Secret } from '../model/secret.ts';

/** Throws before anything is sent. `what` names the field; `value` is left out if it may be secret. */
export function refuse(what: string, expected: string, value?: string | number): never {
  const shown = value === undefined ? '' : ` ${JSON.stringify(typeof value === 'string' ? value.slice(0, 80) : value)}`;
  throw invalidInput(
    'platform/invalid-request',
    `${what}${shown} is not a value the platform documents: expected ${expected}. Nothing was sent.`,
    `Correct ${what} in the manifest.`,
  );
}

/** Returns the value. @throws PortolanError `invalid` where it is not valid. */
export function checked<T extends string | number>(value: T, isValid: boolean, what: string, expected: string): T {
  return isValid ? value : refuse(what, expected, value);
}

const ID = /^[\w-]{1,64}$/;
const SERVICE_NAME = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
// C0, DEL and C1, line and paragraph separators: not valid in a header, a path or a condition.
export const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

export function checkedId(value: string, what: string): string {
  return checked(value, ID.test(value), what, '1 to 64 letters, digits, _ or -');
}

export function checkedPort(value: number, what = 'port'): number {
  const isPort = Number.isInteger(value) && value >= 1 && value <= 65_535;
  return checked(value, isPort, what, 'an integer from 1 to 65535');
}

export function checkedServiceName(value: string, what = 'service name'): string {
  const expected = 'a lower-case letter, then lower-case letters, digits or -, not ending in -, 63 at most';
  return checked(value, SERVICE_NAME.test(value), what, expected);
}

export function checkedInteger(value: number, what: string, min = 0): number {
  const isInteger = Number.isSafeInteger(value) && value >= min && value <= 2_147_483_647;
  return checked(value, isInteger, what, `an integer of ${min} or more`);
}

/** Returns a text that is not empty and has no control characters. */
export function checkedText(value: string, what: string, lengthMax: number): string {
  const isText = value !== '' && value.length <= lengthMax && !CONTROL.test(value) && value.isWellFormed();
  return checked(value, isText, what, `1 to ${lengthMax} characters, without control characters`);
}

/** Checks the length of a secret, which is revealed to others only when it is sent. */
export function checkedSecret(secret: Secret, what: string, lengthMax: number): Secret {
  const { length } = secret.reveal();
  return length >= 1 && length <= lengthMax
    ? secret
    : refuse(`${what} (${secret.origin})`, `1 to ${lengthMax} characters`);
}

/** Returns whether the text is an absolute http or https URL without a password. */
export function isWebUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
