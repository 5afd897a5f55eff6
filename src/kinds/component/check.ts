import type { Resource } from '../../model/resource.ts';
import { applicationKey, applicationOf } from '../application/check.ts';
import type { Identity, OtherResources, SpecProblem } from '../kind.ts';
import { repeats } from '../problems.ts';
import type { StoreInstallSpec } from '../store-install/spec.ts';
import type { ComponentSpec, PortSpec } from './spec.ts';

/** Checks one Component, also against the StoreInstall that it comes from. */
export function checkComponent(resource: Resource<ComponentSpec>, set: OtherResources): readonly SpecProblem[] {
  const { spec } = resource;
  return [...portProblems(spec.ports), ...installProblems(spec, set)];
}

function portProblems(ports: readonly PortSpec[]): readonly SpecProblem[] {
  const numbers = repeats(ports.map(({ port }) => port));
  const aliases = repeats(ports.map(({ alias }) => alias));
  return [
    ...numbers.map(({ value, index, first }) => ({
      code: 'component/duplicate-port',
      path: `spec.ports[${index}].port`,
      message: `port ${value} is already listed as ports[${first}]`,
      expected: 'one entry per port number',
      hint: 'merge the two entries',
    })),
    ...aliases.map(({ value, index, first }) => ({
      code: 'component/duplicate-alias',
      path: `spec.ports[${index}].alias`,
      message: `alias ${value} is already that of port ${ports[first]?.port}`,
      expected: 'an alias of its own for each port: it becomes the prefix of environment variables',
    })),
    ...ports.flatMap(({ port, inner, outer }, index) =>
      outer === true && inner === false
        ? [
            {
              code: 'component/outer-without-inner',
              path: `spec.ports[${index}].outer`,
              message: `port ${port} is open outside (outer: true) but closed inside (inner: false)`,
              expected: 'inner: true, because the platform opens outer access only where inner access is open',
            },
          ]
        : [],
    ),
  ];
}

function installProblems(spec: ComponentSpec, set: OtherResources): readonly SpecProblem[] {
  if (spec.from === undefined) return [];
  const install = set.get(`StoreInstall/${spec.from.install}`)?.spec as StoreInstallSpec | undefined;
  if (install === undefined || install.application === spec.application) return [];
  return [
    {
      code: 'component/other-application',
      path: 'spec.from.install',
      message: `StoreInstall/${spec.from.install} installs into application ${install.application}, this component is in ${spec.application}`,
      expected: 'an install of the same application',
    },
  ];
}

/** Claims one manifest for each component of an application, and one component for each service name of a team. */
export function componentIdentities(resource: Resource<ComponentSpec>, set: OtherResources): readonly Identity[] {
  const { spec } = resource;
  const application = applicationOf(set, spec.application);
  if (application === undefined) return [];
  const identities: Identity[] = [];
  const scope = applicationKey(application);
  if (spec.serviceId !== undefined) {
    identities.push({ key: `component ${spec.serviceId} of ${scope}`, path: 'spec.serviceId' });
  }
  if (spec.from !== undefined) {
    const { install, component } = spec.from;
    identities.push({ key: `component ${component} of StoreInstall/${install}`, path: 'spec.from.component' });
  }
  if (spec.serviceName !== undefined) {
    const team = `${application.platform}/${application.team}/${application.region}`;
    identities.push({ key: `service name ${spec.serviceName} in ${team}`, path: 'spec.serviceName' });
  }
  return identities;
}
