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
  const providers = new Providers(runnable);
  const waiting = [...runnable].sort(byPlace).map((step) => ({ step, after: dependenciesOf(step, providers) }));
  return { steps: inTurn(waiting), blocked };
}

/** Returns the steps in order: always the first of those whose predecessors are done. */
function inTurn(waiting: readonly Waiting[]): Waiting[] {
  const followers = new Map<string, number[]>();
  const open: number[] = [];
  const lastOf = new Map<string, string>();
  for (const [place, { step, after }] of waiting.entries()) {
    // Steps of one resource keep the order of its kind: each follows the one before.
    const line = `${step.resource} ${step.proposal.prune}`;
    const before = lastOf.get(line);
    lastOf.set(line, step.id);
    const first = new Set(before === undefined ? after : [...after, before]);
    open.push(first.size);
    for (const id of first) {
      const known = followers.get(id);
      if (known === undefined) followers.set(id, [place]);
      else known.push(place);
    }
  }
  const ready = waiting.flatMap((_, place) => (open[place] === 0 ? [place] : []));
  const ordered: Waiting[] = [];
  for (let place = ready.shift(); place !== undefined; place = ready.shift()) {
    const next = waiting[place] as Waiting;
    ordered.push(next);
    for (const follower of followers.get(next.step.id) ?? []) {
      open[follower] = (open[follower] as number) - 1;
      if (open[follower] === 0) ready.splice(placeIn(ready, follower), 0, follower);
    }
  }
  if (ordered.length === waiting.length) return ordered;
  const left = new Set(waiting).difference(new Set(ordered));
  throw new Error(`steps wait for each other in a circle: ${[...left].map(({ step }) => step.id).join(', ')}`);
}

/** Returns the position at which a number belongs in a sorted list. */
function placeIn(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Steps of which each waits for another one's effect, so that none can be first: two rules that have each other's domain. */
function circleOf(steps: readonly PlacedStep[]): OrderedSteps['blocked'] {
  const unmet = new Map(
    steps.flatMap((step) => {
      const needs = step.proposal.needs.filter((need) => !need.met && need.mutual === true);
      return needs.length === 0 ? [] : [[step.id, { step, needs }] as const];
    }),
  );
  if (unmet.size === 0) return [];
  const providers = new Providers(steps);
  // A step that waits for a step without needs is not part of a circle. The remaining steps are.
  for (let before = -1; before !== unmet.size; ) {
    before = unmet.size;
    for (const [id, { step, needs }] of unmet) {
      const waits = needs.some((need) => providers.of(need.condition, step).some((other) => unmet.has(other.id)));
      if (!waits) unmet.delete(id);
    }
  }
  return [...unmet.values()].flatMap(({ step, needs: [need] }) =>
    need === undefined ? [] : [{ step, by: need.otherwise }],
  );
}

function dependenciesOf(step: PlacedStep, providers: Providers): string[] {
  const within = step.proposal.after.map((key) => stepId(step.resource, key));
  const across = step.proposal.needs.flatMap((need) =>
    providers.of(need.condition, step).map((provider) => provider.id),
  );
  return [...new Set([...within, ...across])];
}

/** Which of some steps bring about a condition, in their order. */
class Providers {
  readonly #byCondition = new Map<string, PlacedStep[]>();

  constructor(steps: readonly PlacedStep[]) {
    for (const step of steps)
      for (const condition of new Set(step.proposal.provides)) {
        const known = this.#byCondition.get(condition);
        if (known === undefined) this.#byCondition.set(condition, [step]);
        else known.push(step);
      }
  }

  /** Steps other than this one. */
  of(condition: string, { id }: PlacedStep): readonly PlacedStep[] {
    return (this.#byCondition.get(condition) ?? []).filter((other) => other.id !== id);
  }
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
    const providers = new Providers(runnable);
    const heldBack = new Providers([...held, ...blocked.map((entry) => entry.step)]);
    const stopped = runnable.flatMap((step): { step: PlacedStep; by: Blocker }[] => {
      const unmet = step.proposal.needs.find((need) => !need.met && providers.of(need.condition, step).length === 0);
      if (unmet !== undefined) {
        const [provider] = heldBack.of(unmet.condition, step);
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
