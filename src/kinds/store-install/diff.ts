import { type ResourceId, resourceId } from '../../model/ids.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { durationMsOf } from '../../model/duration.ts';
import type { ComponentSpec } from '../component/spec.ts';
import {
  type ApplicationState,
  type Difference,
  type HoldProposal,
  noDifference,
  noting,
  presentRecordOf,
  plainStep,
  recordedAs,
  type Recording,
  type StepProposal,
  type WithdrawContext,
} from '../reconciled.ts';
import { failureOf, isBuilt, progressOf, withoutBuildMark } from './builds.ts';
import { foreignInstall, presumedInstall } from './foreign.ts';
import { hold } from './holds.ts';
import { asked, copiesOf, type InstallContext as Context, type InstallLive } from './live.ts';
import { installDone, installKey, type InstallStep } from './steps.ts';

/** Installs are never repeated and never removed: what the ledger knows is done, and what it does not know is looked at twice. */
export function diffInstall(context: Context): Difference<InstallStep> {
  const { resource, ledgerView, source } = context;
  const claims = [installKey(resource.name)];
  const mine = presentRecordOf(ledgerView, 'StoreInstall', installKey(resource.name));
  if (mine === undefined) {
    const difference = storeFailed(context) ?? missingInstall(context);
    return { ...difference, claims: [...claims, ...difference.claims] };
  }
  if (mine.source !== source) return { ...noDifference, claims, holds: [otherSource(context, mine)] };
  return { ...knownInstall(context, mine), claims };
}

/** Nothing of an install is ever removed by us. */
export function withdrawInstall(object: OwnedObject, _context: WithdrawContext): Difference<InstallStep> {
  return noting(
    'install/withdrawn',
    `${object.resource} is no longer in the source; installs are never removed, its components stay and are no longer looked after`,
  );
}

function knownInstall(context: Context, mine: OwnedObject): Difference<InstallStep> {
  const { resource, live } = context;
  const { spec } = resource;
  const version = mine.lastApplied['modelVersion'];
  if (mine.lastApplied['modelId'] !== spec.model.id || mine.lastApplied['store'] !== spec.store) {
    return hold(
      'install/other-model',
      `${resource.id} is on record as model ${JSON.stringify(mine.lastApplied['modelId'])} of Store/${JSON.stringify(mine.lastApplied['store'])}; the manifest now names model ${spec.model.id} of Store/${spec.store}`,
      'Another model is another install: give it a name of its own, and leave this one as it was.',
    );
  }
  if (version !== spec.model.version) return storeFailed(context) ?? upgrade(context, mine);
  const isUp = !isAwaiting(mine) || stateOf(live).status === 'running';
  const standing = { ...awaiting(context, mine), ...buildStanding(context, isUp) };
  return {
    ...noDifference,
    unchangedFields: 3,
    ...standing,
    holds: [...beside(context), ...(standing.holds ?? [])],
    ...(isUp ? { inSync: [installInSync(mine, live)] } : {}),
  };
}

/** A build that failed is left to a person, and ends the waiting for it; one that goes on is told. */
function buildStanding({ resource, live: { builds } }: Context, isUp: boolean): Partial<Difference<InstallStep>> {
  const failure = failureOf(resource.id, builds);
  if (failure !== undefined) return { waits: [], holds: [{ code: 'install/build-failed', ...failure, changes: [] }] };
  const isGoingOn = builds.some(({ event }) => event.state === 'running');
  if (!isUp || !isGoingOn) return {};
  return { notes: [{ code: 'install/building', message: `${resource.id}: ${progressOf(builds)}` }] };
}

/** Somebody else may have installed at the same time: it is said until a person has looked. */
function beside({ ledgerView, scope }: Context): readonly HoldProposal[] {
  if (ledgerView.besides === undefined) return [];
  return [
    {
      code: 'install/not-alone',
      message: `${ledgerView.besides}: another ledger, or a person, may have installed something or moved a component here at the same time`,
      remedy: `Look in the console whether something is there twice, and remove what is too much. Then confirm it: portolan ledger confirm ${scope}.`,
    },
  ];
}

