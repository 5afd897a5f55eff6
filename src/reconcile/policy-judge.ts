import type { PlanDocument } from '../model/plan-document.ts';
import { evaluatePolicies } from '../policies/evaluate.ts';
import type { PolicyQuestion, PolicyResult, PolicySpec } from '../policies/spec.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Work } from './work.ts';

/** Evaluates policies: in this thread, or in the one that parses sources. */
export interface PolicyEvaluator {
  judge(question: PolicyQuestion): Promise<readonly PolicyResult[]>;
}

/** Evaluates the operator's policies for applications. Both throw a PortolanError if that is impossible. */
export interface PolicyJudge {
  /** Returns the results for the manifests of an application. Those of unchanged manifests are remembered. */
  manifests(work: Work): Promise<readonly PolicyResult[]>;
  plan(work: Work, plan: PlanDocument): Promise<readonly PolicyResult[]>;
}

/** Returns an evaluator of this thread. */
export function policyEvaluator(clock: Clock): PolicyEvaluator {
  return { judge: async (question) => evaluatePolicies(question, clock) };
}

const judges = new WeakMap<
  PolicyEvaluator,
  { readonly policies: readonly PolicySpec[]; readonly judge: PolicyJudge }
>();

/** Returns the judge of these policies, the same one until a reload; undefined without policies. */
export function policyJudge(policies: readonly PolicySpec[], evaluator: PolicyEvaluator): PolicyJudge | undefined {
  if (policies.length === 0) return undefined;
  const known = judges.get(evaluator);
  if (known?.policies === policies) return known.judge;
  const judge = createJudge(policies, evaluator);
  judges.set(evaluator, { policies, judge });
  return judge;
}

function createJudge(all: readonly PolicySpec[], evaluator: PolicyEvaluator): PolicyJudge {
  const ofManifests = all.filter(({ subject }) => subject === 'manifest');
  const ofPlans = all.filter(({ subject }) => subject === 'plan');
  const judged = new WeakMap<Work, readonly PolicyResult[]>();
  return {
    async manifests(work) {
      const known = judged.get(work);
      if (known !== undefined || ofManifests.length === 0) return known ?? [];
      const results = await evaluator.judge({ policies: ofManifests, manifests: manifestsOf(work) });
      // An evaluation that took too long may succeed on a machine that is less busy.
      if (!results.some(({ isError }) => isError)) judged.set(work, results);
      return results;
    },
    async plan(work, plan) {
      if (ofPlans.length === 0) return [];
      return evaluator.judge({ policies: ofPlans, manifests: manifestsOf(work), plan });
    },
  };
}

function manifestsOf({ application, resources }: Work): PolicyQuestion['manifests'] {
  return [application, ...resources.values()];
}
