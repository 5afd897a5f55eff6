/** Paths of the pages of the dashboard. The server answers each with the same document, which shows the page of its path. */
export const PAGE_PATHS = [
  '/',
  '/sign-in',
  '/applications',
  '/applications/:name',
  '/applications/:name/plan',
  '/applications/:name/history',
  '/applications/:name/monitoring',
  '/attention',
  '/activity',
  '/commits/:sha',
  '/platform',
] as const;

export type PagePath = (typeof PAGE_PATHS)[number];

/** A page, and the parameters in its path. */
export interface PageMatch {
  readonly page: PagePath;
  readonly params: Readonly<Record<string, string>>;
}

/** Returns the page of a path, which has no query and no prefix; undefined when there is none. */
export function pageAt(path: string): PageMatch | undefined {
  for (const page of PAGE_PATHS) {
    const names = [...page.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
    const found = new RegExp(`^${page.replaceAll(/:\w+/g, '([^/]+)')}$`).exec(path);
    if (found === null) continue;
    const values = found.slice(1).map(decoded);
    if (values.includes(undefined)) return undefined;
    return { page, params: Object.fromEntries(names.map((name, at) => [name, values[at] ?? ''])) };
  }
  return undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
