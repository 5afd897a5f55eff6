import { errorFacts, type PortolanError } from '../../model/errors.ts';
import type { ResourceId } from '../../model/ids.ts';
import { inParts } from '../../model/parts.ts';
import type { Note } from '../../model/plan.ts';
import type { PlanDocument, Refusal } from '../../model/plan-document.ts';
import { compareText } from '../../model/text.ts';
import { planDigestParts } from '../../plan/digest.ts';
import { planDocument, type UnobservedScope } from '../../plan/document.ts';

/** Facts of a plan that no leader knows. */
export interface WholePlan {
  readonly source: string;
  /** null: plain files, or manifests of a request. */
  readonly revision: string | null;
  /** Applications of which nothing is known, with the reason. */
  readonly failed: readonly { readonly application: ResourceId; readonly error: PortolanError }[];
  /** Returns why nothing may be removed, for the number of removals of the whole plan. */
  removalRefusals(prunes: number): readonly Refusal[];
  readonly pause: () => Promise<void>;
}

/** Returns one plan of the plans that several leaders made, each of the applications on the platforms that it leads. */
export async function mergePlans(parts: readonly PlanDocument[], whole: WholePlan): Promise<PlanDocument> {
  const { source, revision, failed, pause } = whole;
  const scopes = parts
    .flatMap((part) => part.scopes)
    .sort((left, right) => compareText(left.application, right.application));
  const unobserved: UnobservedScope[] = [
    ...parts.flatMap((part) => part.unobserved),
    ...failed.map(({ application, error }) => ({ application, ...errorFacts(error) })),
  ].sort((left, right) => compareText(left.application, right.application));
  const others = parts.filter((part) => part.revision !== revision);
  const digests = await inParts(planDigestParts(scopes), pause);
  return planDocument(
    {
      source,
      revision,
      ledger: 'known',
      scopes,
      unobserved,
      refusals: refusalsOf(parts, whole),
      notes: [...distinct(parts.flatMap(({ notes }) => notes)), ...others.map(otherRevision)],
    },
    digests,
  );
}

/** The size of the whole plan decides about removals, not that of a part. */
function refusalsOf(parts: readonly PlanDocument[], { removalRefusals }: WholePlan): readonly Refusal[] {
  const actions = parts.flatMap(({ scopes }) => scopes.flatMap((scope) => scope.actions));
  const prunes = actions.filter(({ prune }) => prune).length;
  const ofWhole = prunes === 0 ? [] : removalRefusals(prunes);
  const codes = new Set(ofWhole.map(({ code }) => code));
  return [...distinct(parts.flatMap(({ refusals }) => refusals)).filter(({ code }) => !codes.has(code)), ...ofWhole];
}

function distinct<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function otherRevision({ revision }: PlanDocument): Note {
  return {
    code: 'plan/other-revision',
    message: `a part of this plan is for ${revision ?? 'no revision'}, because its controller has not followed the source yet`,
  };
}
