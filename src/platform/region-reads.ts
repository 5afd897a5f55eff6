import { PortolanError } from '../model/errors.ts';
import type { Region } from './records.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Answer } from './answer.ts';
import { decodeRegions, decodeTeamRegions, type RegionPage } from './decode.ts';
import type { RegionQuestion } from './client.ts';
import { deniesEndpoint } from './dialect.ts';
import { failedRead } from './failures.ts';
import { schemaDrift } from './fields.ts';
import { addressOf } from './address.ts';
import type { Reader } from './reader.ts';

export type ReadRegions = (question?: RegionQuestion) => Promise<readonly Region[]>;

interface Listing {
  readonly askedMs: MonotonicMs;
  readonly answer: Promise<readonly Region[] | undefined>;
}

const REGIONS = addressOf({}, 'platform', ['regions']);
/** The server's own default is 10. */
const PAGE_SIZE = 100;
const PAGES_MAX = 100;
/** The key of the listing of all regions; not a valid team name. */
const ALL = '';

/**
 * Returns the read of regions: of all of them, or of the team if the token lacks enterprise rights. The refusal is stored, so that
 * later reads request the regions of the team at once.
 */
export function createRegionReads(url: string, reader: Reader, clock: Clock): ReadRegions {
  const listings = new Map<string, Listing>();
  let denial: Answer | undefined;

  function shared(
    key: string,
    maxAgeMs: number,
    ask: () => Promise<readonly Region[] | undefined>,
  ): Promise<readonly Region[] | undefined> {
    const nowMs = clock.monotonic();
    const known = listings.get(key);
    if (known !== undefined && maxAgeMs > 0 && nowMs - known.askedMs <= maxAgeMs) return known.answer;
    const listing = { askedMs: nowMs, answer: ask() };
    listings.set(key, listing);
    // A failure is not reused.
    listing.answer.catch(() => {
      if (listings.get(key) === listing) listings.delete(key);
    });
    return listing.answer;
  }

  const askAll = (): Promise<readonly Region[] | undefined> =>
    reader.read<readonly Region[] | undefined>({
      operation: 'listRegions',
      path: REGIONS,
      expected: { noun: 'a list of regions', fields: ['region_name', 'region_id'], isFirst: true },
      decode: decodeRegions,
      otherwise: (answer) => {
        if (!lacksRights(answer)) return undefined;
        denial = answer;
        return { value: undefined };
      },
    });

  return async ({ team, maxAgeMs = 0 } = {}) => {
    if (denial === undefined) {
      const all = await shared(ALL, maxAgeMs, askAll);
      if (all !== undefined) return all;
    }
    const where = `GET ${url}${REGIONS}`;
    const refused = denial === undefined ? undefined : failedRead(where, denial);
    if (team === undefined) throw withoutTeam(refused);
    const found = await shared(team, maxAgeMs, () => teamRegions(url, reader, team));
    if (found === undefined) throw refused ?? new Error('a refusal of all regions has an answer');
    return found;
  };
}

/** Returns undefined if the server does not have the listing. */
async function teamRegions(url: string, reader: Reader, team: string): Promise<readonly Region[] | undefined> {
  const path = addressOf({ team }, 'team', ['regions']);
  const found = new Map<string, Region>();
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const listed = await reader.read<RegionPage | undefined>({
      operation: 'listTeamRegions',
      path,
      query: { page: String(page), page_size: String(PAGE_SIZE) },
      expected: { noun: 'a page of regions', fields: ['regions', 'total'] },
      decode: decodeTeamRegions,
      otherwise: (answer) => (deniesEndpoint(answer) ? { value: undefined } : undefined),
    });
    if (listed === undefined) return undefined;
    const before = found.size;
    for (const region of listed.regions) found.set(region.name, region);
    if (found.size >= listed.total) return [...found.values()];
    if (found.size === before) break;
  }
  throw schemaDrift(`GET ${url}${path}`, 'regions', 'the whole list', [...found.values()]);
}

/** Returns whether the platform refused a token without enterprise rights; a proxy's 403 has another form. */
function lacksRights({ status, isJson, code, json }: Answer): boolean {
  if (status !== 403 || !isJson || code !== 403) return false;
  return typeof json === 'object' && json !== null && 'error_type' in json && json.error_type === 'PermissionDenied';
}

function withoutTeam(refused: PortolanError | undefined): PortolanError {
  return new PortolanError({
    code: 'platform/regions-need-team',
    disposition: 'invalid',
    message: `${refused?.message ?? 'The platform refused to list all regions'}. A token without enterprise rights can list the regions of a team only.`,
    remedy: 'Name a team: portolan regions --team TEAM.',
    ...(refused === undefined ? {} : { cause: refused }),
  });
}
