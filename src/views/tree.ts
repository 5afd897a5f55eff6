import { kindName, type ResourceId } from '../model/ids.ts';
import type { ShownLine } from '../model/shown.ts';
import type { EpochMs } from '../model/time.ts';
import type { ApplicationView, Remedy, ResourceView, ViewState } from './model.ts';
import { compareText } from '../model/text.ts';

/** One line of a tree and the lines below it. */
export interface TreeNode {
  /** `application`, `port`, or the noun of a kind. */
  readonly type: string;
  /** `Component/shop-web`; an object without a manifest has a descriptive name. */
  readonly name: string;
  /** Facts that distinguish it from other lines: `http WEB, inner and outer`. */
  readonly facts: string;
  readonly state: ViewState;
  /** The reason why it is not in sync; empty where the state needs no reason. */
  readonly reason: string;
  /** The time at which a controller last observed the application; null: not yet. Absent: this process observed it now. */
  readonly observedMs?: EpochMs | null;
  /** Unique in the tree. */
  readonly key: string;
  /** The resource that gives the line its state. Absent: there is no manifest. */
  readonly resource?: ResourceId;
  /** Part of the resource: `ports[8080]`. */
  readonly part?: string;
  readonly children: readonly TreeNode[];
}

/** The trees of applications, and remedies for what could not be observed. */
export interface Forest {
  readonly revision: string | null;
  readonly applications: readonly TreeNode[];
  readonly notes: readonly Remedy[];
}

/** Returns the tree of one application. Each line is below the first existing line that it names as its parent. */
export function treeOf({ id, scope, state, reason, resources, lines, observedMs }: ApplicationView): TreeNode {
  const views = new Map(resources.map((resource) => [resource.id, resource]));
  const shown = [...lines, ...otherLines(lines, resources)];
  const keys = new Set(shown.map(({ key }) => key));
  const children = Map.groupBy(shown, ({ below }) => below.find((key) => keys.has(key)) ?? '');
  const typesInOrder = [...new Set(shown.map(({ type }) => type))];
  const inOrder = (left: ShownLine, right: ShownLine): number =>
    typesInOrder.indexOf(left.type) - typesInOrder.indexOf(right.type) ||
    (left.rank ?? 0) - (right.rank ?? 0) ||
    compareText(left.name, right.name);
  const nodesBelow = (key: string): readonly TreeNode[] =>
    (children.get(key) ?? []).toSorted(inOrder).map((line) => ({
      type: line.type,
      name: line.name,
      facts: line.facts,
      ...stateOfLine(line, line.resource === undefined ? undefined : views.get(line.resource)),
      key: line.key,
      ...(line.resource === undefined ? {} : { resource: line.resource }),
      ...(line.part === undefined ? {} : { part: line.part }),
      children: nodesBelow(line.key),
    }));
  const observed = observedMs === undefined ? {} : { observedMs };
  return { type: 'application', name: id, facts: scope, state, reason, ...observed, key: id, children: nodesBelow('') };
}

/** Returns one line for each resource that no other line shows. */
function otherLines(lines: readonly ShownLine[], resources: readonly ResourceView[]): readonly ShownLine[] {
  const named = new Set(lines.map(({ resource }) => resource));
  return resources
    .filter(({ id }) => !named.has(id))
    .map(({ id }) => ({ type: kindName(id), key: id, below: [], name: id, facts: '', resource: id }));
}

function stateOfLine(line: ShownLine, resource: ResourceView | undefined): Pick<TreeNode, 'state' | 'reason'> {
  const { state, part, reason = '', isMissing } = line;
  if (resource === undefined) return { state: state ?? 'not-in-manifests', reason };
  if (part === undefined) return state === undefined ? stateWithReason(resource) : { state, reason };
  const steps = `${resource.id}#${part.replace('[', '/').replace(']', '/')}`;
  const actions = resource.actions.filter(({ id }) => id.startsWith(steps)).map(({ summary }) => summary);
  if (state !== undefined) return { state, reason: actions.join('; ') || reason };
  return stateOfPart(resource, part, actions, isMissing === true);
}

/** Returns the state of a part: its planned actions, its hold, or the state of its resource. */
function stateOfPart(
  whole: ResourceView,
  part: string,
  actions: readonly string[],
  isMissing: boolean,
): Pick<TreeNode, 'state' | 'reason'> {
  if (whole.state === 'suspended' || whole.state === 'unknown' || whole.state === 'waiting')
    return { state: whole.state, reason: '' };
  const matters = whole.matters.filter(({ paths }) => paths.some((path) => path.startsWith(part)));
  const matter = (['held', 'reported', 'drifted'] as const)
    .map((state) => matters.find((one) => one.state === state))
    .find((one) => one !== undefined);
  if (matter?.state === 'held') return { state: 'held', reason: matter.reason };
  if (actions.length > 0) {
    const isDrifted = matters.some(({ state }) => state === 'drifted');
    return { state: isDrifted ? 'drifted' : 'to-change', reason: actions.join('; ') };
  }
  if (matter !== undefined) return { state: matter.state, reason: matter.reason };
  // A controller does not list the fields that changed in git.
  const areFieldsUnknown = whole.state === 'reported' && whole.matters.every(({ paths }) => paths.length === 0);
  return { state: isMissing || areFieldsUnknown ? whole.state : 'in-sync', reason: '' };
}

/** Returns the state and a reason, which is empty where the state needs none. */
function stateWithReason({ state, reason }: ResourceView): Pick<TreeNode, 'state' | 'reason'> {
  if (state === 'suspended') return { state, reason: 'by its annotation' };
  return { state, reason: state === 'in-sync' || state === 'unknown' ? '' : reason };
}
