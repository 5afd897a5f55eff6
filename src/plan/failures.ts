import { hash } from 'node:crypto';
import { canonicalJson, type Json } from '../model/json.ts';
import { type OwnedObject, REFUSAL, type Refused } from '../model/owned.ts';
import type { Resource } from '../model/resource.ts';

/** Name in `remoteAux` of the wish that failed. */
const FAILED_WISH = 'failedWish';

/**
 * One more write for an object that was refused or did not take. Another wish than the one that failed counts anew.
 * @param refusal of the platform; absent where it accepted the write without effect.
 */
export function withFailure(object: OwnedObject, resource: Resource | undefined, refusal?: Refused): OwnedObject {
  const failures = failuresOf(object, resource) + 1;
  const { [REFUSAL]: _former, ...aux } = object.remoteAux;
  return {
    ...object,
    failures,
    remoteAux: { ...aux, [FAILED_WISH]: wishOf(resource), ...(refusal === undefined ? {} : { [REFUSAL]: refusal }) },
  };
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
