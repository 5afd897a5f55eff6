import { type ApplicationGroup, groupByApplication } from '../manifest/group.ts';
import { loadManifests } from '../manifest/load.ts';
import type { OperatorNames } from '../manifest/relations.ts';
import type { LiveApplication } from '../kinds/export.ts';
import type { Problem } from '../model/problem.ts';
import type { ScopePlan } from '../model/plan.ts';
import { hasChanges, planDocument, type PlanDocument } from '../plan/document.ts';
import { planExported } from '../reconcile/prove-export.ts';
import type { ManifestFile } from './export-files.ts';
import { workOf } from './session.ts';

/** Whether manifests say what is there: they are read as every command reads them, and planned. */
export interface Proof {
  /** What the loader finds wrong with them. */
  readonly problems: readonly Problem[];
  /** Of all applications, notes left out. */
  readonly plan: PlanDocument;
  readonly holds: boolean;
}

/** @param lives what they were written from, by `metadata.name` of the Application. */
export async function prove(
  files: readonly ManifestFile[],
  lives: ReadonlyMap<string, LiveApplication>,
  operator: OperatorNames,
  nowMs: number,
): Promise<Proof> {
  const { desired, problems } = loadManifests({ files, operator });
  const plans = await Promise.all(groupByApplication(desired).map((group) => planOf(group, lives, nowMs)));
  const plan = planDocument({
    source: 'export',
    revision: null,
    ledger: 'known',
    // That something is adopted as it is, is what was to be shown.
    scopes: plans.map((scope) => ({ ...scope, notes: [] })),
    unobserved: [],
    refusals: [],
    notes: [],
  });
  const holds = problems.length === 0 && plans.length === lives.size && !hasChanges(plan) && plan.summary.held === 0;
  return { problems, plan, holds };
}

function planOf(
  group: ApplicationGroup,
  lives: ReadonlyMap<string, LiveApplication>,
  nowMs: number,
): Promise<ScopePlan> {
  const live = lives.get(group.application.name);
  if (live === undefined) throw new Error(`${group.application.id} was written for no application`);
  return planExported(workOf(group), live, 'export', nowMs);
}
