import { keyOf } from '../../model/reading.ts';
import { listComponents } from '../component/readings.ts';
import { listInstalled } from './readings.ts';
import { install, shownInstall, upgrade } from './requests.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { ComponentRecord } from '../component/wire.ts';
import { invalidInput } from '../../model/errors.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { RejectionReason } from '../../platform/verdict.ts';
import type { WriteRequest } from '../../platform/writes.ts';
import {
  type AppliedContext,
  badId,
  type KindCalls,
  refuseId,
  type ManualOutcome,
  type ManualContext,
} from '../calls.ts';
import {
  type CallContext,
  type ObserveContext,
  type Recording,
  ledgerRecordOf,
  type ScopeReader,
  type ScopeReading,
} from '../reconciled.ts';
import { buildMark, isBuilding, readBuilds } from './builds.ts';
import { formerOf, isAwaiting } from './diff.ts';
import { groupsOf, obstacle, preimage, recordInstall, recordUpgrade, resolve, since } from './evidence.ts';
import type { InstallLive } from './live.ts';
import type { StoreInstallSpec } from './spec.ts';
import { installKey, type InstallStep } from './steps.ts';

async function observe(context: ObserveContext<StoreInstallSpec>): Promise<InstallLive> {
  const { resource, ledgerView, reader, nowMs } = context;
  const mine = ledgerRecordOf(ledgerView, 'StoreInstall', installKey(resource.name));
  const upToDate = mine !== undefined && mine.lastApplied['modelVersion'] === resource.spec.model.version;
  const application = upToDate && !isAwaiting(mine) ? 'not-asked' : await reader.application();
  if (upToDate) {
    const builds = await buildsOf(mine, reader, nowMs);
    return { installed: 'not-asked', components: 'not-asked', application, canUpgrade: false, builds };
  }
  const [installed, components] = await Promise.all([reader.read(listInstalled), reader.read(listComponents)]);
  const canUpgrade = mine !== undefined && (await reader.has(listInstalled));
  const builds = mine === undefined ? await buildsOf(formerOf(context), reader, nowMs) : [];
  return { installed, components, application, canUpgrade, builds };
}

async function buildsOf(mine: OwnedObject | undefined, reader: ScopeReader, nowMs: number) {
  return mine !== undefined && isBuilding(mine, nowMs) ? await readBuilds(mine, reader) : [];
}

function toWrite(step: InstallStep, { app, stores }: CallContext): WriteRequest {
  switch (step.type) {
    case 'install': {
      const store = stores.get(step.store);
      if (store === undefined) {
        throw invalidInput(
          'store/unknown',
          `Store/${step.store} is not in the operator's configuration; nothing was installed`,
          'Add the Store to the file given by --config.',
        );
      }
      return install({ app, build: step.build, store, modelId: step.modelId, modelVersion: step.modelVersion });
    }
    case 'upgrade':
      return upgrade({ app, modelId: step.modelId, modelVersion: step.modelVersion, marketName: step.marketName });
    default:
      return unreachable(step);
  }
}

function applied(step: InstallStep, { evidence, prior, preimage: before, nowMs }: AppliedContext): Recording {
  const awaiting: JsonObject = {
    ...(step.waitMs === undefined ? {} : { awaitingSinceMs: nowMs }),
    // An upgrade always builds.
    ...buildMark(step.type === 'upgrade' || step.build, nowMs),
  };
  if (step.type === 'upgrade') return recordUpgrade(step, prior, awaiting);
  const found = newComponents(shownInstall(evidence)?.components ?? [], before);
  return recordInstall(step, found, awaiting);
}

/**
 * Returns the components that an install created. The answer lists all components of the application. New are those that were
 * not listed before; without an earlier listing, those of the newest install group, because group ids only grow.
 */
