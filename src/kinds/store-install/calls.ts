import type { Json, JsonObject } from '../../model/json.ts';
import type { ComponentRecord } from '../../model/observed.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { PortolanError } from '../../model/errors.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { WriteRequest } from '../../platform/writes.ts';
import type { AppliedContext, KindCalls, Told, ToldContext } from '../calls.ts';
import { badId, refuseId } from '../told.ts';
import {
  type CallContext,
  type InstalledCopy,
  type Memory,
  type ObserveContext,
  type Recording,
  remembered,
  type Resolution,
  type ResolveContext,
  type ScopeReading,
} from '../reconciled.ts';
import { componentMemory, type InstalledComponent } from '../component/identity.ts';
import { isAwaiting } from './diff.ts';
import type { InstallLive } from './live.ts';
import type { StoreInstallSpec } from './spec.ts';
import { installKey, type InstallStep } from './steps.ts';

async function observe({ resource, memory, reader }: ObserveContext<StoreInstallSpec>): Promise<InstallLive> {
  const mine = remembered(memory, 'StoreInstall', installKey(resource.name));
  const upToDate = mine !== undefined && mine.lastApplied['modelVersion'] === resource.spec.model.version;
  const application = upToDate && !isAwaiting(mine) ? 'not-asked' : await reader.application();
  if (upToDate) return { installed: 'not-asked', components: 'not-asked', application, canUpgrade: false };
  const [installed, components] = await Promise.all([reader.installed(), reader.components()]);
  return { installed, components, application, canUpgrade: mine !== undefined && (await reader.can('upgrade')) };
}

/**
 * The install groups and components there are now; without a listing, only their number. The listing may be older than
 * another install of the same run, so what the ledger has on record since counts as there.
 */
function preimage(_step: InstallStep, live: InstallLive | undefined, memory: Memory): Json {
  if (live === undefined || live.application === 'not-asked') return null;
  const recorded = recordedComponents(memory);
  const { componentCount, runningComponentCount } = live.application;
  const components = live.components !== 'not-asked' && live.components.readable ? live.components.value : undefined;
  return {
    componentCount,
    runningComponentCount,
    ...(components === undefined
      ? {}
      : {
          groups: [...new Set([...groupsOf(components), ...recordedGroups(memory)])],
          components: [...new Set([...components.map((component) => component.serviceId), ...recorded])],
        }),
  };
}

function recordedComponents({ objects }: Memory): string[] {
  return objects
    .filter((object) => object.kind === 'StoreInstall')
    .flatMap((object) => (object.remoteAux['components'] ?? []) as readonly InstalledComponent[])
    .map((component) => component.serviceId);
}

function recordedGroups({ objects }: Memory): number[] {
  return objects.flatMap(({ kind, remoteId }) =>
    kind === 'StoreInstall' && remoteId !== null ? [Number(remoteId)] : [],
  );
}

function toWrite(step: InstallStep, { app, stores }: CallContext): WriteRequest {
  switch (step.type) {
    case 'install': {
      const store = stores.get(step.store);
      if (store === undefined) {
        throw new PortolanError({
          code: 'store/unknown',
          disposition: 'invalid',
          message: `Store/${step.store} is not in the operator's configuration; nothing was installed`,
          remedy: 'Add the Store to the file given by --config.',
        });
      }
      return {
        operation: 'install',
        app,
        build: step.build,
        store,
        modelId: step.modelId,
        modelVersion: step.modelVersion,
      };
    }
    case 'upgrade':
      return {
        operation: 'upgrade',
        app,
        modelId: step.modelId,
        modelVersion: step.modelVersion,
        marketName: step.marketName,
      };
    default:
      return unreachable(step);
  }
}

function applied(step: InstallStep, { evidence, prior, preimage: before, nowMs }: AppliedContext): Recording {
  const awaiting: JsonObject = step.waitMs === undefined ? {} : { awaitingSinceMs: nowMs };
  if (step.type === 'upgrade') {
    return {
      naturalKey: installKey(step.name),
      remoteId: prior?.remoteId ?? null,
      remoteAux: { ...prior?.remoteAux, ...awaiting },
      origin: prior?.origin ?? 'created',
      state: 'present',
      lastApplied: { ...prior?.lastApplied, modelVersion: step.modelVersion },
      obligation: null,
    };
  }
  const found = evidence.type === 'install' ? newComponents(evidence.install.components, before) : [];
  return recordInstall(step, found, awaiting);
}

/** The row of an install of ours with its components, so that `from:` finds them. */
export function recordInstall(
  step: Extract<InstallStep, { type: 'install' }>,
  components: readonly ComponentRecord[],
  aux: JsonObject,
): Recording {
  const groups = groupsOf(components);
  return {
    naturalKey: installKey(step.name),
    remoteId: groups.length === 1 ? String(groups[0]) : null,
    remoteAux: { components: components.map(componentMemory), ...aux },
    origin: 'created',
    state: 'present',
    lastApplied: { store: step.store, modelId: step.modelId, modelVersion: step.modelVersion, build: step.build },
    obligation: null,
  };
}

/**
 * The answer lists all components of the application. Ours are those that were not there before; where there was no
 * listing to compare with, those of the newest install group, because group ids only grow.
 */
function newComponents(components: readonly ComponentRecord[], before: Json): readonly ComponentRecord[] {
  const known = (before as { components?: readonly string[] } | null)?.components;
  if (known !== undefined) return components.filter((component) => !known.includes(component.serviceId));
  const newest = Math.max(0, ...groupsOf(components));
  return newest === 0 ? components : components.filter((component) => component.installGroupId === newest);
}

function groupsOf(components: readonly ComponentRecord[]): number[] {
  return [
    ...new Set(components.flatMap((component) => (component.installGroupId ? [component.installGroupId] : []))),
  ].sort((left, right) => left - right);
}

