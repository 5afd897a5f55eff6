import { keyOf, type State } from './state.ts';
import { beginning, type Setting, stepsOf } from './steps.ts';

export interface LeaseReport {
  readonly states: number;
  /** Steps between them. */
  readonly steps: number;
  /** Steps of the longest shortest way to a state. */
  readonly depth: number;
  readonly violation: string | undefined;
  readonly path: readonly string[];
  readonly seconds: number;
}

/** Every state that can be reached, nearest first, so that a violation has the shortest path. */
export function exploreLeases(setting: Setting, statesMax = Number.POSITIVE_INFINITY): LeaseReport {
  const startedMs = performance.now();
  const first = beginning(setting.rates.length);
  const isSymmetric = new Set(setting.rates).size <= 1 && new Set(setting.wallOffsets).size <= 1;
  const seen = new Map<string, number>([[keyOf(first, isSymmetric), 0]]);
  const parents: number[] = [-1];
  const labels: string[] = [''];
  const names = new Map<string, string>();
  let frontier: State[] = [first];
  let [base, steps, depth] = [0, 0, 0];
  let found: { readonly violation: string; readonly at: number; readonly label: string } | undefined;
  while (frontier.length > 0 && found === undefined && seen.size < statesMax) {
    const next: State[] = [];
    for (const [offset, state] of frontier.entries()) {
      for (const step of stepsOf(state, setting)) {
        steps += 1;
        if (step.violation !== undefined) {
          found ??= { violation: step.violation, at: base + offset, label: step.label };
          continue;
        }
        const key = keyOf(step.next, isSymmetric);
        if (seen.has(key)) continue;
        seen.set(key, parents.length);
        parents.push(base + offset);
        labels.push(named(names, step.label));
        next.push(step.next);
      }
    }
    base += frontier.length;
    frontier = next;
    depth += 1;
  }
  return {
    states: seen.size,
    steps,
    depth,
    violation: found?.violation,
    path: found === undefined ? [] : [...pathTo(found.at, parents, labels), found.label],
    seconds: (performance.now() - startedMs) / 1000,
  };
}

/** One string for equal labels. */
function named(names: Map<string, string>, label: string): string {
  const known = names.get(label);
  if (known !== undefined) return known;
  names.set(label, label);
  return label;
}

function pathTo(index: number, parents: readonly number[], labels: readonly string[]): string[] {
  const path: string[] = [];
  for (let at = index; at > 0; at = parents[at] ?? 0) path.push(labels[at] ?? '');
  return path.reverse();
}
