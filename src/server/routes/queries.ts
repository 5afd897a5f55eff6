import type { ControllerApi } from '../../controller/api.ts';
import { nearest } from '../../manifest/suggest.ts';
import { type ResourceId, resourceId } from '../../model/ids.ts';
import { pageSchema } from '../../model/schema-words.ts';
import type { ApplicationDetails, ApplicationStatus } from '../../model/status.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, type PageQuery } from '../paging.ts';
import { refusal, type RequestProblem } from '../problem.ts';
import type { Call, Route } from '../route.ts';

/** Query parameters that all lists share. */
export const pageQuery = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: LIMIT_MAX,
    default: LIMIT_DEFAULT,
    description: 'The maximum number of items.',
  },
  cursor: { type: 'string', maxLength: 1024, description: 'nextCursor of the previous page.' },
} as const;

export const applicationQuery = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  description: 'Only the application of this name.',
} as const;

export const resourceQuery = {
  type: 'string',
  minLength: 3,
  maxLength: 512,
  pattern: '^[A-Za-z]+/[^/]+$',
  description: 'Only the resource of this id: Component/shop-web.',
} as const;

export const conditionQuery = {
  type: 'array',
  maxItems: 8,
  items: {
    type: 'string',
    maxLength: 64,
    pattern: '^(Ready|Reconciling|Stalled|Healthy)(!?=(True|False|Unknown))?$',
  },
  description:
    'Only items with this condition: Ready=True, Ready!=True, or Ready, which means Ready=True. All conditions must hold.',
} as const;

export const labelQuery = {
  type: 'array',
  maxItems: 16,
  items: { type: 'string', minLength: 1, maxLength: 1300 },
  description: 'Only items with this label: env=prod, or env for any value. All labels must match.',
} as const;

/** The query of a list, of which each route allows a part. */
export interface ListQuery extends PageQuery {
  readonly application?: string;
  readonly resource?: ResourceId;
  readonly condition?: readonly string[];
  readonly label?: readonly string[];
}

/**
 * Returns a filter of lists.
 * @param conditions, labels match the two schemas above.
 */
export function filterOf(conditions: readonly string[] = [], labels: readonly string[] = []) {
  const wantedConditions = conditions.map((text) => {
    const [type = '', status = 'True'] = text.split(/!?=/);
    return { type, status, isNot: text.includes('!=') };
  });
  const wantedLabels = labels.map((text) => /^([^=]*)(?:=(.*))?$/s.exec(text) ?? []);
  return (of: Pick<ApplicationDetails, 'conditions' | 'labels'>): boolean =>
    wantedLabels.every(
      ([, key = '', value]) => Object.hasOwn(of.labels, key) && (value === undefined || of.labels[key] === value),
    ) &&
    wantedConditions.every(({ type, status, isNot }) => {
      // A condition that was never set counts as Unknown.
      const is = of.conditions.find((condition) => condition.type === type)?.status ?? 'Unknown';
      return (is === status) !== isNot;
    });
}

/** Returns the schema of an answer that is one page of a list. */
export function partOf(item: string): Route['answers'] {
  return { 200: { description: 'A page of the list.', schema: pageSchema(item) } };
}

/** Returns the application with a name. @throws RequestProblem 404 that suggests a similar name. */
export function applicationNamed(api: ControllerApi, name: string | undefined): ApplicationStatus {
  const found = api.application(`Application/${name ?? ''}`);
  if (found !== undefined) return found;
  const names = api.applications().map(({ id }) => id.slice('Application/'.length));
  const meant = nearest(name ?? '', names);
  const list = 'GET /api/v1/applications (portolan status --server) lists all applications.';
  throw refusal(404, 'controller/unknown-application', {
    detail: `No application is called ${name ?? ''}. Nothing was done.`,
    remedy: meant === undefined ? list : `Did you mean ${meant}? ${list}`,
  });
}

/** Returns the resource in the path of a request. */
export function resourceOf({ params }: Pick<Call, 'params'>): ResourceId {
  return resourceId(params['kind'] ?? '', params['resource'] ?? '');
}

/** Returns the error for a resource that neither the manifests of an application nor the ledger have. */
export function noSuchResource(application: ResourceId, resource: ResourceId): RequestProblem {
  return refusal(404, 'controller/unknown-resource', {
    detail: `${application} has no resource ${resource}. Nothing was done.`,
    remedy: 'GET /api/v1/applications/{name}/resources lists its resources.',
  });
}

/** Returns the error for a resource that no manifest has, so that its application is not known. */
export function noApplicationOf(resource: ResourceId): RequestProblem {
  return refusal(404, 'controller/unknown-resource', {
    detail: `No manifest of the source has ${resource}.`,
    remedy:
      'Name its application too: ?application=NAME. The history of a removed resource stays with its application.',
  });
}