/** What is installed already cannot be seen while the platform's application store fails. Only installs need to know. */
function storeFailed({ resource, live: { installed } }: Context): Difference<InstallStep> | undefined {
  if (installed === 'not-asked' || installed.readable || installed.because === undefined) return undefined;
  return hold(
    'install/store-failed',
    `the platform could not list what is installed, so ${resource.id} is not sent: ${installed.because.message}`,
    installed.because.remedy,
  );
}

/** Whether an install on record must still come to run: how the application stands is then worth a request. */
export function isAwaiting(mine: OwnedObject): boolean {
  return mine.remoteAux['awaitingSinceMs'] !== undefined;
}

function stateOf({ application }: InstallLive): ApplicationState {
  if (application === 'not-asked') throw new Error('how the application stands was not asked for and is needed');
  return application;
}

/** An install that must come to run holds back what depends on it, until it runs or its time is over. */
function awaiting(context: Context, mine: OwnedObject): Partial<Difference<InstallStep>> {
  const { resource, live, nowMs } = context;
  const sinceMs = mine.remoteAux['awaitingSinceMs'];
  const wait = resource.spec.wait;
  if (typeof sinceMs !== 'number') return {};
  const { status, componentCount, runningComponentCount } = stateOf(live);
  if (status === 'running') return {};
  const untilMs = sinceMs + (wait === undefined ? 0 : durationMsOf(wait.timeout));
  const progress = progressOf(live.builds);
  const seen = `application status is "${status}", ${runningComponentCount} of ${componentCount} components run${progress === '' ? '' : `; ${progress}`}`;
  // A clock that was set back says nothing about how long it took: then it is over, and a person looks.
  if (nowMs >= sinceMs && nowMs < untilMs)
    return { waits: [{ message: `${resource.id} is installed and must come to run: ${seen}`, untilMs }] };
  return {
    holds: [
      {
        code: 'install/not-running',
        message: `${resource.id} is installed and did not come to run within ${wait?.timeout ?? '0s'}: ${seen}; what depends on it was not done`,
        remedy:
          'Look at its components in the console. Once the application runs, run this again; or take spec.wait out.',
      },
    ],
  };
}

function installInSync(mine: OwnedObject, { builds }: InstallLive): Recording {
  const { awaitingSinceMs: _done, ...remoteAux } = isBuilt(builds) ? withoutBuildMark(mine.remoteAux) : mine.remoteAux;
  return recordedAs(mine, { remoteAux, state: 'present', obligation: null });
}

function upgrade(context: Context, mine: OwnedObject): Difference<InstallStep> {
  const { resource, live, ledgerView, permissions } = context;
  const { spec } = resource;
  const from = mine.lastApplied['modelVersion'];
  if ((typeof from !== 'string' || !live.canUpgrade) && permissions.adopt(resource.id))
    return upgradedElsewhere(context, mine);
  if (typeof from !== 'string') {
    return hold(
      'install/version-unknown',
      `the ledger does not know which version of ${spec.model.id} ${resource.id} has; the server's word is not reliable after an upgrade`,
      `Write in the manifest which version runs there, then record that: apply --adopt ${resource.id}.`,
    );
  }
  if (ledgerView.restored) return restoredLedger(context);
  if (!live.canUpgrade) {
    return hold(
      'install/cannot-upgrade',
      `${resource.id} shall go from version ${from} to ${spec.model.version}, and this server offers no upgrade`,
      `Upgrade it in the console, then record that: apply --adopt ${resource.id}; or take the change back.`,
    );
  }
  const copies = copiesOf(live, spec.model.id);
  const known = ledgerView.objects.filter(
    (object) => object.kind === 'StoreInstall' && object.lastApplied['modelId'] === spec.model.id,
  ).length;
  if (copies > 1 || known > 1) {
    return hold(
      'install/two-copies',
      `the application has ${Math.max(copies, known)} installs of model ${spec.model.id}; the platform upgrades by model and would touch all of them`,
      'Upgrade the one you mean in the console.',
    );
  }
  const copy = asked(live.installed)
    ? live.installed.value.find((candidate) => candidate.modelId === spec.model.id)
    : undefined;
  const waitMs = spec.wait === undefined ? undefined : durationMsOf(spec.wait.timeout);
  const step: StepProposal<InstallStep> = {
    ...plainStep,
    key: 'upgrade',
    step: {
      type: 'upgrade',
      name: resource.name,
      modelId: spec.model.id,
      modelVersion: spec.model.version,
      marketName: copy?.marketName ?? null,
      ...(waitMs === undefined ? {} : { waitMs }),
    },
    verb: 'update',
    object: installKey(resource.name),
    summary: `upgrade ${spec.model.id} from ${from} to ${spec.model.version}`,
    changes: [{ field: 'modelVersion', path: 'model.version', before: from, after: spec.model.version }],
    effects: ['moves its components to the images of the new version'],
    provides: [installDone(resource.name)],
  };
  return { ...noDifference, steps: [step], unchangedFields: 2 };
}

