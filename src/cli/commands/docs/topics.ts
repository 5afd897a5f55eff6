import { nearest } from '../../../manifest/suggest.ts';
import { invalidInput, type PortolanError } from '../../../model/errors.ts';
import { safeLine } from '../../../model/text.ts';

/** A page in the list: its topic, and its path below docs/ without extension. */
interface Topic {
  readonly name: string;
  readonly page: string;
}

/** Folders with many generated pages: the list shows only their index. */
const LONG = /^reference\/[a-z]+\//;
/** Pages of codes, which have the names of commands too. Their topics are the codes, or `errors/AREA`. */
const CODES = /^reference\/errors\/(?!README$)/;
const INDEX = /(?:^|\/)README$/;

/** Returns the pages to list, in the order of the parts. */
export function listed(pages: readonly string[]): readonly Topic[] {
  const parts = ['tutorial', 'how-to', 'runbook', 'concepts', 'reference'];
  const place = (page: string): number => parts.indexOf(page.split('/')[0] ?? '');
  return pages
    .filter((page) => page !== 'README' && (!LONG.test(page) || INDEX.test(page)))
    .toSorted((a, b) => place(a) - place(b) || (a < b ? -1 : 1))
    .map((page) => ({ name: topicOf(page), page }));
}

function topicOf(page: string): string {
  return page.replace(/\/README$/, '');
}

/** Returns the title of a page. */
export function titleOf(text: string): string {
  return /^# (.*)$/m.exec(text)?.[1] ?? '';
}

/** Returns the entry of an error code; undefined when the topic is not a known code. */
export function codeEntry(topic: string, pages: readonly string[], read: (page: string) => string): string | undefined {
  const [area = '', what] = topic.split('/');
  const page = `reference/errors/${area}`;
  if (what === undefined || !pages.includes(page)) return undefined;
  const section = read(page)
    .split(/^## /m)
    .find((part) => part.startsWith(`${topic}\n`));
  return section === undefined ? undefined : `## ${section}`;
}

/**
 * Returns the page of a topic: its path, or the end of its path if no other page of the same depth ends so.
 * @throws PortolanError when there is none, or more than one.
 */
export function pageCalled(topic: string, pages: readonly string[]): string {
  const wanted = topic.replace(/\.md$/, '').replace(/^\/?docs\//, '');
  const exact = pages.find((page) => [topicOf(page), page, topicOf(page).replace(/^reference\//, '')].includes(wanted));
  if (exact !== undefined) return exact;
  const ends = pages.filter((page) => !CODES.test(page) && topicOf(page).endsWith(`/${wanted}`));
  const depth = (page: string): number => topicOf(page).split('/').length;
  const least = Math.min(...ends.map(depth));
  const [found, ...others] = ends.filter((page) => depth(page) === least);
  if (found === undefined) throw unknownTopic(topic, pages);
  if (others.length === 0) return found;
  throw invalidInput(
    'cli/ambiguous-topic',
    `The documentation has several pages called ${safeLine(topic)}.`,
    `Name one of: ${[found, ...others].map(topicOf).join(', ')}.`,
  );
}

function unknownTopic(topic: string, pages: readonly string[]): PortolanError {
  const names = pages.flatMap((page) => [topicOf(page), topicOf(page).split('/').at(-1) ?? '']);
  const meant = nearest(topic, names);
  const hint = meant === undefined ? '' : `Did you mean ${meant}? `;
  return invalidInput(
    'cli/unknown-topic',
    `The documentation has no page and no error code called ${safeLine(topic)}.`,
    `${hint}Run portolan docs for a list of all pages.`,
  );
}
