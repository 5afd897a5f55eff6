import type { ApplyWorld } from './apply/world.ts';
import { type Binding, changeBinding, otherRegion, otherUrl, readBindings } from '../ledger/binding.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { PortolanError } from '../model/errors.ts';
import type { Region } from '../platform/records.ts';
import type { PlatformClient } from '../platform/client.ts';
import { canonicalUrl } from '../platform/url.ts';
import { REGIONS_MAX_AGE_MS } from './guards.ts';

type BindingWorld = Pick<ApplyWorld, 'client' | 'ledger' | 'clock' | 'actor'>;
type TeamRegion = { readonly team: string; readonly region: string };

/**
 * Refuses to continue where the ledger was written for another URL than the platform of that name has. Sends nothing.
 * @returns what the ledger remembers of the platform.
 * @throws PortolanError `ledger/other-platform`
 */
export async function mustBeBoundUrl(
  client: Pick<PlatformClient, 'name' | 'url'>,
  ledger: Ledger,
): Promise<Binding | undefined> {
  const binding = (await readBindings(ledger)).get(client.name);
  const now = canonicalUrl(client.url);
  if (binding !== undefined && binding.url !== now) throw otherUrl(ledger.location, client.name, binding.url, now);
  return binding;
}

/**
 * Refuses to continue where the region has another id than the ledger remembers. A region that the ledger does not
 * remember passes, and so does one whose id the platform does not show.
 * @throws PortolanError `ledger/other-platform`, and those of the listing of regions.
 */
export async function mustBeBoundRegion(
  client: PlatformClient,
  ledger: Ledger,
  { team, region }: TeamRegion,
): Promise<void> {
  const bound = (await readBindings(ledger)).get(client.name)?.regions.get(region);
  if (bound === undefined) return;
  const now = idOf(await client.regions({ team, maxAgeMs: REGIONS_MAX_AGE_MS }), region);
  if (now !== undefined && now !== bound) throw otherRegion(ledger.location, client.name, { name: region, bound, now });
}

/** Regions whose id could not be read: asked for once in a process. */
const unreadable = new WeakMap<PlatformClient, Set<string>>();

/**
 * Binds the platform and the region at their first use. A region without a readable id stays unbound.
 * @param read what the ledger remembered of the platform a moment ago, if that was read.
 */
export async function bindAtFirstUse(world: BindingWorld, { team, region }: TeamRegion, read?: Binding): Promise<void> {
  const { client, ledger, clock, actor } = world;
  const known = read ?? (await readBindings(ledger)).get(client.name);
  if (known?.regions.has(region) === true) return;
  const tried = unreadable.get(client) ?? new Set();
  unreadable.set(client, tried);
  if (known !== undefined && tried.has(`${team}/${region}`)) return;
  const id = idOf(await regionsIfReadable(client, team), region);
  if (id === undefined) tried.add(`${team}/${region}`);
  const url = canonicalUrl(client.url);
  await changeBinding(ledger, {
    platform: client.name,
    actor,
    atMs: clock.now(),
    next: (bound) => {
      const regions = bound?.regions ?? new Map<string, string>();
      const isNew = id !== undefined && !regions.has(region);
      if (bound !== undefined && !isNew) return undefined;
      return {
        binding: { url: bound?.url ?? url, regions: isNew ? new Map(regions).set(region, id) : regions },
        event: 'platform.bound',
        detail: { ...(bound === undefined ? { url } : {}), ...(isNew ? { region, id } : {}) },
      };
    },
  });
}

async function regionsIfReadable(client: PlatformClient, team: string): Promise<readonly Region[]> {
  try {
    return await client.regions({ team, maxAgeMs: REGIONS_MAX_AGE_MS });
  } catch (error) {
    if (error instanceof PortolanError) return [];
    throw error;
  }
}

function idOf(regions: readonly Region[], name: string): string | undefined {
  return regions.find((region) => region.name === name)?.id ?? undefined;
}