/** A person adopts the version that the manifest names, where nothing else can tell: only the ledger changes. */
function upgradedElsewhere({ resource, live }: Context, mine: OwnedObject): Difference<InstallStep> {
  const { version } = resource.spec.model;
  return {
    ...noting(
      'install/version-adopted',
      `${resource.id} is put on record as version ${version}, on the word of --adopt; nothing is sent`,
    ),
    inSync: [{ ...installInSync(mine, live), lastApplied: { ...mine.lastApplied, modelVersion: version } }],
    unchangedFields: 3,
  };
}

function missingInstall(context: Context): Difference<InstallStep> {
  const { resource, live, ledgerView, permissions } = context;
  const { spec } = resource;
  const renamed = renamedFrom(context);
  if (renamed !== undefined) return renamed;
  const same = ledgerView.objects.find(
    (object) =>
      object.kind === 'StoreInstall' &&
      object.lastApplied['modelId'] === spec.model.id &&
      object.lastApplied['store'] === spec.store,
  );
  if (same !== undefined && !spec.allowSecondCopy) {
    return hold(
      'install/second-copy',
      `the application already has model ${spec.model.id} of Store/${spec.store}, installed as ${same.resource}; ${resource.id} would install a second copy`,
      `If it is the same one under a new name, annotate it portolan/moved-from: ${same.naturalKey.slice('install/'.length)}. If a second copy is meant, write allowSecondCopy: true.`,
    );
  }
  const recorded = ledgerView.objects.filter(
    (object) => object.kind === 'StoreInstall' && object.lastApplied['modelId'] === spec.model.id,
  ).length;
  const foreign = copiesOf(live, spec.model.id) - recorded;
  if (foreign > 0 && !spec.allowSecondCopy)
    return ledgerView.known ? foreignInstall(context, foreign) : presumedInstall(context);
  if (ledgerView.restored) return restoredLedger(context);
  const absent = absentComponents(context);
  if (ledgerView.known && !ledgerView.scopeRecorded && absent.length > 0) {
    return hold(
      'install/components-elsewhere',
      `this ledger has never recorded the application, and ${absent.join(', ')} of this source ${absent.length === 1 ? 'is' : 'are'} not in it: it may be the wrong application, so nothing is installed into it`,
      `Correct spec.appId of the Application, or spec.serviceId of ${absent.join(', ')}.`,
    );
  }
  if (ledgerView.besides !== undefined) return { ...noDifference, holds: beside(context) };
  if (!ledgerView.known || asked(live.installed)) return { ...noDifference, steps: [installStep(context, [])] };
  const { componentsSince } = ledgerView;
  const now = stateOf(live).componentCount;
  if (
    ledgerView.scopeRecorded &&
    componentsSince !== undefined &&
    now > componentsSince &&
    !permissions.firstInstall(context.scope)
  ) {
    return hold(
      'install/unknown-components',
      `the application had ${componentsSince} components after the last install of this ledger and has ${now} now, and this server cannot list what is installed: ${resource.id} may be there already`,
      `Make sure that it is not, then confirm it: portolan ledger confirm ${context.scope}, or apply --first-install ${context.scope}.`,
    );
  }
  if (ledgerView.scopeRecorded || now === 0) return { ...noDifference, steps: [installStep(context, [])] };
  const unknown = `this ledger has never recorded the application, it has ${stateOf(live).componentCount} components, and this server cannot list what is installed: ${resource.id} may be there already`;
  if (!permissions.firstInstall(context.scope)) {
    return hold(
      'install/first-into-unknown',
      unknown,
      `Make sure that it is not, then confirm it once: portolan ledger confirm ${context.scope}, or apply --first-install ${context.scope}. apply on a terminal without --yes asks.`,
    );
  }
  return { ...noDifference, steps: [installStep(context, [unknown])] };
}

