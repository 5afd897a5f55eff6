import type { OwnedObject } from '../../model/owned.ts';
import { componentMemory } from '../component/identity.ts';
import { type Difference, noting } from '../reconciled.ts';
import { groupsOf } from './evidence.ts';
import { asked, type InstallContext as Context, type InstallLive } from './live.ts';
import { hold } from './holds.ts';
import { installKey, type InstallStep } from './steps.ts';

/** Returns a note on an installed model. Without a ledger, its manifest and its version are unknown. */
export function presumedInstall({ resource }: Context): Difference<InstallStep> {
  const { model } = resource.spec;
  return {
    ...noting(
      'install/presumed',
      `the application has model ${model.id} installed; without a ledger that counts as ${resource.id}, and its version is unknown`,
    ),
    unchangedFields: 1,
  };
}

export function foreignInstall(context: Context, foreign: number): Difference<InstallStep> {
  const { resource, live, permissions, ledgerView } = context;
  const { spec } = resource;
  const what = `the application already has ${foreign === 1 ? 'an install' : `${foreign} installs`} of model ${spec.model.id} that this ledger does not know`;
  if (!permissions.adopt(resource.id)) {
    return hold(
      'install/not-ours',
      `${what}; ${resource.id} would install another copy`,
      `Run apply --adopt ${resource.id} if it is this install, or write allowSecondCopy: true.`,
    );
  }
  // If there are several groups, some are of other models: the install is clear, but its components are unknown.
  const [first, second] = foreignGroups(live, ledgerView.objects, spec.model.id);
  const only = second === undefined ? first : undefined;
  if (foreign > 1)
    return hold(
      'install/ambiguous-adoption',
      `${what}, and it is not clear which one ${resource.id} means`,
      'Remove the others in the console first.',
    );
  const components =
    asked(live.components) && only !== undefined
      ? live.components.value.filter((component) => component.installGroupId === only).map(componentMemory)
      : [];
  return {
    ...noting(
      'install/adopted',
      `${resource.id} is adopted unchanged, with ${components.length} components${only === undefined ? '; its components could not be identified' : ''}`,
    ),
    inSync: [
      {
        naturalKey: installKey(resource.name),
        remoteId: only === undefined ? null : String(only),
        remoteAux: { components },
        origin: 'adopted',
        state: 'present',
        lastApplied: { store: spec.store, modelId: spec.model.id, modelVersion: spec.model.version },
        obligation: null,
      },
    ],
  };
}

function foreignGroups(live: InstallLive, objects: readonly OwnedObject[], modelId: string): number[] {
  const ours = new Set(objects.filter((object) => object.kind === 'StoreInstall').map((object) => object.remoteId));
  const named = asked(live.installed)
    ? live.installed.value
        .filter((copy) => copy.modelId === modelId && copy.installGroupId !== null)
        .map((copy) => copy.installGroupId as number)
    : [];
  const seen = asked(live.components) ? groupsOf(live.components.value) : [];
  return [...new Set(named.length > 0 ? named : seen)].filter((group) => !ours.has(String(group)));
}
