import { useEffect } from 'preact/hooks';
import { conditionOf } from '../../../controller/application-state.ts';
import type { ControllerEvent } from '../../../model/status.ts';
import { read } from '../../api.ts';
import { after } from '../../clock.ts';
import { type Loaded, useData } from '../../data.ts';
import type { Permission } from '../../parts/action.tsx';
import type { ApplicationDetails } from '../../../model/status.ts';

/** The time between two looks at an application whose pass is in progress. */
const PASS_CHECK_MS = 3_000;

/** Returns whether an event changes what the pages of an application show. */
export function concernsApplication(name: string): (event: ControllerEvent) => boolean {
  const id = `Application/${name}`;
  return ({ application, type }) =>
    application === id || (application === null && /^(?:source|region|circuit|controller)\./.test(type));
}

/** Loads the details of an application. */
export function useApplication(name: string): Loaded<ApplicationDetails> {
  const loaded = useData(
    `application ${name}`,
    (signal) => read('/api/v1/applications/{name}', { params: { name }, signal }),
    { concerns: concernsApplication(name) },
  );
  const { data, reload } = loaded;
  // A pass that changes nothing ends without an event.
  useEffect(() => (data !== undefined && hasPassInProgress(data) ? after(PASS_CHECK_MS, reload) : undefined), [data]);
  return loaded;
}

function hasPassInProgress(details: ApplicationDetails): boolean {
  return conditionOf(details, 'Reconciling')?.reason === 'Running';
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
