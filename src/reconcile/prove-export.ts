import type { LedgerView } from '../kinds/reconciled.ts';
import type { ReconciledKinds } from '../kinds/define.ts';
import type { ScopePlan } from '../model/plan.ts';
import { planScope } from '../plan/plan-scope.ts';
import { observeEach } from './observation.ts';
import type { ReadApplication } from './read-application.ts';
import type { Work } from './reconcile.ts';

/** The view of an empty ledger. */
const NOTHING: LedgerView = { known: true, scopeRecorded: false, restored: false, objects: [] };

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
  const { plan } = planScope({
    kinds,
    application: application.id,
    scope: live.scope,
    source,
    resources,
    live: await observeEach(kinds, [...resources.values()], {
      siblings: resources,
      ledgerView: NOTHING,
      reader,
      nowMs,
    }),
    withdrawal: new Map(),
    ledgerView: NOTHING,
    permissions: { adopt: () => true, adoptNamed: () => false, prune: false, firstInstall: () => true },
    targets: undefined,
    inDoubt: [],
    nowMs,
  });
  return plan;
}
