import { listComponents } from './readings.ts';
import { resourceId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ComponentRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { DeferredAction } from '../../model/plan.ts';
import type { Resource } from '../../model/resource.ts';
import { type HoldProposal, type LedgerView, ledgerRecordOf, type ScopeReader } from '../reconciled.ts';
import type { ComponentSpec } from './spec.ts';

/** The component a manifest means, as far as the ledger can say. */
export type ComponentIdentity =
  | { readonly type: 'known'; readonly serviceId: string }
  | { readonly type: 'deferred'; readonly deferred: Omit<DeferredAction, 'resource'> }
  | { readonly type: 'held'; readonly hold: HoldProposal };

/** One component of an install, as the install's ledger row keeps it in `remoteAux.components`. */
export interface InstalledComponent extends JsonObject {
  readonly serviceId: string;
  readonly serviceKey: string;
  readonly k8sComponentName: string;
  /** Not in rows that an earlier version wrote. */
  readonly alias?: string;
  readonly displayName?: string;
}

/**
 * `serviceId` as it stands, or through the install's record: exactly one component with that service key, k8s component
 * name, alias or display name. An id once found stays: the ledger row of the component fixes it.
 * @param listed the components of the application, where they were read: they complete what is on record.
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

/** The component as monitoring knows it; undefined: no install of it is on record yet. */
export function monitoredId(resource: Resource<ComponentSpec>, ledgerView: LedgerView): string | undefined {
  const identity = identifyComponent(resource, ledgerView);
  return identity.type === 'known' ? identity.serviceId : undefined;
}

/** Whether a row is that of the component which a manifest with `from` means now: an earlier `from` may have meant another. */
export function isFixedBy(
  { kind, resource, naturalKey, remoteAux }: OwnedObject,
  { id, spec: { from } }: Resource<ComponentSpec>,
): boolean {
  if (kind !== 'Component' || resource !== id || !naturalKey.startsWith('component/')) return false;
  return from !== undefined && remoteAux['from'] === `${from.install}/${from.component}`;
}

/** As `identifyComponent`; asks the platform for the names only where those on record find no component. */
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

/** What the ledger keeps of an installed component, so that `from:` can find it. */
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
