import { parse } from 'yaml';
import type { Part } from './kubernetes.ts';

/**
 * Applies the patches of a kustomization: `add` and `replace` of JSON patches, and the removal of an object. Where kubectl is
 * installed, a test compares the result with its own.
 * @throws Error naming what it does not know.
 */
export function patched(objects: readonly Part[], patches: readonly Part[]): readonly Part[] {
  let result = structuredClone(objects) as readonly Part[];
  for (const { target, patch } of patches) {
    const found = result.find(({ kind, metadata }) => kind === target.kind && metadata.name === target.name);
    if (found === undefined) throw new Error(`there is no ${target.kind}/${target.name}`);
    const steps = parse(patch) as Part;
    if (steps.$patch === 'delete') result = result.filter((one) => one !== found);
    else for (const step of steps) change(found, step);
  }
  return result;
}

function change(object: Part, { op, path, value }: Part): void {
  const names = (path as string).slice(1).split('/');
  const last = names.pop() ?? '';
  const parent = names.reduce((part, name) => part[name], object);
  if (op === 'add' && last === '-') parent.push(value);
  else if (op === 'replace' ? last in parent : op === 'add' && !(last in parent)) parent[last] = value;
  else throw new Error(`${op} ${path} cannot be done`);
}
