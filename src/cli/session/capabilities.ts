import type { Ledger } from '../../ledger/ledger.ts';
import { canonicalJson } from '../../model/json.ts';
import type { Capabilities } from '../../platform/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Input } from './input.ts';
import type { Platforms } from './platforms.ts';

/** Returns the capabilities that an earlier process found out about each platform of a configuration. */
export async function rememberedCapabilities(
  ledger: Ledger,
  { configuration }: Pick<Input, 'configuration'>,
): Promise<ReadonlyMap<string, Capabilities>> {
  const found = new Map<string, Capabilities>();
  for (const [name, { url }] of configuration.platforms) {
    const fact = await ledger.fact(capabilitiesFact(name, url));
    if (fact !== undefined) found.set(name, JSON.parse(fact) as Capabilities);
  }
  return found;
}

/**
 * Records the capabilities that reads found out about each server, so that the next run does not have to ask for them.
 */
export async function rememberCapabilities(
  ledger: Ledger,
  { platforms, configuration }: { readonly platforms: Platforms; readonly configuration: Input['configuration'] },
  clock: Clock,
): Promise<void> {
  for (const client of platforms.opened()) {
    const url = configuration.platforms.get(client.name)?.url;
    if (url === undefined) continue;
    const key = capabilitiesFact(client.name, url);
    const value = canonicalJson(client.capabilities());
    if (value === '{}' || (await ledger.fact(key)) === value) continue;
    await ledger.commit({
      scope: `platform:${client.name}`,
      actor: 'portolan apply',
      atMs: clock.now(),
      operations: [{ op: 'set-fact', key, value }],
    });
  }
}

function capabilitiesFact(name: string, url: string): string {
  return `capabilities ${name} ${url}`;
}
