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

/** Returns the steps of an install. Installs are never repeated and never removed, so an unrecorded install is checked carefully. */
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

/** Returns a note: Portolan never removes an install. */
export function withdrawInstall(object: OwnedObject, _context: WithdrawContext): Difference<InstallStep> {
  return noting(
    'install/withdrawn',
    `${object.resource} was removed from the source; installs are never removed, so its components stay, unmanaged`,
  );
}

function knownInstall(context: Context, mine: OwnedObject): Difference<InstallStep> {
  const { resource, live } = context;
  const { spec } = resource;
  const version = mine.lastApplied['modelVersion'];
  if (mine.lastApplied['modelId'] !== spec.model.id || mine.lastApplied['store'] !== spec.store) {
    return hold(
      'install/other-model',
      `${resource.id} is recorded as model ${JSON.stringify(mine.lastApplied['modelId'])} of Store/${JSON.stringify(mine.lastApplied['store'])}; the manifest now names model ${spec.model.id} of Store/${spec.store}`,
      'Another model is another install: write it as a new StoreInstall, and restore this one.',
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

/** Returns the hold of a failed build, which ends the wait for it, or a note on a running build. */
function buildStanding({ resource, live: { builds } }: Context, isUp: boolean): Partial<Difference<InstallStep>> {
  const failure = failureOf(resource.id, builds);
  if (failure !== undefined) return { waits: [], holds: [{ code: 'install/build-failed', ...failure, changes: [] }] };
  const isGoingOn = builds.some(({ event }) => event.state === 'running');
  if (!isUp || !isGoingOn) return {};
  return { notes: [{ code: 'install/building', message: `${resource.id}: ${progressOf(builds)}` }] };
}

/** Returns the hold for a concurrent install by others. It stays until a person confirms the scope. */
function beside({ ledgerView, scope }: Context): readonly HoldProposal[] {
  if (ledgerView.besides === undefined) return [];
  return [
    {
      code: 'install/not-alone',
      message: `${ledgerView.besides}: another ledger, or a person, may have installed or moved a component into this application at the same time`,
      remedy: `Check in the console for duplicates, and remove them. Then run \`portolan ledger confirm ${scope}\`.`,
    },
  ];
}

/** Returns the hold while the platform's application store fails, because installed models cannot be listed then. */
function storeFailed({ resource, live: { installed } }: Context): Difference<InstallStep> | undefined {
  if (installed === 'not-asked' || installed.readable || installed.because === undefined) return undefined;
  return hold(
    'install/store-failed',
    `the platform could not list what is installed, so ${resource.id} is held: ${installed.because.message}`,
    installed.because.remedy,
  );
}

/** Returns whether a recorded install must still become ready. The status of the application is read then. */
export function isAwaiting(mine: OwnedObject): boolean {
  return mine.remoteAux['awaitingSinceMs'] !== undefined;
}

function stateOf({ application }: InstallLive): ApplicationState {
  if (application === 'not-asked') throw new Error('the status of the application was not read');
  return application;
}

/** Returns the wait for an install that must become ready, or the hold after its timeout. Dependent steps wait too. */
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
  // If the clock was set back, the duration is unknown: the wait ends with a hold.
  if (nowMs >= sinceMs && nowMs < untilMs)
    return { waits: [{ message: `${resource.id} is installed and must become ready: ${seen}`, untilMs }] };
  return {
    holds: [
      {
        code: 'install/not-running',
        message: `${resource.id} is installed and did not become ready within ${wait?.timeout ?? '0s'}: ${seen}; its dependents were not applied`,
        remedy:
          'Check its components in the console. Run the command again when the application runs, or remove spec.wait.',
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
      `the ledger does not know which version of ${spec.model.id} ${resource.id} has; the version that the server reports is not reliable after an upgrade`,
      `Write the installed version in the manifest, then record it with apply --adopt ${resource.id}.`,
    );
  }
  if (ledgerView.restored) return restoredLedger(context);
  if (!live.canUpgrade) {
    return hold(
      'install/cannot-upgrade',
      `${resource.id} should be upgraded from version ${from} to ${spec.model.version}, but this server cannot upgrade`,
      `Upgrade it in the console and record that with apply --adopt ${resource.id}, or revert the change.`,
    );
  }
  const copies = copiesOf(live, spec.model.id);
  const known = recordedInstalls(context).length;
  if (copies > 1 || known > 1) {
    return hold(
      'install/two-copies',
      `the application has ${Math.max(copies, known)} installs of model ${spec.model.id}; the platform upgrades by model and would upgrade all of them`,
      'Upgrade the right one in the console.',
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

/** Returns the row with the manifest's version, which a person confirms by --adopt. Only the ledger changes. */
function upgradedElsewhere({ resource, live }: Context, mine: OwnedObject): Difference<InstallStep> {
  const { version } = resource.spec.model;
  return {
    ...noting(
      'install/version-adopted',
      `${resource.id} is recorded as version ${version}, because of --adopt; nothing is sent`,
    ),
    inSync: [{ ...installInSync(mine, live), lastApplied: { ...mine.lastApplied, modelVersion: version } }],
    unchangedFields: 3,
  };
}

/** Returns the rows of installs of the same model. */
function recordedInstalls({ ledgerView, resource: { spec } }: Context): readonly OwnedObject[] {
  return ledgerView.objects.filter(
    (object) => object.kind === 'StoreInstall' && object.lastApplied['modelId'] === spec.model.id,
  );
}

function missingInstall(context: Context): Difference<InstallStep> {
  const { resource, live, ledgerView, permissions } = context;
  const { spec } = resource;
  const renamed = renamedFrom(context);
  if (renamed !== undefined) return renamed;
  const recorded = recordedInstalls(context);
  const same = recorded.find((object) => object.lastApplied['store'] === spec.store);
  if (same !== undefined && !spec.allowSecondCopy) {
    return hold(
      'install/second-copy',
      `the application already has model ${spec.model.id} of Store/${spec.store}, installed as ${same.resource}; ${resource.id} would install a second copy`,
      `If it is the same install under a new name, annotate it with portolan/moved-from: ${same.naturalKey.slice('install/'.length)}. For a second copy, write allowSecondCopy: true.`,
    );
  }
  const foreign = copiesOf(live, spec.model.id) - recorded.length;
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
      `the application had ${componentsSince} components after the last install of this ledger and has ${now} now, and this server cannot list what is installed: ${resource.id} may be installed already`,
      `Make sure that it is not, then run \`portolan ledger confirm ${context.scope}\`, or apply --first-install ${context.scope}.`,
    );
  }
  if (ledgerView.scopeRecorded || now === 0) return { ...noDifference, steps: [installStep(context, [])] };
  const unknown = `this ledger has never recorded the application, it has ${stateOf(live).componentCount} components, and this server cannot list what is installed: ${resource.id} may be installed already`;
  if (!permissions.firstInstall(context.scope)) {
    return hold(
      'install/first-into-unknown',
      unknown,
      `Make sure that it is not, then run \`portolan ledger confirm ${context.scope}\` once, or apply --first-install ${context.scope}. On a terminal, apply without --yes asks.`,
    );
  }
  return { ...noDifference, steps: [installStep(context, [unknown])] };
}

/** Returns manifests whose component, named by id, is not in the application, if the server lists components. */
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
    ...noting('install/renamed', `${old.resource} is recorded under its new name ${resource.id}`),
    inSync: [{ ...installInSync(old, live), naturalKey: installKey(resource.name), replaces: old.naturalKey }],
    claims: [old.naturalKey],
  };
}

/** Returns the recorded install under the former name of this one. */
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
    `the ledger may lack installs of this application, because it was restored from a backup, is an older copy, or one was removed from it; ${context.resource.id} may be installed already`,
    `Make sure that it is not, then run \`portolan ledger confirm ${context.scope}\`.`,
  );
}

function otherSource({ resource, source }: Context, owner: OwnedObject): HoldProposal {
  return {
    code: 'source/other-owner',
    message: `${resource.id} belongs to the source "${owner.source}"; this run is for "${source}"`,
    remedy: 'Rename it, or run with the --source that owns it.',
  };
}
