import type { JsonObject } from '../../model/json.ts';
import type { ComponentRecord } from '../../model/observed.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { componentMemory } from '../component/identity.ts';
import type { Recording } from '../reconciled.ts';
import { installKey, type InstallStep } from './steps.ts';

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

/** The row of an install of ours after an upgrade: the ledger alone knows the version, the server reports the old one. */
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

/** The install groups that components belong to, in ascending order. */
export function groupsOf(components: readonly ComponentRecord[]): number[] {
  return [
    ...new Set(components.flatMap((component) => (component.installGroupId ? [component.installGroupId] : []))),
  ].sort((left, right) => left - right);
}
