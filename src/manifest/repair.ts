import { pointerSteps } from './paths.ts';
import type { SchemaError } from './validate.ts';
import type { Value } from './values.ts';

/**
 * Takes what is at fault out of a document, so that the rules of its kind can look at the rest in the same run. Works on
 * a copy.
 * @returns `undefined` where the rest would mean something else: when a list would be renumbered, or a default would
 * take the place of what was removed.
 */
export function withoutFaults(value: Value, errors: readonly SchemaError[]): Value | undefined {
  const copy = structuredClone(value);
  for (const error of errors) {
    if (error.keyword === 'required' || error.keyword === 'oneOf') return undefined;
    if (error.keyword !== 'additionalProperties' && error.parentSchema?.['default'] !== undefined) return undefined;
    const steps = [...pointerSteps(error.instancePath)];
    if (error.keyword === 'additionalProperties') steps.push(String(error.params['additionalProperty']));
    if (!remove(copy, steps)) return undefined;
  }
  return copy;
}

function remove(root: Value, steps: readonly string[]): boolean {
  const last = steps.at(-1);
  let parent: Value | undefined = root;
  for (const step of steps.slice(0, -1)) {
    // Already gone, with a fault above it.
    if (typeof parent !== 'object' || parent === null) return true;
    parent = (parent as { readonly [key: string]: Value })[step];
  }
  if (last === undefined || Array.isArray(parent)) return false;
  if (typeof parent === 'object' && parent !== null) delete parent[last];
  return true;
}
