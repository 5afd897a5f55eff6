import { hash } from 'node:crypto';
import { canonicalJson, type Json } from '../model/json.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { Resource } from '../model/resource.ts';

/** Name in `remoteAux` of the wish that failed. */
const FAILED_WISH = 'failedWish';

/** One more write for an object that was refused or did not take. Another wish than the one that failed counts anew. */
export function withFailure(object: OwnedObject, resource: Resource | undefined): OwnedObject {
  const failures = failuresOf(object, resource) + 1;
  return { ...object, failures, remoteAux: { ...object.remoteAux, [FAILED_WISH]: wishOf(resource) } };
}

/** How often in a row what its manifest says now was refused or did not take. */
export function failuresOf(object: OwnedObject, resource: Resource | undefined): number {
  const failed = object.remoteAux[FAILED_WISH];
  return failed === undefined || failed === wishOf(resource) ? object.failures : 0;
}

function wishOf(resource: Resource | undefined): string {
  const spec = resource === undefined ? null : (resource.spec as Json);
  return hash('sha256', canonicalJson(spec)).slice(0, 16);
}
