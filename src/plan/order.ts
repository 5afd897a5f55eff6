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

interface Waiting {
  readonly step: PlacedStep;
  /** Ids of the steps that come first. */
  readonly after: readonly string[];
}

export interface OrderedSteps {
  readonly steps: readonly Waiting[];
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
  const circle = circleOf(runnable);
  if (circle.length > 0) {
    const ids = new Set(circle.map(({ step }) => step.id));
    const rest = orderSteps(
      runnable.filter((step) => !ids.has(step.id)),
      [...held, ...blocked.map(({ step }) => step), ...circle.map(({ step }) => step)],
    );
    return { steps: rest.steps, blocked: [...blocked, ...circle, ...rest.blocked] };
  }
  const pending = [...runnable].sort(byPlace).map((step) => ({ step, after: dependenciesOf(step, runnable) }));
  const done = new Set<string>();
  const ordered: Waiting[] = [];
  while (pending.length > 0) {
    const next = pending.findIndex((waiting) => isReady(waiting, pending, done));
    const [ready] = pending.splice(next, next === -1 ? 0 : 1);
    if (ready === undefined)
      throw new Error(`steps wait for each other in a circle: ${pending.map(({ step }) => step.id).join(', ')}`);
    done.add(ready.step.id);
    ordered.push(ready);
  }
  return { steps: ordered, blocked };
}

/** Steps of which each waits for another one's effect, so that none can be first: two rules that have each other's domain. */
function circleOf(steps: readonly PlacedStep[]): OrderedSteps['blocked'] {
  const unmet = new Map(
    steps.flatMap((step) => {
      const needs = step.proposal.needs.filter((need) => !need.met && need.mutual === true);
      return needs.length === 0 ? [] : [[step.id, { step, needs }] as const];
    }),
  );
  // Whoever waits for a step that waits for nothing is in no circle; what is left after that is.
  for (let before = -1; before !== unmet.size; ) {
    before = unmet.size;
    for (const [id, { step, needs }] of unmet) {
      const waits = needs.some((need) => providersOf(need.condition, step, steps).some((other) => unmet.has(other.id)));
      if (!waits) unmet.delete(id);
    }
  }
  return [...unmet.values()].flatMap(({ step, needs: [need] }) =>
    need === undefined ? [] : [{ step, by: need.otherwise }],
  );
}

function isReady({ step, after }: Waiting, pending: readonly Waiting[], done: ReadonlySet<string>): boolean {
  // `pending` keeps the kind's own order within a resource, so the first one of the resource is the next one.
  const next = pending.find(
    (other) => other.step.resource === step.resource && other.step.proposal.prune === step.proposal.prune,
  );
  return next?.step === step && after.every((id) => done.has(id));
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
