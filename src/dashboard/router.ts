import { batch, computed, signal } from '@preact/signals';
import { type PageMatch, pageAt } from '../server/pages.ts';
import { inBase, outOfBase } from './base.ts';
import { after } from './clock.ts';

/** The address of the page. It holds everything that decides what is shown, so that a copied address shows the same. */

interface Place {
  /** Without the path prefix. */
  readonly path: string;
  readonly search: string;
}

function placeOfBrowser(): Place {
  return { path: outOfBase(location.pathname) ?? '/', search: location.search };
}

export const place = signal<Place>(placeOfBrowser());

/** The page and the parameters of its path; undefined when there is none at this address. */
export const match = computed<PageMatch | undefined>(() => pageAt(place.value.path));

/** The query of the address. */
export const query = computed(() => new URLSearchParams(place.value.search));

/** Counts navigations to another path: the focus then moves to the new page. */
export const arrivals = signal(0);

/** Holds the scroll position of each entry of the history. A browser restores it too early, before the data of the page is there. */
const scrolled = new Map<number, number>();
let entry = entryOfBrowser();

function entryOfBrowser(): number {
  const state = history.state as { readonly entry?: number } | null;
  return state?.entry ?? 0;
}

/** Goes to an address of the dashboard: `/applications?q=shop`. @param replace leaves no entry in the history of the browser. */
export function navigate(address: string, { replace = false } = {}): void {
  const url = inBase(address);
  if (replace) history.replaceState({ entry }, '', url);
  else {
    entry += 1;
    history.pushState({ entry }, '', url);
  }
  if (arrive()) scrollTo(0, 0);
}

/**
 * Changes parameters of the query; undefined and '' remove one.
 * @param isStep makes an entry in the history of the browser. Typing in a search field makes none.
 */
export function setQuery(
  changes: Readonly<Record<string, string | readonly string[] | undefined>>,
  isStep = true,
): void {
  const next = new URLSearchParams(place.value.search);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const text of [value ?? []].flat()) if (text !== '') next.append(name, text);
  }
  const text = next.toString();
  if (`?${text}` === place.value.search) return;
  navigate(place.value.path + (text === '' ? '' : `?${text}`), { replace: !isStep });
}

/** Takes over the address of the browser. @returns whether it is another page. */
function arrive(): boolean {
  const next = placeOfBrowser();
  const isOther = next.path !== place.value.path;
  batch(() => {
    place.value = next;
    if (isOther) arrivals.value += 1;
  });
  return isOther;
}

const RESTORE_EVERY_MS = 50;
const RESTORE_ATTEMPTS = 40;

/** Goes back or forward in the history, to where the page was scrolled. */
function revisit(): void {
  entry = entryOfBrowser();
  const top = scrolled.get(entry) ?? 0;
  if (!arrive()) return;
  const destination = entry;
  const attempt = (left: number): void => {
    if (entry !== destination) return;
    // The page becomes long enough when its data has arrived.
    const isThere = document.documentElement.scrollHeight >= top + innerHeight;
    if (isThere || left === 0) scrollTo(0, top);
    else after(RESTORE_EVERY_MS, () => attempt(left - 1));
  };
  attempt(RESTORE_ATTEMPTS);
}

/** Makes links inside the dashboard navigate without a reload. Other links, and clicks with a key, stay with the browser. */
export function startRouter(): void {
  history.scrollRestoration = 'manual';
  addEventListener('popstate', revisit);
  addEventListener('scroll', () => scrolled.set(entry, scrollY), { passive: true });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    const to = new URL(link.href);
    const path = to.origin === location.origin ? outOfBase(to.pathname) : undefined;
    // An anchor of the same page, for example the skip link, is for the browser.
    if (path === undefined || to.hash !== '' || pageAt(path) === undefined) return;
    event.preventDefault();
    navigate(path + to.search);
  });
}
