import { listComponents } from './readings.ts';
import { resourceId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ComponentRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { DeferredAction } from '../../model/plan.ts';
import type { Resource } from '../../model/resource.ts';
import { type HoldProposal, type LedgerView, ledgerRecordOf, type ScopeReader } from '../reconciled.ts';
import type { ComponentSpec } from './spec.ts';

/** The component of a manifest, as far as the ledger knows it. */
export type ComponentIdentity =
  | { readonly type: 'known'; readonly serviceId: string }
  | { readonly type: 'deferred'; readonly deferred: Omit<DeferredAction, 'resource'> }
  | { readonly type: 'held'; readonly hold: HoldProposal };

/** A component of an install, in the form of `remoteAux.components` of the install's ledger row. */
export interface InstalledComponent extends JsonObject {
  readonly serviceId: string;
  readonly serviceKey: string;
  readonly k8sComponentName: string;
  /** Absent in rows of earlier versions. */
  readonly alias?: string;
  readonly displayName?: string;
}

/**
 * Returns the component of a manifest by its `serviceId`, or by the install's row: exactly one component must have the service
 * key, k8s component name, alias or display name. An id that was found once stays: the ledger row of the component fixes it.
 * @param listed the components of the application, if they were read: they complete the row.
 */
export function identifyComponent(
  resource: Resource<ComponentSpec>,
  ledgerView: LedgerView,
  listed: readonly ComponentRecord[] = [],
): ComponentIdentity {
  const { spec } = resource;
  if (spec.serviceId !== undefined) return { type: 'known', serviceId: spec.serviceId };
  const from = spec.from;
  if (from === undefined) throw new Error(`${resource.id} has neither serviceId nor from: the schema forbids that`);
  const fixed = ledgerView.objects.find((object) => isFixedBy(object, resource));
  if (fixed?.remoteId) return { type: 'known', serviceId: fixed.remoteId };

  const install = ledgerRecordOf(ledgerView, 'StoreInstall', `install/${from.install}`);
  const waitsFor = resourceId('StoreInstall', from.install);
  if (install === undefined || install.state !== 'present' || install.remoteAux['awaitingSinceMs'] !== undefined) {
    return {
      type: 'deferred',
      deferred: {
        waitsFor,
        desired: JSON.parse(JSON.stringify(spec)) as JsonObject,
        summary: `after ${waitsFor}, set the ports of its component ${from.component}: ${spec.ports.map((port) => port.port).join(', ')}`,
      },
    };
  }
  const components = componentsOf(install, listed);
  const matches = components.filter((component) => namesOf(component).includes(from.component));
  const only = matches[0];
  if (only !== undefined && matches.length === 1) return { type: 'known', serviceId: only.serviceId };
  return { type: 'held', hold: noMatch(resource, waitsFor, from.component, components, matches) };
}

/** Returns the id of the component in monitoring; undefined: its install is not recorded yet. */
export function monitoredId(resource: Resource<ComponentSpec>, ledgerView: LedgerView): string | undefined {
  const identity = identifyComponent(resource, ledgerView);
  return identity.type === 'known' ? identity.serviceId : undefined;
}

/** Returns whether a row belongs to the component of a manifest with `from`. A row of an earlier `from` does not. */
export function isFixedBy(
  { kind, resource, naturalKey, remoteAux }: OwnedObject,
  { id, spec: { from } }: Resource<ComponentSpec>,
): boolean {
  if (kind !== 'Component' || resource !== id || !naturalKey.startsWith('component/')) return false;
  return from !== undefined && remoteAux['from'] === `${from.install}/${from.component}`;
}

/** Calls `identifyComponent`, and reads names from the platform only if the recorded names find no component. */
export async function findComponent(
  resource: Resource<ComponentSpec>,
  ledgerView: LedgerView,
  reader: Pick<ScopeReader, 'read'>,
): Promise<ComponentIdentity> {
  const identity = identifyComponent(resource, ledgerView);
  if (identity.type !== 'held') return identity;
  const listed = await reader.read(listComponents);
  return listed.readable ? identifyComponent(resource, ledgerView, listed.value) : identity;
}

/** Returns the facts of an installed component that the ledger keeps, so that `from:` finds it. */
export function componentMemory(component: ComponentRecord): InstalledComponent {
  const { serviceId, serviceKey, k8sComponentName, alias, displayName } = component;
  return { serviceId, serviceKey, k8sComponentName, alias, ...(displayName === null ? {} : { displayName }) };
}

function componentsOf({ remoteId, remoteAux }: OwnedObject, listed: readonly ComponentRecord[]): InstalledComponent[] {
  const recorded = (remoteAux['components'] ?? []) as readonly InstalledComponent[];
  const current = listed.filter(
    ({ serviceId, installGroupId }) =>
      recorded.some((component) => component.serviceId === serviceId) ||
      (recorded.length === 0 && remoteId !== null && String(installGroupId) === remoteId),
  );
  const isCurrent = (id: string): boolean => current.some(({ serviceId }) => serviceId === id);
  return [...recorded.filter(({ serviceId }) => !isCurrent(serviceId)), ...current.map(componentMemory)];
}

function namesOf({ serviceKey, k8sComponentName, alias, displayName }: InstalledComponent): readonly string[] {
  return [serviceKey, k8sComponentName, alias ?? '', displayName ?? ''].filter((name) => name !== '');
}

function noMatch(
  { id }: Resource,
  install: string,
  wanted: string,
  components: readonly InstalledComponent[],
  matches: readonly InstalledComponent[],
): HoldProposal {
  const candidates = matches.length === 0 ? components : matches;
  const offered = candidates.map((component) => {
    const { serviceKey, k8sComponentName, alias, displayName, serviceId } = component;
    const others = [k8sComponentName, alias ?? '', displayName ? JSON.stringify(displayName) : '', serviceId];
    return `${serviceKey} (${others.filter((name) => name !== '').join(', ')})`;
  });
  return {
    code: 'component/ambiguous-install-component',
    message: `${matches.length === 0 ? 'no component' : `${matches.length} components`} of ${install} ${matches.length === 0 ? 'matches' : 'match'} "${wanted}"; ${matches.length === 0 ? 'it has' : 'these do'}: ${offered.join(', ') || 'none on record'}`,
    remedy:
      components.length === 0
        ? `Write the component's id (the platform's console shows it) as spec.serviceId of ${id}, in place of spec.from.`
        : `Write a key, alias or name that only one of them has in spec.from.component of ${id}, or its id as spec.serviceId.`,
  };
}
