import { listComponents } from '../component/readings.ts';
import { listInstalled } from './readings.ts';
import { shownInstall } from './requests.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { ComponentRecord } from '../component/wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { AppliedContext, KnownSince, Obstacle, ObstacleContext } from '../calls.ts';
import { componentMemory, type InstalledComponent } from '../component/identity.ts';
import {
  absentSoFar,
  type ApplicationState,
  inDoubt,
  type LedgerView,
  type Recording,
  ledgerRecordOf,
  type Resolution,
  type ResolveContext,
} from '../reconciled.ts';
import { asked, type InstallLive } from './live.ts';
import { buildMark } from './builds.ts';
import { installKey, type InstallStep } from './steps.ts';
import type { InstalledModel } from './wire.ts';

/** The state of the application before the request, as an intent records it. */
interface Before {
  readonly componentCount?: number;
  /** Absent if the server does not list installed models. */
  readonly copies?: number;
  /** Ids of all components; absent if the server cannot list them. */
  readonly components?: readonly string[];
  /** Absent if the server cannot list components. */
  readonly groups?: readonly number[];
  /** The image of each component of the upgraded install. */
  readonly images?: Readonly<Record<string, string>>;
}

type Step<Type extends InstallStep['type']> = Extract<InstallStep, { type: Type }>;

/**
 * Returns the present install groups and components; without a listing, only their number. The listing may be older than another
 * install of the same run, so recorded components and groups are added.
 */
export function preimage(step: InstallStep, live: InstallLive | undefined, ledgerView: LedgerView): Json {
  if (live === undefined || live.application === 'not-asked') return null;
  const recorded = recordedComponents(ledgerView);
  const { componentCount, runningComponentCount } = live.application;
  const components = live.components !== 'not-asked' && live.components.readable ? live.components.value : undefined;
  const copies = asked(live.installed)
    ? { copies: live.installed.value.filter(({ modelId }) => modelId === step.modelId).length }
    : {};
  return {
    componentCount,
    runningComponentCount,
    ...copies,
    ...(components === undefined
      ? {}
      : {
          groups: [...new Set([...groupsOf(components), ...recordedGroups(ledgerView)])],
          components: [...new Set([...components.map((component) => component.serviceId), ...recorded])],
          ...(step.type === 'upgrade' ? { images: imagesOf(componentsOf(step, components, ledgerView)) } : {}),
        }),
  };
}

function recordedComponents({ objects }: LedgerView): string[] {
  return objects
    .filter((object) => object.kind === 'StoreInstall')
    .flatMap((object) => (object.remoteAux['components'] ?? []) as readonly InstalledComponent[])
    .map((component) => component.serviceId);
}

function recordedGroups({ objects }: LedgerView): number[] {
  return objects.flatMap(({ kind, remoteId }) =>
    kind === 'StoreInstall' && remoteId !== null ? [Number(remoteId)] : [],
  );
}

/** Returns the components of a recorded install, by their ids and by the install group, which may have grown. */
function componentsOf(
  step: Step<'upgrade'>,
  components: readonly ComponentRecord[],
  ledgerView: LedgerView,
): readonly ComponentRecord[] {
  const mine = ledgerRecordOf(ledgerView, 'StoreInstall', installKey(step.name));
  const recorded = (mine?.remoteAux['components'] ?? []) as readonly InstalledComponent[];
  const ids = new Set(recorded.map((component) => component.serviceId));
  const group = mine?.remoteId ?? null;
  return components.filter(
    ({ serviceId, installGroupId }) => ids.has(serviceId) || (group !== null && String(installGroupId) === group),
  );
}

function imagesOf(components: readonly ComponentRecord[]): Record<string, string> {
  return Object.fromEntries(components.map(({ serviceId, image }) => [serviceId, image]));
}