/** A second install is the one thing that cannot be undone: only the install groups prove anything. */
async function resolve(step: InstallStep, { reader, memory, intent }: ResolveContext): Promise<Resolution> {
  const before = intent.preimage as { groups?: readonly number[]; componentCount?: number } | null;
  const [components, application] = await Promise.all([reader.components(), reader.application()]);
  const counts = `the application had ${before?.componentCount ?? '?'} components before and has ${application.componentCount} now`;
  if (step.type === 'upgrade')
    return {
      type: 'hold',
      code: 'install/upgrade-in-doubt',
      evidence: `${counts}; the server's reported version stays old after an upgrade, so nothing proves it`,
    };
  if (!components.readable || before?.groups === undefined)
    return {
      type: 'hold',
      code: 'install/in-doubt',
      evidence: `${counts}; this server cannot list components, so the number proves nothing`,
    };
  // Both come from one server: where they disagree, one of them is old or broken, and neither proves an absence.
  if (components.value.length !== application.componentCount)
    return {
      type: 'hold',
      code: 'install/contradiction',
      evidence: `the listing has ${components.value.length} components; ${counts}`,
    };
  const present = groupsOf(components.value);
  const recorded = memory.objects.filter((object) => object.kind === 'StoreInstall');
  const ours = new Set(recorded.map((object) => object.remoteId));
  const fresh = present.filter((group) => !before.groups?.includes(group) && !ours.has(String(group)));
  const [only, second] = fresh;
  if (only === undefined) return { type: 'absent-so-far', evidence: `no new install group; ${counts}` };
  const installed = await reader.installed();
  if (installed.readable && isOfAnotherModel(step.modelId, installed.value, present, recorded))
    return {
      type: 'absent-so-far',
      evidence: `the server lists no further install of model ${step.modelId}; ${counts}`,
    };
  if (installed.readable && !installed.value.some((copy) => copy.modelId === step.modelId))
    return {
      type: 'hold',
      code: 'install/contradiction',
      evidence: `install group ${only} is new, and the server lists no install of model ${step.modelId}: one of the two answers is old, or the group is somebody else's; ${counts}`,
    };
  if (second !== undefined)
    return {
      type: 'hold',
      code: 'install/two-groups',
      evidence: `${fresh.length} new install groups appeared (${fresh.join(', ')}); ${counts}`,
    };
  const mine = components.value.filter((component) => component.installGroupId === only);
  return {
    type: 'applied',
    recording: recordInstall(step, mine, step.waitMs === undefined ? {} : { awaitingSinceMs: intent.createdMs }),
    evidence: `install group ${only} with ${mine.length} components is new`,
  };
}

/** The components are read where they can be, so that `from:` finds them; the group is the one that nobody has yet. */
async function told(step: InstallStep, context: ToldContext): Promise<Told> {
  const { id } = context;
  const unseen = applied(step, { ...context, evidence: { type: 'none' } });
  if (step.type === 'upgrade') {
    refuseId(id, 'an upgrade makes no install group');
    return { recording: unseen, warnings: [] };
  }
  if (id !== undefined && !/^[1-9][0-9]{0,14}$/.test(id))
    throw badId(id, 'the id of an install is the number of its install group');
  const components = await (await context.platform())?.components();
  if (components === undefined || !components.readable) {
    const why = components === undefined ? 'no platform was asked' : 'this server cannot list components';
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
  return `${why}, so the components of this install are not on record: a Component with from: is held until its manifest has spec.serviceId instead`;
}

/** The group a person means: the one named, or the only one that is new and not of another install on record. */
function installGroup(
  id: string | undefined,
  components: readonly ComponentRecord[],
  { memory, preimage: before }: ToldContext,
): number | undefined {
  const owners = new Map(
    memory.objects.flatMap((object) =>
      object.kind === 'StoreInstall' && object.remoteId !== null ? [[object.remoteId, object.resource] as const] : [],
    ),
  );
  const known = (before as { groups?: readonly number[] } | null)?.groups ?? [];
  const groups = groupsOf(components);
  const fresh = groups.filter((group) => !known.includes(group) && !owners.has(String(group)));
  const choice = `new and of no install on record: ${fresh.join(', ') || 'none'}`;
  if (id === undefined) {
    if (fresh.length > 1)
      throw badId(undefined, `the platform has ${fresh.length} install groups that may be meant (${choice})`);
    return fresh[0];
  }
  const owner = owners.get(id);
  if (owner !== undefined) throw badId(id, `that install group is on record as ${owner} (${choice})`);
  if (!groups.includes(Number(id))) throw badId(id, `the platform has no component of that install group (${choice})`);
  return Number(id);
}

/**
 * Whether the new groups are none of the model's: it has no more copies than those on record that are still there.
 * @param present install groups that have components now.
 */
function isOfAnotherModel(
  modelId: string,
  installed: readonly InstalledCopy[],
  present: readonly number[],
  recorded: readonly OwnedObject[],
): boolean {
  // A list with fewer installs than there are groups leaves something out.
  if (installed.length < present.length) return false;
  const ofModel = recorded.filter((object) => object.lastApplied['modelId'] === modelId);
  if (ofModel.some((object) => object.remoteId === null)) return false;
  const there = ofModel.filter((object) => present.includes(Number(object.remoteId)));
  return installed.filter((copy) => copy.modelId === modelId).length <= there.length;
}

function touches(_step: InstallStep): readonly ScopeReading[] {
  return ['application', 'components', 'installed'];
}

/** Every request that installs need. */
export const installCalls: KindCalls<StoreInstallSpec, InstallLive, InstallStep> = {
  observe,
  preimage,
  touches,
  toWrite,
  applied,
  told,
  resolve,
};
