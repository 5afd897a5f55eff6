import type { LiveApplication } from '../kinds/export.ts';
import type { Memory, ScopeReader } from '../kinds/reconciled.ts';
import { reconciledKinds } from '../kinds/registry.ts';
import type { ResourceId } from '../model/ids.ts';
import type { ScopePlan } from '../model/plan.ts';
import { planScope } from '../plan/plan-scope.ts';
import type { Work } from './reconcile.ts';

/** Nothing on record, as before a first apply. */
const NOTHING: Memory = { known: true, scopeRecorded: false, restored: false, objects: [] };

/**
 * Plans manifests against what they were written from, as `plan --adopt` would with an empty ledger. No request: what was
 * read is all there is. An empty plan proves that the manifests say what is there.
 */
export async function planExported(
  { application, resources }: Work,
  live: LiveApplication,
  source: string,
  nowMs: number,
): Promise<ScopePlan> {
  const reader = readerOf(live);
  const observed = await Promise.all(
    [...resources.values()].map(async (resource): Promise<[ResourceId, unknown]> => {
      const kind = reconciledKinds.get(resource.kind);
      if (kind === undefined) throw new Error(`${resource.id} is of a kind that is not reconciled`);
      return [resource.id, await kind.calls.observe({ resource, siblings: resources, memory: NOTHING, reader })];
    }),
  );
  const { plan } = planScope({
    application: application.id,
    scope: live.scope,
    source,
    resources,
    live: new Map(observed),
    withdrawal: { rules: live.rules, ports: new Map(), canDeleteRules: false },
    memory: NOTHING,
    permissions: { adopt: () => true, prune: false, firstInstall: true },
    targets: undefined,
    inDoubt: [],
    nowMs,
  });
  return plan;
}

function readerOf({ components, rules, installed }: LiveApplication): ScopeReader {
  const records = components.flatMap(({ record }) => record ?? []);
  return {
    ports: async (serviceId) => components.find((component) => component.serviceId === serviceId)?.ports,
    rules: async () => rules,
    components: async () =>
      records.length === components.length ? { readable: true, value: records } : { readable: false },
    installed: async () => (installed === 'not-asked' ? { readable: false } : installed),
    // How it runs decides nothing about what was adopted as it is.
    application: async () => ({ status: 'unknown', componentCount: components.length, runningComponentCount: 0 }),
    can: async () => rules.readable,
  };
}