/** Decides an install or upgrade in doubt by observation: a second install cannot be undone. Only reads. */
export async function resolve(step: InstallStep, context: ResolveContext): Promise<Resolution> {
  const { reader, intent } = context;
  const before = intent.preimage as Before | null;
  const [components, application] = await Promise.all([reader.read(listComponents), reader.application()]);
  const counts = `the application had ${before?.componentCount ?? '?'} components before and has ${application.componentCount} now`;
  if (step.type === 'upgrade') return upgradeSeen(step, components.readable ? components.value : [], before, context);
  if (!components.readable || before?.groups === undefined) return countSeen(before, application, counts, context);
  // Both come from one server: where they disagree, one of them is old or broken, and neither proves an absence.
  if (components.value.length !== application.componentCount)
    return inDoubt('install/contradiction', `the listing has ${components.value.length} components; ${counts}`);
  return groupSeen(step, components.value, before.groups, counts, context);
}

/** Decides without a listing: an unchanged number proves an absence only together with a refusal by the platform. */
function countSeen(
  before: Before | null,
  { componentCount }: ApplicationState,
  counts: string,
  { intent }: ResolveContext,
): Resolution {
  const { refused } = (intent.outcome ?? {}) as { readonly refused?: string };
  if (refused === undefined)
    return inDoubt('install/in-doubt', `${counts}; this server cannot list components, so the number proves nothing`);
  return before?.componentCount === componentCount
    ? absentSoFar(`the platform refused the request, and ${counts}`)
    : inDoubt('install/refused-and-changed', `the platform refused the request, but ${counts}`);
}

/** Decides an upgrade by the images of the components: the version that the server reports stays old. */
function upgradeSeen(
  step: Step<'upgrade'>,
  listed: readonly ComponentRecord[],
  before: Before | null,
  { ledgerView, intent }: ResolveContext,
): Resolution {
  const images = before?.images ?? {};
  const present = componentsOf(step, listed, ledgerView);
  const known = present.filter(({ serviceId }) => images[serviceId] !== undefined);
  if (known.length === 0)
    return inDoubt(
      'install/upgrade-in-doubt',
      `the images of the components before the upgrade or after it are not known, and the version that the server reports stays old after an upgrade`,
    );
  const moved = known.find(({ serviceId, image }) => images[serviceId] !== image);
  const added = present.find(({ serviceId }) => images[serviceId] === undefined);
  const change =
    moved === undefined
      ? added && `component ${added.serviceId} is new`
      : `the image of component ${moved.serviceId} was ${images[moved.serviceId]} and is ${moved.image}`;
  if (change === undefined) return absentSoFar(`the images of all ${known.length} components are as before`);
  const awaiting = {
    ...(step.waitMs === undefined ? {} : { awaitingSinceMs: intent.createdMs }),
    ...buildMark(true, intent.createdMs),
  };
  const prior = ledgerRecordOf(ledgerView, 'StoreInstall', installKey(step.name));
  return { type: 'applied', recording: recordUpgrade(step, prior, awaiting), evidence: change };
}

/** Decides an install by its install group, which is the only proof. */
async function groupSeen(
  step: Step<'install'>,
  components: readonly ComponentRecord[],
  before: readonly number[],
  counts: string,
  { reader, ledgerView, intent }: ResolveContext,
): Promise<Resolution> {
  const present = groupsOf(components);
  const recorded = ledgerView.objects.filter((object) => object.kind === 'StoreInstall');
  const ours = new Set(recorded.map((object) => object.remoteId));
  const fresh = present.filter((group) => !before.includes(group) && !ours.has(String(group)));
  const [only, second] = fresh;
  if (only === undefined) return absentSoFar(`no new install group; ${counts}`);
  const installed = await reader.read(listInstalled);
  if (!installed.readable && installed.because !== undefined)
    return inDoubt(
      'install/store-failed',
      `install group ${only} is new, and which model it is of is not known: ${installed.because.message}`,
    );
  if (installed.readable && isOfAnotherModel(step.modelId, installed.value, present, recorded))
    return absentSoFar(`the server lists no further install of model ${step.modelId}; ${counts}`);
  if (installed.readable && !installed.value.some((copy) => copy.modelId === step.modelId))
    return inDoubt(
      'install/contradiction',
      `install group ${only} is new, and the server lists no install of model ${step.modelId}: one of the two answers is old, or another request made the group; ${counts}`,
    );
  if (second !== undefined)
    return inDoubt(
      'install/two-groups',
      `${fresh.length} new install groups appeared (${fresh.join(', ')}); ${counts}`,
    );
  const mine = components.filter((component) => component.installGroupId === only);
  return {
    type: 'applied',
    recording: recordInstall(step, mine, {
      ...(step.waitMs === undefined ? {} : { awaitingSinceMs: intent.createdMs }),
      ...buildMark(step.build, intent.createdMs),
    }),
    evidence: `install group ${only} with ${mine.length} components is new`,
  };
}

