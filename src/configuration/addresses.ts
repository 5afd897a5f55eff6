import type { SpecProblem } from '../kinds/kind.ts';
import { problemAt } from '../kinds/problems.ts';

const LOOPBACK = /^(localhost|127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}|\[::1\])$/;

/** Returns whether an address is on this machine, where plain http discloses nothing. */
export function isLoopback(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname);
}

/**
 * Returns the problems that a pattern cannot detect: an address must parse, and http is only for this machine unless allowed.
 * @param allowPlainHttp the setting of that name in the same spec; `never` where the spec has none.
 */
export function addressProblems(url: string, allowPlainHttp: boolean | 'never', path: string): readonly SpecProblem[] {
  if (!URL.canParse(url)) {
    const message = `${JSON.stringify(url)} is not an address`;
    return problemAt(path, 'schema/url', message, 'an address such as https://console.example.com');
  }
  if (url.startsWith('https:') || allowPlainHttp === true || isLoopback(url)) return [];
  const hint = `write https://${url.slice('http://'.length)}`;
  return problemAt(
    path,
    'schema/plain-http',
    `${JSON.stringify(url)} is plain http to another machine: secrets that are sent there can be read on the way`,
    'https://, or http:// to this machine (localhost, 127.0.0.1, [::1])',
    allowPlainHttp === 'never'
      ? hint
      : `${hint}, or set allowPlainHttp: true in the same spec if the network is trusted`,
  );
}
