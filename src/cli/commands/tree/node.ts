import { safeLine } from '../../../model/text.ts';
import type { Glyphs } from '../../terminal/drawing/glyphs.ts';
import type { ViewState } from '../../../views/model.ts';
import type { TreeNode } from '../../../views/tree.ts';
import { shortDuration } from '../../terminal/age.ts';
import { FACES, paintMark, type Reader, type StateFace, stateTable } from '../status/table.ts';
import { count, displayWidth } from '../../terminal/text.ts';

/** Holds a node, and the branches drawn before its line and before the lines below it. */
interface TreeRow {
  readonly lead: string;
  readonly below: string;
  readonly node: TreeNode;
}

/** Returns the trees as a table: resource, state and reason. */
export function treeLines(roots: readonly TreeNode[], reader: Reader): readonly string[] {
  const { isTerminal, glyphs, paint } = reader;
  const rows = roots.flatMap((root) => rowsOf(root, '', '', glyphs));
  const faceOf = (at: number): StateFace => FACES[rows[at]?.node.state ?? 'unknown'];
  const paintTree = (text: string, at: number): string => {
    const lead = rows[at]?.lead ?? '';
    const mark = paintMark(faceOf(at).mark, text.slice(lead.length, lead.length + 1), paint);
    return `${lead === '' ? '' : paint('dim', lead)}${mark}${text.slice(lead.length + 1)}`;
  };
  const named = rows.map(({ lead, node: { name, state } }) => {
    const sign = isTerminal ? `${glyphs.marks[FACES[state].mark]} ` : '';
    return `${lead}${sign}${safeLine(name)}`;
  });
  const cells = rows.map(({ node }, at) => {
    const facts = [node.facts, ageOf(node, reader)].filter((part) => part !== '').join(', ');
    return [`${named[at]}${facts === '' ? '' : `  ${safeLine(facts)}`}`, FACES[node.state].words, node.reason];
  });
  // Facts may be cut, names must not.
  const narrowest = Math.max(0, ...named.map(displayWidth));
  const layout = [
    { title: 'resource', narrowest, paint: paintTree },
    { title: 'state', paint: (text: string, at: number) => paintMark(faceOf(at).mark, text, paint) },
  ];
  const indent = (at: number): string => `${rows[at]?.below ?? ''}    `;
  return stateTable({ columns: layout, title: 'reason', rows: cells, indent }, reader);
}

/** Returns the age of an application's observation by a controller; '' for a live observation. */
function ageOf({ observedMs }: TreeNode, { isTerminal, nowMs }: Reader): string {
  if (observedMs === undefined) return '';
  if (observedMs === null) return 'not observed yet';
  return `observed ${isTerminal ? `${shortDuration(nowMs - observedMs)} ago` : new Date(observedMs).toISOString()}`;
}

function rowsOf(node: TreeNode, lead: string, below: string, glyphs: Glyphs): readonly TreeRow[] {
  const { branch, last, through, none } = glyphs.tree;
  const children = node.children.flatMap((child, at) =>
    at === node.children.length - 1
      ? rowsOf(child, below + last, below + none, glyphs)
      : rowsOf(child, below + branch, below + through, glyphs),
  );
  return [{ lead, below, node }, ...children];
}

/** Returns a summary such as `2 applications: 10 in sync, 1 held, 3 not in the manifests.` */
export function treeSummary(roots: readonly TreeNode[]): string {
  const counts = new Map<ViewState, number>();
  const add = ({ state, children }: TreeNode): void => {
    counts.set(state, (counts.get(state) ?? 0) + 1);
    children.forEach(add);
  };
  for (const { children } of roots) children.forEach(add);
  const parts = (Object.keys(FACES) as ViewState[]).flatMap((state) => {
    const amount = counts.get(state) ?? 0;
    return amount > 0 ? [`${amount} ${FACES[state].words}`] : [];
  });
  const applications = roots.filter(({ state }) => state !== 'orphaned').length;
  return `${count(applications, 'application')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`;
}
