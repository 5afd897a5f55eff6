import { PortolanError } from '../model/errors.ts';

export interface CheckedUrl {
  /** Without a slash at the end. */
  readonly url: string;
  /** A warning to report once: the token is sent unencrypted. */
  readonly warning: string | null;
}

function refuse(message: string, remedy: string): never {
  throw new PortolanError({ code: 'platform/invalid-url', disposition: 'invalid', message, remedy });
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Checks the base URL of a platform. `http://` is refused except for loopback, unless the operator allows it, because the token
 * would be readable in the network.
 * @throws PortolanError `platform/invalid-url`
 */
export function checkPlatformUrl(text: string, allowPlainHttp = false): CheckedUrl {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return refuse(
      'the platform’s url is not an http or https URL',
      'Set spec.url of the Platform to something like https://console.example.com.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    return refuse(
      `the platform’s url for ${url.host} holds a user name or password`,
      'Remove it from spec.url and refer to the credential in spec.auth.value.',
    );
  }
  if (url.search !== '' || url.hash !== '') {
    return refuse(`the platform’s url ${url.origin} has a query or fragment`, 'Give the base URL alone.');
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (/\/openapi(\/v1)?$/.test(path)) {
    return refuse(
      `the platform’s url ${url.origin}${path} ends with the API’s own prefix`,
      'Leave /openapi/v1 out of spec.url; it is added to every request.',
    );
  }
  const isClear = url.protocol === 'http:' && !LOOPBACK.test(url.hostname);
  if (isClear && !allowPlainHttp) {
    return refuse(
      `${url.origin} is plain http: the token would be readable on the way`,
      'Use https://, or set spec.allowPlainHttp: true of the Platform if the network is trusted.',
    );
  }
  const warning = isClear ? `${url.origin} is plain http: the token is readable on the way` : null;
  return { url: `${url.origin}${path}`, warning };
}

/**
 * Returns the canonical form of a base URL, for comparisons. The case of scheme and host, a dot at the end of the host, the default
 * port, slashes at the end and needless percent-encoding do not matter. Scheme, port and path do.
 */
export function canonicalUrl(text: string): string {
  const url = new URL(text);
  url.hostname = url.hostname.replace(/\.$/, '');
  const path = url.pathname.replace(/\/+$/, '').replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const char = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(char) ? char : encoded.toUpperCase();
  });
  return `${url.origin}${path}`;
}
