import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

/** Returns the Markdown pages of a folder of the project, by their paths in the project. */
export function pagesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file))
    .sort();
}

export function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

/** Returns a page without its code blocks. */
export function proseOf(text: string): string {
  return text.replaceAll(/^```[^]*?^```$/gm, '');
}

/** Returns the anchors of a page, as GitHub makes them from its headings. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  return new Set(
    [...proseOf(text).matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) => {
      const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
      const anchor = plain
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-');
      const times = seen.get(anchor) ?? 0;
      seen.set(anchor, times + 1);
      return times === 0 ? anchor : `${anchor}-${times}`;
    }),
  );
}

/** Returns the targets of links and pictures that lead to a file of the project. */
export function linksOf(text: string): readonly string[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}