function newComponents(components: readonly ComponentRecord[], before: Json): readonly ComponentRecord[] {
  const known = (before as { components?: readonly string[] } | null)?.components;
  if (known !== undefined) return components.filter((component) => !known.includes(component.serviceId));
  const newest = Math.max(0, ...groupsOf(components));
  return newest === 0 ? components : components.filter((component) => component.installGroupId === newest);
}

/** Reads the components if possible, so that `from:` finds them. The install group is the one that is not recorded yet. */
async function appliedManually(step: InstallStep, context: ManualContext): Promise<ManualOutcome> {
  const { id } = context;
  const unseen = applied(step, { ...context, evidence: { type: 'none' } });
  if (step.type === 'upgrade') {
    refuseId(id, 'an upgrade makes no install group');
    return { recording: unseen, warnings: [] };
  }
  if (id !== undefined && !/^[1-9][0-9]{0,14}$/.test(id))
    throw badId(id, 'the id of an install is the number of its install group');
  const components = await (await context.platform())?.read(listComponents);
  if (components === undefined || !components.readable) {
    const why = components === undefined ? 'no platform is configured' : 'this server cannot list components';
    return { recording: { ...unseen, remoteId: id ?? null }, warnings: [withoutComponents(why)] };
  }
  const group = installGroup(id, components.value, context);
  if (group === undefined)
    return { recording: unseen, warnings: [withoutComponents('the platform lists no install group that is new')] };
  const mine = components.value.filter((component) => component.installGroupId === group);
  const { awaitingSinceMs } = unseen.remoteAux;
  return {
    recording: recordInstall(step, mine, awaitingSinceMs === undefined ? {} : { awaitingSinceMs }),
    warnings: [],
  };
}

function withoutComponents(why: string): string {
  return `${why}, so the components of this install are not recorded: a Component with from: is held until its manifest has spec.serviceId instead`;
}

/** Returns the install group of a manual resolution: the given one, or the only new one without a recorded install. */
function installGroup(
  id: string | undefined,
  components: readonly ComponentRecord[],
  { ledgerView, preimage: before }: ManualContext,
): number | undefined {
  const owners = new Map(
    ledgerView.objects.flatMap((object) =>
      object.kind === 'StoreInstall' && object.remoteId !== null ? [[object.remoteId, object.resource] as const] : [],
    ),
  );
  const known = (before as { groups?: readonly number[] } | null)?.groups ?? [];
  const groups = groupsOf(components);
  const fresh = groups.filter((group) => !known.includes(group) && !owners.has(String(group)));
  const choice = `new and without a recorded install: ${fresh.join(', ') || 'none'}`;
  if (id === undefined) {
    if (fresh.length > 1)
      throw badId(undefined, `the platform has ${fresh.length} matching install groups (${choice})`);
    return fresh[0];
  }
  const owner = owners.get(id);
  if (owner !== undefined) throw badId(id, `that install group is recorded as ${owner} (${choice})`);
  if (!groups.includes(Number(id))) throw badId(id, `the platform has no component of that install group (${choice})`);
  return Number(id);
}

function touches(_step: InstallStep): readonly ScopeReading[] {
  return ['application', keyOf(listComponents), keyOf(listInstalled)];
}

/** Remedies of refusals that only installs get. */
const remedies: Readonly<Partial<Record<RejectionReason, string>>> = {
  'store-credentials':
    'Nothing was installed. Correct the key of this store in the console, or write spec.url of the Store in another way: the platform keeps the first access key that it gets for the address of a store.',
  'store-failed':
    'Nothing was installed. Check that the application store runs and that the platform can reach it (spec.url of the Store); the next run tries again.',
  'rolled-back':
    'The platform could not install it and removed what it had created. See in the console why; the next run tries again.',
};

/** Reads and writes of installs. */
export const installCalls: KindCalls<StoreInstallSpec, InstallLive, InstallStep, object> = {
  observe,
  preimage,
  touches,
  obstacle,
  since,
  remedies,
  toWrite,
  applied,
  appliedManually,
  resolve,
};
