import type { Ledger } from '../../ledger/ledger.ts';
import { PortolanError } from '../../model/errors.ts';
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
 * @param only the platform that the ledger is for; absent: all.
 */
export async function rememberCapabilities(
  ledger: Ledger,
  { platforms, configuration }: { readonly platforms: Platforms; readonly configuration: Input['configuration'] },
  clock: Clock,
  only?: string,
): Promise<void> {
  for (const client of platforms.opened()) {
    if (only !== undefined && client.name !== only) continue;
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

/** Does the same when a controller ends. It ends all the same where the ledger cannot be written. */
export async function rememberAll(...args: Parameters<typeof rememberCapabilities>): Promise<void> {
  await rememberCapabilities(...args).catch((error: unknown) => {
    if (!(error instanceof PortolanError)) throw error;
  });
}

function capabilitiesFact(name: string, url: string): string {
  return `capabilities ${name} ${url}`;
}