/**
 * Returns whether the new groups belong to other models: this model has no more copies than its recorded groups that exist.
 * @param present install groups that have components now.
 */
function isOfAnotherModel(
  modelId: string,
  installed: readonly InstalledModel[],
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

/**
 * Returns why an install or upgrade must not leave: the application changed since the plan was made, such as through another
 * ledger that installs at the same time.
 */
export async function obstacle(
  step: InstallStep,
  { preimage: before, reader }: ObstacleContext,
): Promise<Obstacle | undefined> {
  const { componentCount, components, copies } = (before ?? {}) as Before;
  const [application, listed, installed] = await Promise.all([
    reader.application(),
    components === undefined ? undefined : reader.read(listComponents),
    copies === undefined ? undefined : reader.read(listInstalled),
  ]);
  if (componentCount !== undefined && application.componentCount !== componentCount)
    return {
      why: `the application had ${componentCount} components when the plan was made, and has ${application.componentCount} now`,
    };
  const known = new Set(components);
  const stranger = listed?.readable === true ? listed.value.find(({ serviceId }) => !known.has(serviceId)) : undefined;
  if (stranger !== undefined) return { why: `component ${stranger.serviceId} is new since the plan was made` };
  const now =
    installed?.readable === true ? installed.value.filter(({ modelId }) => modelId === step.modelId).length : copies;
  return now === copies
    ? undefined
    : {
        why: `the application had ${copies} installs of model ${step.modelId} when the plan was made, and has ${now} now`,
      };
}

/** The answer to an install lists every component of the application: what is neither ours nor was there before came meanwhile. */
export function since(
  step: InstallStep,
  { evidence, preimage: before }: Pick<AppliedContext, 'evidence' | 'preimage'>,
): KnownSince {
  const shown = shownInstall(evidence);
  if (step.type === 'upgrade' || shown === undefined) return {};
  const { components } = shown;
  const { componentCount, components: known } = (before ?? {}) as Before;
  const newest = Math.max(0, ...groupsOf(components));
  const others = components.filter(({ installGroupId }) => installGroupId !== newest);
  // A listing that contradicts the number of components says nothing about which of them are new.
  const strangers =
    known?.length !== componentCount || known === undefined
      ? others.length - (componentCount ?? others.length)
      : others.filter(({ serviceId }) => !known.includes(serviceId)).length;
  if (newest === 0 || strangers <= 0) return { total: components.length };
  return {
    total: components.length,
    besides: `while model ${step.modelId} was installed as install group ${newest}, ${strangers === 1 ? '1 component appeared that is' : `${strangers} components appeared that are`} not of it`,
  };
}

/** Returns the row of an install with its components, so that `from:` finds them. */
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

/** Returns the row of an install after an upgrade. Only the ledger knows the version; the server reports the old one. */
export function recordUpgrade(
  step: Extract<InstallStep, { type: 'upgrade' }>,
  prior: OwnedObject | undefined,
  aux: JsonObject,
): Recording {
  return {
    naturalKey: installKey(step.name),
    remoteId: prior?.remoteId ?? null,
    remoteAux: { ...prior?.remoteAux, ...aux },
    origin: prior?.origin ?? 'created',
    state: 'present',
    lastApplied: { ...prior?.lastApplied, modelVersion: step.modelVersion },
    obligation: null,
  };
}

/** Returns the install groups of components, in ascending order. */
export function groupsOf(components: readonly ComponentRecord[]): number[] {
  return [
    ...new Set(components.flatMap((component) => (component.installGroupId ? [component.installGroupId] : []))),
  ].sort((left, right) => left - right);
}
