import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { groupByApplication } from '../../src/manifest/group.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import type { Work } from '../../src/reconcile/reconcile.ts';

const SHOP = join(import.meta.dirname, '../../examples/shop');

/** The example shop, loaded as every command loads manifests. */
export function exampleWork(): Work {
  const files = readdirSync(SHOP).map((name) => ({ path: name, content: readFileSync(join(SHOP, name), 'utf8') }));
  const { desired, problems } = loadManifests({
    kinds: kindDeclarations,
    files,
    operator: { platforms: new Set(['default']), stores: new Set(['main']) },
  });
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const [group] = groupByApplication(desired);
  if (group === undefined) throw new Error('the example has an application');
  return {
    application: group.application,
    resources: new Map(group.resources.map((resource) => [resource.id, resource])),
  };
}
