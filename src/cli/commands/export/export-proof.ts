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

/** Whether manifests say what is there: they are read as every command reads them, and planned. */
export interface Proof {
  /** What the loader finds wrong with them. */
  readonly problems: readonly Problem[];
  /** Of all applications, notes left out. */
  readonly plan: PlanDocument;
  readonly holds: boolean;
}

/** @param read what they were written from, by `metadata.name` of the Application. */
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
    // That something is adopted as it is, is what was to be shown.
    scopes: plans.map((scope) => ({ ...scope, notes: [] })),
    unobserved,
    refusals: [],
    notes: [],
  });
  const holds = problems.length === 0 && plans.length === read.size && !hasChanges(plan) && plan.summary.held === 0;
  return { problems, plan, holds };
}
