import { useState } from 'preact/hooks';
import type { ApplicationDetails } from '../../../model/status.ts';
import { answeredView } from '../../../views/answered.ts';
import { type TreeNode, treeOf } from '../../../views/tree.ts';
import { Icon } from '../../parts/icon.tsx';
import { Link } from '../../parts/link.tsx';
import { StateBadge, toneOf } from '../../parts/state.tsx';
import { addressOf, resourceAddress } from './data.ts';

/** The selected line of the tree. */
export interface Selection {
  readonly resource: string | undefined;
  readonly part: string | undefined;
}

/** From so many siblings on, those in sync are shown as one. */
const GROUPED_MIN = 8;

/** An application as a tree from left to right: installs, components, ports, rules, connected by arrows. */
export function Tree({ name, details, selection }: TreeProps) {
  const root = treeOf(answeredView(details));
  return (
    <div class="scroll tree-pane" tabIndex={0} role="region" aria-label="Resource tree">
      <ul class="tree">
        <Branch node={root} name={name} selection={selection} isRoot />
      </ul>
    </div>
  );
}

interface TreeProps {
  readonly name: string;
  readonly details: ApplicationDetails;
  readonly selection: Selection;
}

interface BranchProps extends Omit<TreeProps, 'details'> {
  readonly node: TreeNode;
  readonly isRoot?: boolean;
}

function Branch({ node, name, selection, isRoot = false }: BranchProps) {
  return (
    <li>
      <Node node={node} name={name} selection={selection} isRoot={isRoot} />
      {node.children.length === 0 ? null : <Children nodes={node.children} name={name} selection={selection} />}
    </li>
  );
}

function Children({ nodes, name, selection }: Omit<BranchProps, 'node'> & { readonly nodes: readonly TreeNode[] }) {
  const [isOpen, setOpen] = useState(false);
  const quiet = nodes.filter((node) => isQuiet(node) && !isSelected(node, selection));
  const hides = quiet.length >= GROUPED_MIN && !isOpen;
  const shown = hides ? nodes.filter((node) => !quiet.includes(node)) : nodes;
  const words = new Set(quiet.map(({ type }) => type));
  const noun = words.size === 1 ? `${[...words].join()}s` : 'resources';
  return (
    <ul>
      {shown.map((node) => (
        <Branch key={node.key} node={node} name={name} selection={selection} />
      ))}
      {quiet.length < GROUPED_MIN ? null : (
        <li>
          <button type="button" class="node node-more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <Icon name={isOpen ? 'up' : 'down'} />
            {isOpen ? `Fold ${quiet.length} ${noun} in sync` : `${quiet.length} ${noun} in sync`}
          </button>
        </li>
      )}
    </ul>
  );
}

/** Returns whether a line needs no attention and has nothing below it. */
function isQuiet({ state, children }: TreeNode): boolean {
  return children.length === 0 && state === 'in-sync';
}

function isSelected({ resource, part }: TreeNode, selection: Selection): boolean {
  return resource !== undefined && resource === selection.resource && part === selection.part;
}

function Node({ node, name, selection, isRoot }: BranchProps) {
  const { type, facts, state, reason, resource, part } = node;
  // The type stands above the name. An object without a manifest has a descriptive name, which may contain a slash.
  const shownName = isRoot === true || node.name === resource ? node.name.slice(node.name.indexOf('/') + 1) : node.name;
  const isCurrent = isRoot === true ? selection.resource === undefined : isSelected(node, selection);
  const content = (
    <>
      <span class="node-head">
        <span class="node-type">{type}</span>
        <StateBadge state={state} title={reason} />
      </span>
      <span class="node-name">{shownName}</span>
      {facts === '' ? null : <span class="node-facts">{facts}</span>}
    </>
  );
  const style = `node ${toneOf(state)}${isCurrent ? ' current' : ''}`;
  if (isRoot !== true && resource === undefined) return <div class={style}>{content}</div>;
  const to = isRoot === true || resource === undefined ? addressOf(name) : resourceAddress(name, resource, part);
  return (
    <Link to={to} class={style} {...(isCurrent ? { 'aria-current': 'true' as const } : {})}>
      {content}
    </Link>
  );
}
