import { resourceId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { DeferredAction } from '../../model/plan.ts';
import type { Resource } from '../../model/resource.ts';
import { type HoldProposal, type Memory, remembered } from '../reconciled.ts';
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
}

/**
 * `serviceId` as it stands, or through the install's record: exactly one match on the service key, then on the
 * k8s component name. An id once found stays: the ledger row of the component fixes it.
 */
export function identifyComponent(resource: Resource<ComponentSpec>, memory: Memory): ComponentIdentity {
  const { spec } = resource;
  if (spec.serviceId !== undefined) return { type: 'known', serviceId: spec.serviceId };
  const from = spec.from;
  if (from === undefined) throw new Error(`${resource.id} has neither serviceId nor from: the schema forbids that`);
  const fixed = memory.objects.find(
    (object) =>
      object.kind === 'Component' && object.resource === resource.id && object.naturalKey.startsWith('component/'),
  );
  if (fixed?.remoteId && fixed.remoteAux['from'] === `${from.install}/${from.component}`)
    return { type: 'known', serviceId: fixed.remoteId };

  const install = remembered(memory, 'StoreInstall', `install/${from.install}`);
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
  const components = (install.remoteAux['components'] ?? []) as readonly InstalledComponent[];
  const byKey = components.filter((component) => component.serviceKey === from.component);
  const matches =
    byKey.length > 0 ? byKey : components.filter((component) => component.k8sComponentName === from.component);
  const only = matches[0];
  if (only !== undefined && matches.length === 1) return { type: 'known', serviceId: only.serviceId };
  const offered = components.map(
    (component) => `${component.serviceKey} (${component.k8sComponentName}, ${component.serviceId})`,
  );
  return {
    type: 'held',
    hold: {
      code: 'component/ambiguous-install-component',
      message: `${matches.length === 0 ? 'no component' : `${matches.length} components`} of ${waitsFor} ${matches.length === 0 ? 'matches' : 'match'} "${from.component}"; it has: ${offered.join(', ') || 'none on record'}`,
      remedy:
        components.length === 0
          ? `Write the component's id (the platform's console shows it) as spec.serviceId of ${resource.id}, in place of spec.from.`
          : `Name the component exactly in spec.from.component of ${resource.id}, or write its id as spec.serviceId.`,
      changes: [],
    },
  };
}
