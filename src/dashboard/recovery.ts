/**
 * Recovers from files that do not arrive. While replicas are updated, a load balancer may send the request for a file to a replica of
 * another version, which does not have it. So the files are requested a few more times, which stores them in the cache of the
 * browser, and the page is reloaded. A second import would not help: Chromium remembers that a module did not load.
 *
 * The boot script contains this file, too, so it imports nothing.
 */

/** Elements whose files a page needs. `vite` adds those of a part when it loads the part. */
export const FILES = 'script[src], link[rel="stylesheet"], link[rel="modulepreload"]';

const ATTEMPTS = 6;
const PAUSE_MS = 300;
const ANSWER_MS = 10_000;
/** Reloads for one part until it arrives. Each version of the files may need one, for the entry and for the part. */
const RELOADS = 4;

/** `missing`: a controller answered that it does not have a file. `unreachable`: no controller answered; a proxy may have. */
type Arrival = 'arrived' | 'missing' | 'unreachable';

/** Loads a part of the dashboard whose code has files of its own. The page may reload instead. @throws whatever `load` throws. */
export async function loadPart<T>(part: string, load: () => Promise<T>): Promise<T> {
  try {
    const loaded = await load();
    forgetReloads(part);
    return loaded;
  } catch (error) {
    if (await recover(part)) return new Promise(() => {});
    throw error;
  }
}

/** Requests the files of the page until they arrive, and reloads the page. @returns whether it reloads. */
export async function recover(part: string): Promise<boolean> {
  return reload(part, await requestFiles());
}

/** Forgets the reloads for a part that has arrived. */
export function forgetReloads(part: string): void {
  try {
    sessionStorage.removeItem(keyOf(part));
  } catch {
    // Without a storage, there were none.
  }
}

/** Requests all files of the page, and those that do not arrive a few more times. */
async function requestFiles(): Promise<Arrival> {
  const elements = [...document.querySelectorAll<HTMLScriptElement | HTMLLinkElement>(FILES)];
  let missing = [...new Set(elements.map((element) => ('src' in element ? element.src : element.href)))];
  let arrival: Arrival = 'missing';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    if (attempt > 1) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const arrivals = await Promise.all(missing.map(request));
    missing = missing.filter((_, at) => arrivals[at] !== 'arrived');
    if (missing.length === 0) return 'arrived';
    arrival = arrivals.includes('unreachable') ? 'unreachable' : 'missing';
  }
  return arrival;
}

async function request(address: string): Promise<Arrival> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(ANSWER_MS) });
    // Only a body that was read is in the cache.
    await response.arrayBuffer();
    if (response.ok) return 'arrived';
    return response.status === 404 ? 'missing' : 'unreachable';
  } catch {
    return 'unreachable';
  }
}

/**
 * Reloads the page. If no controller answers, that would replace it with an error of the browser or of a proxy.
 * @returns false if it does not: there were too many reloads for the part, or the browser has no storage to count them.
 */
function reload(part: string, arrival: Arrival): boolean {
  if (arrival === 'unreachable') return false;
  try {
    const count = Number(sessionStorage.getItem(keyOf(part)));
    if (count >= RELOADS) return false;
    sessionStorage.setItem(keyOf(part), String(count + 1));
  } catch {
    return false;
  }
  location.reload();
  return true;
}

function keyOf(part: string): string {
  return `portolan reloads for ${part}`;
}