/** Components that manifests name by id and that the application does not have, where the server lists what it has. */
function absentComponents({ siblings, live }: Context): readonly ResourceId[] {
  const { components } = live;
  if (!asked(components)) return [];
  const ids = new Set(components.value.map(({ serviceId }) => serviceId));
  return [...siblings.values()].flatMap(({ id, kind, spec }) => {
    const { serviceId } = spec as Partial<ComponentSpec>;
    return kind === 'Component' && serviceId !== undefined && !ids.has(serviceId) ? [id] : [];
  });
}

function installStep({ resource }: Context, warnings: readonly string[]): StepProposal<InstallStep> {
  const { spec, name } = resource;
  const waitMs = spec.wait === undefined ? undefined : durationMsOf(spec.wait.timeout);
  return {
    ...plainStep,
    key: 'install',
    step: {
      type: 'install',
      name,
      store: spec.store,
      modelId: spec.model.id,
      modelVersion: spec.model.version,
      build: spec.build,
      ...(waitMs === undefined ? {} : { waitMs }),
    },
    verb: 'create',
    object: installKey(name),
    summary: `install ${spec.model.id} ${spec.model.version} from Store/${spec.store}${spec.build ? ' and build it' : ''}`,
    changes: [
      { field: 'store', path: 'store', after: spec.store },
      { field: 'modelId', path: 'model.id', after: spec.model.id },
      { field: 'modelVersion', path: 'model.version', after: spec.model.version },
      { field: 'build', path: 'build', after: spec.build },
    ],
    effects: [...warnings, "creates the model's components in the application; Portolan never removes them"],
    provides: [installDone(name)],
  };
}

/** `portolan/moved-from`: the same install under a new name. Only the ledger changes. */
function renamedFrom(context: Context): Difference<InstallStep> | undefined {
  const { resource, live, source } = context;
  const old = formerOf(context);
  const { spec } = resource;
  if (
    old === undefined ||
    old.source !== source ||
    old.lastApplied['modelId'] !== spec.model.id ||
    old.lastApplied['store'] !== spec.store
  )
    return undefined;
  return {
    ...noting('install/renamed', `${old.resource} is on record under its new name ${resource.id}`),
    inSync: [{ ...installInSync(old, live), naturalKey: installKey(resource.name), replaces: old.naturalKey }],
    claims: [old.naturalKey],
  };
}

/** The install on record under the name that this one had before. */
export function formerOf({
  resource,
  ledgerView,
  siblings,
}: Pick<Context, 'resource' | 'ledgerView' | 'siblings'>): OwnedObject | undefined {
  const former = resource.annotations['portolan/moved-from'];
  if (former === undefined || siblings.has(resourceId('StoreInstall', former))) return undefined;
  return presentRecordOf(ledgerView, 'StoreInstall', installKey(former));
}

function restoredLedger(context: Context): Difference<InstallStep> {
  return hold(
    'install/ledger-restored',
    `the ledger may lack installs of this application, because it was restored from a backup, is an older copy, or one was dropped from it; ${context.resource.id} may be done already`,
    `Make sure that it is not, then confirm once: portolan ledger confirm ${context.scope}`,
  );
}

function otherSource({ resource, source }: Context, owner: OwnedObject): HoldProposal {
  return {
    code: 'source/other-owner',
    message: `${resource.id} belongs to the source "${owner.source}"; this run is for "${source}"`,
    remedy: 'Give it another name, or run with the --source that owns it.',
  };
}
