import { listApplications } from '../../platform/readings.ts';
import type { ApplyWorld } from '../apply/world.ts';
import type { ApplicationSpec } from '../../kinds/application/spec.ts';
import { PortolanError } from '../../model/errors.ts';
import type { Scope } from '../../model/ids.ts';
import type { ApplicationRecord } from '../../platform/records.ts';
import type { Resource } from '../../model/resource.ts';
import { REGION_ENABLED, regionState } from '../../plan/guard.ts';

/** The application that a manifest refers to, as the platform names it. */
export async function resolveScope(
  application: Resource<ApplicationSpec>,
  world: Pick<ApplyWorld, 'client'>,
): Promise<{ scope: Scope; record: ApplicationRecord }> {
  const { spec } = application;
  const appId = spec.appId ?? (await sayingWhy(application, world, () => findByName(application, world)));
  const app = { team: spec.team, region: spec.region, appId };
  const record = await sayingWhy(application, world, () => world.client.application(app));
  if (record === undefined) {
    throw new PortolanError({
      code: 'application/not-found',
      disposition: 'give-up',
      message: `${application.position.file}:${application.position.line} refers to application ${appId} of team ${spec.team} in region ${spec.region}, which ${world.client.url} does not have; nothing was done for it`,
      remedy: 'Correct spec.team, spec.region and spec.appId, or create the application.',
    });
  }
  return {
    record,
    scope: { platform: world.client.name, team: record.team, region: record.region, appId: record.appId },
  };
}

/** A server shows nothing of a region that is not enabled, and its words for that are about the team. */
async function sayingWhy<T>(
  { id, spec }: Resource<ApplicationSpec>,
  { client }: Pick<ApplyWorld, 'client'>,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof PortolanError) || cause.code !== 'platform/region-not-ready') throw cause;
    const region = (await client.regions({ team: spec.team })).find((candidate) => candidate.name === spec.region);
    if (region === undefined || region.status === REGION_ENABLED) throw cause;
    throw new PortolanError({
      code: 'guard/region',
      disposition: 'ask-human',
      message: `region ${spec.region} is ${regionState(region.status)}, and the platform shows nothing of it (${cause.message}); nothing was sent for ${id}`,
      remedy: 'Run the same command again when the region is enabled (portolan regions shows it).',
      cause,
    });
  }
}

/** An empty list is what many servers answer to anything. */
async function mustBeTheApi({ client }: Pick<ApplyWorld, 'client'>, team: string): Promise<void> {
  try {
    await client.regions({ team });
  } catch (error) {
    if (!(error instanceof PortolanError) || error.code === 'platform/not-the-api') throw error;
  }
}

async function findByName(application: Resource<ApplicationSpec>, world: Pick<ApplyWorld, 'client'>): Promise<number> {
  const { spec, id, position } = application;
  const answer = await world.client.read(listApplications, { team: spec.team, region: spec.region });
  const at = `${position.file}:${position.line}`;
  if (!answer.readable) {
    throw new PortolanError({
      code: 'application/needs-number',
      disposition: 'give-up',
      message: `${id} (${at}) names the application "${spec.app}", and ${world.client.url} does not list applications by name; nothing was done for it`,
      remedy: "Write spec.appId, the number in the console's address, in place of spec.app.",
    });
  }
  if (answer.value.length === 0) await mustBeTheApi(world, spec.team);
  const named = answer.value.filter((summary) => summary.name === spec.app);
  const [only, second] = named;
  if (only !== undefined && second === undefined) return only.appId;
  const names = answer.value.map((summary) => summary.name).sort();
  throw new PortolanError({
    code: named.length === 0 ? 'application/not-found' : 'application/ambiguous',
    disposition: 'give-up',
    message: `${id} (${at}) names the application "${spec.app}": team ${spec.team} has ${named.length === 0 ? 'none' : named.length} of that name in region ${spec.region}; nothing was done for it`,
    remedy:
      named.length === 0
        ? `Correct spec.app; there are: ${names.join(', ') || 'none'}.`
        : `Write spec.appId (${named.map((summary) => summary.appId).join(' or ')}) in place of spec.app.`,
  });
}
