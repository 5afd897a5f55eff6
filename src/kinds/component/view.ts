import type { ComponentRecord, PortRecord } from './wire.ts';
import type { Resource } from '../../model/resource.ts';
import type { ShownLine } from '../../model/shown.ts';
import { type KindView, type ManagedValue, resourceLine, resourcesOf, type ViewContext } from '../view.ts';
import { listComponents, listPorts } from './readings.ts';
import { isFixedBy } from './identity.ts';
import type { ComponentLive } from './live.ts';
import { COMPONENT } from './name.ts';
import { MANAGED } from './port-diff.ts';
import type { ComponentSpec } from './spec.ts';
import { componentKey, portKey } from './steps.ts';

export const componentView: KindView = {
  noun: 'component',
  fields({ spec }, objects) {
    const { ports, serviceName } = spec as ComponentSpec;
    const appliedTo = (isMeant: (key: string) => boolean) =>
      objects.find(({ naturalKey, state }) => isMeant(naturalKey) && state !== 'gone')?.lastApplied ?? {};
    const name: readonly ManagedValue[] =
      serviceName === undefined
        ? []
        : [
            {
              path: 'serviceName',
              desired: serviceName,
              lastApplied: appliedTo((key) => key.startsWith(componentKey('')))['serviceName'],
            },
          ];
    return [
      ...name,
      ...ports.flatMap((port): readonly ManagedValue[] => {
        const applied = appliedTo((key) => key.startsWith('port/') && key.endsWith(`/${port.port}`));
        return MANAGED.flatMap((field): readonly ManagedValue[] => {
          const desired = port[field];
          if (desired === undefined) return [];
          return [{ path: `ports[${port.port}].${field}`, desired, lastApplied: applied[field] }];
        });
      }),
    ];
  },
  async lines(context) {
    const { reader } = context;
    const components = await componentsOf(context);
    const found = await Promise.all(
      components.map(async (component) => {
        const { serviceId } = component;
        return portLines(
          component,
          serviceId === undefined
            ? []
            : ((await reader.read(listPorts(serviceId), `ports of component ${serviceId}`)) ?? []),
        );
      }),
    );
    return [...components.map((component) => componentLine(component, context)), ...found.flat()];
  },
};

/** A component of a manifest, or one that the platform lists. */
export interface ShownComponent {
  /** undefined until its install created it. */
  readonly serviceId: string | undefined;
  readonly resource?: Resource<ComponentSpec>;
  readonly record?: ComponentRecord;
}

/** Returns every component of the application, from manifests and from the platform. */
export async function componentsOf(context: ViewContext): Promise<readonly ShownComponent[]> {
  const named = resourcesOf<ComponentSpec>(COMPONENT, context).map((resource) => ({
    resource,
    serviceId: serviceIdOf(resource, context),
  }));
  const known = new Set(named.map(({ serviceId }) => serviceId));
  const others = ((await context.reader.read(listComponents, 'components that no manifest names')) ?? []).filter(
    ({ serviceId }) => !known.has(serviceId),
  );
  return [...named, ...others.map((record) => ({ serviceId: record.serviceId, record }))];
}

function serviceIdOf(resource: Resource<ComponentSpec>, { live, ledgerView }: ViewContext): string | undefined {
  const seen = live.get(resource.id) as ComponentLive | undefined;
  if (seen?.type === 'observed') return seen.serviceId;
  return (
    resource.spec.serviceId ?? ledgerView.objects.find((object) => isFixedBy(object, resource))?.remoteId ?? undefined
  );
}

export function keyOfComponent({ serviceId, resource }: ShownComponent): string {
  return serviceId === undefined ? (resource?.id ?? '') : componentKey(serviceId);
}

/** Returns the key of a port; it exists before the id of the component is known. */
export function keyOfPort({ serviceId, resource }: ShownComponent, port: number): string {
  return portKey(serviceId ?? resource?.id ?? '', port);
}

function componentLine(component: ShownComponent, { ledgerView }: ViewContext): ShownLine {
  const { serviceId, resource, record } = component;
  const key = keyOfComponent(component);
  if (resource !== undefined) {
    const { from } = resource.spec;
    const facts = serviceId ?? (from === undefined ? '' : `${from.component} of ${from.install}`);
    return {
      ...resourceLine('component', resource),
      key,
      below: from === undefined ? [] : [`install/${from.install}`],
      facts,
    };
  }
  const group = record?.installGroupId ? String(record.installGroupId) : undefined;
  const install = ledgerView.objects.find(
    ({ remoteId, naturalKey }) => remoteId === group && naturalKey.startsWith('install/'),
  );
  return {
    type: 'component',
    key,
    below: group === undefined || install === undefined ? [] : [install.naturalKey],
    name: `component ${record?.displayName ?? (record?.k8sComponentName || record?.alias)}`,
    facts: serviceId ?? '',
  };
}

function portLines(component: ShownComponent, seen: readonly PortRecord[]): readonly ShownLine[] {
  const wanted = component.resource?.spec.ports ?? [];
  const missing = wanted.filter(({ port }) => !seen.some((record) => record.port === port));
  return [
    ...seen.map((record) => portLine(component, record)),
    ...missing.map((port) => portLine(component, port, { isMissing: true })),
  ];
}

function portLine(
  component: ShownComponent,
  record: PortFacts & { readonly port: number },
  missing: Pick<ShownLine, 'isMissing'> = {},
): ShownLine {
  const { port } = record;
  const { resource } = component;
  return {
    ...portShell(component, port),
    facts: portFacts(record),
    ...(resource === undefined
      ? {}
      : {
          resource: resource.id,
          part: `ports[${port}]`,
          ...missing,
          ...(resource.spec.ports.some((wanted) => wanted.port === port) ? {} : unlisted(resource)),
        }),
  };
}

function unlisted({ spec }: Resource<ComponentSpec>): Pick<ShownLine, 'state' | 'reason'> {
  const reason = spec.unlistedPorts === 'keep' ? '' : `unlistedPorts: ${spec.unlistedPorts}`;
  return { state: 'not-in-manifests', reason };
}

/** Returns the line of a port that is known only because a rule leads to it. */
export function portStandIn(component: ShownComponent, port: number): ShownLine {
  return {
    ...portShell(component, port),
    isStandIn: true,
    ...(component.resource === undefined ? {} : { state: 'unknown' }),
  };
}

function portShell(component: ShownComponent, port: number): ShownLine {
  return {
    type: 'port',
    key: keyOfPort(component, port),
    below: [keyOfComponent(component)],
    rank: port,
    name: `port ${port}`,
    facts: '',
  };
}

type PortFacts = Partial<Pick<PortRecord, 'protocol' | 'alias' | 'inner' | 'outer'>>;

/** Returns the known facts of a port: `http WEB, inner and outer`. */
function portFacts({ protocol, alias, inner, outer }: PortFacts): string {
  const name = [protocol, alias].filter((part) => part !== undefined && part !== '').join(' ');
  const open = [inner === true ? 'inner' : '', outer === true ? 'outer' : '']
    .filter((part) => part !== '')
    .join(' and ');
  const access = open === '' && inner === false ? 'closed' : open;
  return [name, access].filter((part) => part !== '').join(', ');
}
