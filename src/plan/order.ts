import type { Need, StepProposal } from '../kinds/reconciled.ts';
import type { ResourceId } from '../model/ids.ts';

/** A step with the resource it comes from and the place of its kind among the others. */
export interface PlacedStep {
  readonly id: string;
  readonly resource: ResourceId;
  readonly kindOrder: number;
  readonly proposal: StepProposal;
}

/** Why a step cannot run: a need that nothing meets, or a step it depends on that cannot run either. */
export type Blocker = Need['otherwise'] | { readonly step: string };

export interface OrderedSteps {
  readonly steps: readonly { readonly step: PlacedStep; readonly after: readonly string[] }[];
  readonly blocked: readonly { readonly step: PlacedStep; readonly by: Blocker }[];
}

export function stepId(resource: ResourceId, key: string): string {
  return `${resource}#${key}`;
}

/**
 * Puts steps in an order in which every prefix is allowed: what a step depends on comes first, the steps of one
 * resource keep the order their kind gave them, removals come last. Equal input gives equal order.
 * @param held steps that are left out: what only they would provide is blocked by them.
 */
export function orderSteps(steps: readonly PlacedStep[], held: readonly PlacedStep[] = []): OrderedSteps {
  const { runnable, blocked } = withoutBlocked(steps, held);
  const dependencies = new Map(runnable.map((step) => [step.id, dependenciesOf(step, runnable)]));
  const pending = [...runnable].sort(byPlace);
  const done = new Set<string>();
  const ordered: { step: PlacedStep; after: readonly string[] }[] = [];
  while (pending.length > 0) {
    const next = pending.findIndex((step) => isReady(step, pending, dependencies, done));
    const [step] = pending.splice(next, next === -1 ? 0 : 1);
    if (step === undefined)
      throw new Error(`steps wait for each other in a circle: ${pending.map((stuck) => stuck.id).join(', ')}`);
    done.add(step.id);
    ordered.push({ step, after: dependencies.get(step.id) ?? [] });
  }
  return { steps: ordered, blocked };
}

function isReady(
  step: PlacedStep,
  pending: readonly PlacedStep[],
  dependencies: ReadonlyMap<string, readonly string[]>,
  done: ReadonlySet<string>,
): boolean {
  // `pending` keeps the kind's own order within a resource, so the first one of the resource is the next one.
  const next = pending.find(
    (other) => other.resource === step.resource && other.proposal.prune === step.proposal.prune,
  );
  return next === step && (dependencies.get(step.id) ?? []).every((id) => done.has(id));
}

function dependenciesOf(step: PlacedStep, all: readonly PlacedStep[]): string[] {
  const within = step.proposal.after.map((key) => stepId(step.resource, key));
  const across = step.proposal.needs.flatMap((need) =>
    providersOf(need.condition, step, all).map((provider) => provider.id),
  );
  return [...new Set([...within, ...across])];
}

function providersOf(condition: string, step: PlacedStep, all: readonly PlacedStep[]): PlacedStep[] {
  return all.filter((other) => other.id !== step.id && other.proposal.provides.includes(condition));
}

/** Takes out steps whose needs nothing meets, and then whatever depended on those, until nothing changes. */
function withoutBlocked(
  steps: readonly PlacedStep[],
  held: readonly PlacedStep[],
): {
  runnable: readonly PlacedStep[];
  blocked: OrderedSteps['blocked'];
} {
  let runnable = steps;
  const blocked: { step: PlacedStep; by: Blocker }[] = [];
  for (;;) {
    const ids = new Set(runnable.map((step) => step.id));
    const stopped = runnable.flatMap((step): { step: PlacedStep; by: Blocker }[] => {
      const unmet = step.proposal.needs.find(
        (need) => !need.met && providersOf(need.condition, step, runnable).length === 0,
      );
      if (unmet !== undefined) {
        const [provider] = providersOf(unmet.condition, step, [...held, ...blocked.map((entry) => entry.step)]);
        return [{ step, by: provider === undefined ? unmet.otherwise : { step: provider.id } }];
      }
      const missing = step.proposal.after.map((key) => stepId(step.resource, key)).find((id) => !ids.has(id));
      return missing === undefined ? [] : [{ step, by: { step: missing } }];
    });
    if (stopped.length === 0) return { runnable, blocked };
    blocked.push(...stopped);
    const gone = new Set(stopped.map((entry) => entry.step.id));
    runnable = runnable.filter((step) => !gone.has(step.id));
  }
}

function byPlace(left: PlacedStep, right: PlacedStep): number {
  const prune = Number(left.proposal.prune) - Number(right.proposal.prune);
  if (prune !== 0) return prune;
  // Created from the ground up, removed from the top down. The sort is stable: within a resource nothing moves.
  const kind = left.proposal.prune ? right.kindOrder - left.kindOrder : left.kindOrder - right.kindOrder;
  if (kind !== 0) return kind;
  return left.resource < right.resource ? -1 : left.resource > right.resource ? 1 : 0;
}
