import type { ApplyWorld } from './apply/world.ts';
import type { ResourceId } from '../model/ids.ts';
import type { Note, ScopePlan } from '../model/plan.ts';
import type { PlanDocument } from '../model/plan-document.ts';
import { planDocument } from '../plan/document.ts';
import { POLICY_IGNORED, POLICY_WARNING } from '../plan/guard.ts';
import type { PolicyResult } from '../policies/spec.ts';
import type { Prepared, Seen } from './work.ts';

/** Returns an observation with the results of the policies: those that deny, and notes about those that warn. */
export async function withPolicyResults(seen: Seen, { policies, source, stopRequested }: ApplyWorld): Promise<Seen> {
  // After an interruption no action begins, and the thread that evaluates may have ended.
  if (policies === undefined || stopRequested() === 'interrupted') return seen;
  const { work, plan, ledgerView } = seen;
  const ofManifests = await policies.manifests(work);
  const hasChanges = plan.actions.length + plan.deferred.length > 0;
  const ofPlan = hasChanges ? await policies.plan(work, documentOf(plan, source, ledgerView.known)) : [];
  const results = [...ofManifests, ...ofPlan];
  if (results.length === 0) return seen;
  const notes = results.flatMap(noteOf);
  return {
    ...seen,
    plan: { ...plan, notes: [...plan.notes, ...notes] },
    denied: results.filter(({ action }) => action === 'deny'),
  };
}

/** Returns the plan of one application, as `plan -o json` prints it for this application alone. */
function documentOf(plan: ScopePlan, source: string, isLedgerKnown: boolean): PlanDocument {
  const ledger = isLedgerKnown ? 'known' : 'none';
  return planDocument({ source, revision: null, ledger, scopes: [plan], unobserved: [], refusals: [], notes: [] });
}

function noteOf({ action, policy, resource, message: reason }: PolicyResult): readonly Note[] {
  if (action === 'deny') return [];
  const message = `policy "${policy}" warns about ${resource ?? 'the plan'}: ${reason}`;
  return [policyNote(POLICY_WARNING, policy, resource, message)];
}

/** Returns an observation with notes about the policies that deny, if a user ignores them: every plan shows them. */
export function withIgnoredPolicies(prepared: Prepared): Prepared {
  const { denied, refusals, plan } = prepared;
  if (denied.length === 0 || refusals.length > 0) return prepared;
  const notes = denied.map(({ policy, resource, message: reason }) => {
    const message = `policy "${policy}" denies ${resource ?? 'the plan'} and is ignored: ${reason}`;
    return policyNote(POLICY_IGNORED, policy, resource, message);
  });
  return { ...prepared, plan: { ...plan, notes: [...plan.notes, ...notes] } };
}

function policyNote(code: string, policy: string, resource: ResourceId | undefined, message: string): Note {
  return { code, message, policy, ...(resource === undefined ? {} : { resource }) };
}
