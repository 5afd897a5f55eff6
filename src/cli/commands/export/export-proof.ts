import type { ReconciledKinds } from '../../../kinds/define.ts';
import type { Declarations } from '../../../kinds/kind.ts';
import { groupByApplication } from '../../../manifest/group.ts';
import { loadManifests } from '../../../manifest/load.ts';
import type { OperatorNames } from '../../../manifest/relations.ts';
import { errorFacts, PortolanError } from '../../../model/errors.ts';
import type { Problem } from '../../../model/problem.ts';
import type { ScopePlan } from '../../../model/plan.ts';
import { hasChanges, planDocument, type PlanDocument, type UnobservedScope } from '../../../plan/document.ts';
import { planExported } from '../../../reconcile/prove-export.ts';
import { workOf } from '../../../reconcile/work.ts';
import type { ReadApplication } from '../../../reconcile/read-application.ts';
import type { ManifestFile } from './export-files.ts';

/** Says whether manifests match the platform: they are loaded as in every command, and planned. */
export interface Proof {
  /** Faults that the loader finds. */
  readonly problems: readonly Problem[];
  /** The plan of all applications, without notes. */
  readonly plan: PlanDocument;
  readonly holds: boolean;
}

/** Proves written manifests. @param read the applications they were written from, by `metadata.name`. */
export async function prove(
  { declared, reconciled }: { readonly declared: Declarations; readonly reconciled: ReconciledKinds },
  files: readonly ManifestFile[],
  read: ReadonlyMap<string, ReadApplication | undefined>,
  operator: OperatorNames,
  nowMs: number,
): Promise<Proof> {
  const { desired, problems } = loadManifests({ kinds: declared, files, operator });
  const plans: ScopePlan[] = [];
  const unobserved: UnobservedScope[] = [];
  await Promise.all(
    groupByApplication(desired).map(async (group) => {
      try {
        const application = read.get(group.application.name);
        if (application === undefined) throw new Error(`${group.application.id} was written for no application`);
        plans.push(await planExported(reconciled, workOf(group), application, 'export', nowMs));
      } catch (error) {
        if (!(error instanceof PortolanError) || error.code === 'platform/stopped') throw error;
        unobserved.push({ application: group.application.id, ...errorFacts(error) });
      }
    }),
  );
  const plan = planDocument({
    source: 'export',
    revision: null,
    ledger: 'known',
    // Notes on adoption are left out: the plan adopts every resource.
    scopes: plans.map((scope) => ({ ...scope, notes: [] })),
    unobserved,
    refusals: [],
    notes: [],
  });
  const holds = problems.length === 0 && plans.length === read.size && !hasChanges(plan) && plan.summary.held === 0;
  return { problems, plan, holds };
}
