import type { InstalledCopy, Readable, ScopeReader, ScopeReading } from '../kinds/reconciled.ts';
import type { ApplicationRecord } from '../model/observed.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { AppAddress } from '../platform/writes.ts';

/** A reader of one scope that asks the platform at most once for each thing, however many kinds want it. */
export interface CachingReader extends ScopeReader {
  /** A reader that has forgotten these readings and keeps the others; without arguments, all but the application. */
  without(readings?: ReadonlySet<ScopeReading>): CachingReader;
}

/** @param application what was read to resolve the scope: not asked again while it is fresh. */
export function createScopeReader(
  client: PlatformClient,
  app: AppAddress,
  application: ApplicationRecord,
): CachingReader {
  return reader(client, app, new Map<ScopeReading, Promise<unknown>>([['application', Promise.resolve(application)]]));
}

function reader(client: PlatformClient, app: AppAddress, answers: Map<ScopeReading, Promise<unknown>>): CachingReader {
  const once = <T>(reading: ScopeReading, ask: () => Promise<T>): Promise<T> => {
    const known = answers.get(reading);
    if (known !== undefined) return known as Promise<T>;
    const answer = ask();
    answers.set(reading, answer);
    return answer;
  };
  return {
    ports: (serviceId) => once(`ports ${serviceId}`, () => client.ports(app, serviceId)),
    rules: () => once('rules', () => client.rules(app)),
    components: () => once('components', () => client.components(app)),
    installed: () => once('installed', async () => installed(await client.installed(app))),
    application: () => once('application', () => existing(client, app)),
    can: async (ability) => (await client.probe(ability, app)) === 'yes',
    without: (readings) => {
      const kept = readings === undefined ? [] : [...answers].filter(([reading]) => !readings.has(reading));
      return reader(client, app, new Map(kept));
    },
  };
}

function installed(answer: Awaited<ReturnType<PlatformClient['installed']>>): Readable<readonly InstalledCopy[]> {
  return answer.readable
    ? {
        readable: true,
        value: answer.value.map(({ modelId, marketName, installGroupId }) => ({ modelId, marketName, installGroupId })),
      }
    : answer;
}

async function existing(client: PlatformClient, app: AppAddress): Promise<ApplicationRecord> {
  const application = await client.application(app);
  if (application === undefined)
    throw new Error(`application ${app.team}/${app.region}/${app.appId} vanished while it was read`);
  return application;
}
