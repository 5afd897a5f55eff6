const LENGTH_MAX = 2_048;
/** Addresses that are not pages. */
const NOT_PAGES = /^\/(?:api|auth|webhooks|metrics|healthz|readyz|assets|sign-in)(?:[/?#]|$)/;

/**
 * Returns the page to show after a sign-in: a path of the dashboard, without the prefix of a proxy.
 * @param text from a browser; anything but a path of this origin becomes `/`, so that no user is sent to another site.
 */
export function returnPath(text: unknown): string {
  if (typeof text !== 'string' || text.length > LENGTH_MAX || !/^\/[\u0021-\u005b\u005d-\u007e]*$/.test(text))
    return '/';
  const url = URL.parse(text, 'http://portolan.invalid');
  if (url === null || url.origin !== 'http://portolan.invalid' || url.pathname.startsWith('//')) return '/';
  const path = `${url.pathname}${url.search}${url.hash}`;
  return NOT_PAGES.test(path) ? '/' : path;
}
