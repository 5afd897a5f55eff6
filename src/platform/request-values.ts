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

const PORT_PROTOCOLS: readonly string[] = ['tcp', 'http', 'mysql', 'grpc', 'udp'];
const ID = /^[\w-]{1,64}$/;
const PORT_ALIAS = /^[A-Z][A-Z0-9_]{0,63}$/;
const SERVICE_NAME = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const DOMAIN_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const EXTENSION = /^[A-Za-z0-9_.-]{1,32}$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
// C0, DEL and C1, line and paragraph separators: nothing a header, a path or a condition may hold.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

export function checkedId(value: string, what: string): string {
  return ID.test(value) ? value : refuse(what, '1 to 64 letters, digits, _ or -', value);
}

export function checkedPort(value: number, what = 'port'): number {
  return Number.isInteger(value) && value >= 1 && value <= 65_535
    ? value
    : refuse(what, 'an integer from 1 to 65535', value);
}

export function checkedProtocol(value: string): string {
  return PORT_PROTOCOLS.includes(value) ? value : refuse('protocol', `one of ${PORT_PROTOCOLS.join(', ')}`, value);
}

export function checkedAlias(value: string): string {
  return PORT_ALIAS.test(value)
    ? value
    : refuse('port alias', 'an upper-case letter, then upper-case letters, digits or _, 64 at most', value);
}

export function checkedServiceName(value: string, what = 'service name'): string {
  return SERVICE_NAME.test(value)
    ? value
    : refuse(what, 'a lower-case letter, then lower-case letters, digits or -, not ending in -, 63 at most', value);
}

/** A host name of ASCII labels, with a leading `*.` allowed: other scripts must come as punycode. */
export function checkedDomain(value: string): string {
  const host = value.startsWith('*.') ? value.slice(2) : value;
  if (value.length <= 128 && host.split('.').every((label) => DOMAIN_LABEL.test(label))) return value;
  return refuse('domain', 'a host name of 128 characters at most (other scripts as punycode, xn--…)', value);
}

export function checkedRulePath(value: string): string {
  if (value.startsWith('/') && value.length <= 1024 && !CONTROL.test(value) && !/\s/.test(value)) return value;
  return refuse('domain path', 'a path that starts with / and holds no white space', value);
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

export function checkedExtension(value: string, what: string): string {
  return EXTENSION.test(value) ? value : refuse(what, '1 to 32 letters, digits, _, . or -', value);
}

export function checkedHeaderName(value: string): string {
  return HEADER_NAME.test(value) ? value : refuse('header name', 'an HTTP header name', value);
}

/** `true` where the text is an absolute http or https URL without a password. */
export function isWebUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
