import type { ControllerEvent } from '../../../model/status.ts';
import { read } from '../../api.ts';
import { type Loaded, useData } from '../../data.ts';
import type { Permission } from '../../parts/action.tsx';
import type { ApplicationDetails } from '../../../model/status.ts';

/** Returns whether an event changes what the pages of an application show. */
export function concernsApplication(name: string): (event: ControllerEvent) => boolean {
  const id = `Application/${name}`;
  return ({ application, type }) =>
    application === id || (application === null && /^(?:source|region|circuit|controller)\./.test(type));
}

/** Loads the details of an application. */
export function useApplication(name: string): Loaded<ApplicationDetails> {
  return useData(`application ${name}`, (signal) => read('/api/v1/applications/{name}', { params: { name }, signal }), {
    concerns: concernsApplication(name),
  });
}

/** Loads what the user may do with an application; undefined as long as it is unknown. */
export function usePermissions(name: string): readonly Permission[] | undefined {
  const { data } = useData(
    `permissions ${name}`,
    (signal) => read('/api/v1/whoami', { query: { application: name }, signal }),
    { concerns: () => false },
  );
  return data?.permissions;
}

/** Returns the address of a page of an application. @param rest `/plan`, or a query: `?resource=…`. */
export function addressOf(name: string, rest = ''): string {
  return `/applications/${encodeURIComponent(name)}${rest}`;
}

/** Returns the address of a resource in the tree of its application. @param part of the resource: `ports[8080]`. */
export function resourceAddress(name: string, resource: string, part?: string): string {
  const query = new URLSearchParams({ resource, ...(part === undefined ? {} : { part }) });
  return addressOf(name, `?${query.toString()}`);
}
