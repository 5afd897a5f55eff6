import type { Memory } from '../kinds/reconciled.ts';
import type { ReconciledKinds } from '../kinds/define.ts';
import type { ResourceId } from '../model/ids.ts';
import type { ScopePlan } from '../model/plan.ts';
import { planScope } from '../plan/plan-scope.ts';
import type { ReadApplication } from './read-application.ts';
import type { Work } from './reconcile.ts';

/** Nothing on record, as before a first apply. */
const NOTHING: Memory = { known: true, scopeRecorded: false, restored: false, objects: [] };

/**
 * Plans manifests against what they were written from, as `plan --adopt` does with an empty ledger, and by the same
 * reads: an empty plan proves that the manifests match the platform and that Portolan can manage it.
 * @param reader has the answers that the manifests were written from, and asks the platform for the rest.
 * @throws PortolanError where a read fails that the plan needs.
 */
export async function planExported(
  kinds: ReconciledKinds,
  { application, resources }: Work,
  { live, reader }: ReadApplication,
  source: string,
  nowMs: number,
): Promise<ScopePlan> {
  await reader.application();
  const observed = await Promise.all(
    [...resources.values()].map(async (resource): Promise<[ResourceId, unknown]> => {
      const kind = kinds.get(resource.kind);
      if (kind === undefined) throw new Error(`${resource.id} is of a kind that is not reconciled`);
      return [resource.id, await kind.calls.observe({ resource, siblings: resources, memory: NOTHING, reader, nowMs })];
    }),
  );
  const { plan } = planScope({
    kinds,
    application: application.id,
    scope: live.scope,
    source,
    resources,
    live: new Map(observed),
    withdrawal: new Map(),
    memory: NOTHING,
    permissions: { adopt: () => true, adoptNamed: () => false, prune: false, firstInstall: () => true },
    targets: undefined,
    inDoubt: [],
    nowMs,
  });
  return plan;
}
