import type { Declarations } from '../kinds/kind.ts';
import { API_VERSION } from '../kinds/schema.ts';
import type { Json } from '../model/json.ts';
import type { Resource } from '../model/resource.ts';
import { sortProblems } from './fault.ts';
import { FileCache } from './file-cache.ts';
import { readFile } from './file.ts';
import { combine, type LoadedManifests } from './load.ts';
import type { OperatorNames } from './relations.ts';

/**
 * Checks resources that came out of manifests once and were kept somewhere since: by every rule that manifests are
 * checked by, for nobody knows who had them meanwhile. Values stand as they are; `${NAME}` means nothing in them.
 * @param file where they were kept, for the places of faults.
 * @returns the resources in the given order, with their own places.
 */
export function recheckResources(
  kinds: Declarations,
  resources: readonly Resource[],
  file: string,
  operator: OperatorNames | undefined,
): LoadedManifests {
  const files = resources.map((resource) => ({ path: `${file} (${resource.id})`, content: textOf(resource) }));
  const readings = files.map(({ content }) => readFile(content, { trust: 'manifest', kinds }));
  const { set, problems } = combine(files, readings, { kinds, trust: 'manifest', operator, cache: new FileCache() });
  if (problems.length > 0) return { desired: new Map(), problems: sortProblems(problems) };
  const kept = resources.flatMap(({ id, position }) => {
    const resource = set.get(id);
    return resource === undefined ? [] : [[id, { ...resource, position }] as const];
  });
  return { desired: new Map(kept), problems: [] };
}

/** JSON is YAML. */
function textOf({ kind, name, labels, annotations, spec }: Resource): string {
  const document = { apiVersion: API_VERSION, kind, metadata: { name, labels, annotations }, spec: spec as Json };
  return JSON.stringify(document, null, 1);
}
