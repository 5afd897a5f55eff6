import type { Site } from './sites.ts';

/** A cookie of the server. */
export type CookieUse = 'session' | 'sign-in';

/**
 * Returns the name of a cookie at a site. Browsers accept a `__Host-` cookie only with `Secure`, without a domain and for the path
 * `/`, so that no other host can set it. Cookies do not distinguish ports, so on loopback the port is in the name.
 */
export function cookieName(use: CookieUse, { origin, isSecure }: Site): string {
  if (isSecure) return `__Host-portolan-${use}`;
  const { port } = new URL(origin);
  return `portolan-${use}-${port === '' ? '80' : port}`;
}

/** Returns the value of a cookie; undefined when there is none, or several, of which another host may have set one. */
export function cookieValue(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at !== -1 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

interface CookieRules {
  readonly sameSite: 'Strict' | 'Lax';
  /** Seconds; absent: until the browser closes. 0 deletes the cookie. */
  readonly maxAgeS?: number;
}

/** Returns a `Set-Cookie` header. No script can read the cookie. @param value base64url or hex. */
export function setCookie(use: CookieUse, site: Site, value: string, { sameSite, maxAgeS }: CookieRules): string {
  return [
    `${cookieName(use, site)}=${value}`,
    'Path=/',
    ...(maxAgeS === undefined ? [] : [`Max-Age=${maxAgeS}`]),
    'HttpOnly',
    ...(site.isSecure ? ['Secure'] : []),
    `SameSite=${sameSite}`,
  ].join('; ');
}

/** Returns a `Set-Cookie` header that deletes a cookie. */
export function deleteCookie(use: CookieUse, site: Site): string {
  return setCookie(use, site, '', { sameSite: 'Strict', maxAgeS: 0 });
}
