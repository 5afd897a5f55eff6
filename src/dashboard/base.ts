/**
 * The path under which the browser sees the dashboard, with a slash at its end: `/`, or `/portolan/` behind a proxy. The files
 * are in `assets/` below it, so the address of this file has it.
 */
export const basePath = new URL(/* @vite-ignore */ '..', import.meta.url).pathname;

/** Returns the path in the browser of a path of the dashboard or of the API, which begins with a slash. */
export function inBase(path: string): string {
  return basePath + path.slice(1);
}

/** Returns the path without the prefix, with a slash at its beginning; undefined when it is outside of the dashboard. */
export function outOfBase(path: string): string | undefined {
  return path.startsWith(basePath) ? `/${path.slice(basePath.length)}` : undefined;
}
