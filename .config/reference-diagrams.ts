/** Pictures of the flowcharts in docs/concepts: a small part of Mermaid, laid out in ranks. A forge draws the text itself. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from './markdown.ts';

const FOLDER = 'docs/concepts';

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

interface Flow {
  readonly isDown: boolean;
  /** Texts by the names of nodes. */
  readonly nodes: ReadonlyMap<string, string>;
  readonly arrows: readonly Arrow[];
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Returns a picture for each page with a flowchart. */
export function diagramPages(root: string): readonly Page[] {
  return readdirSync(join(root, FOLDER))
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => {
      const [, text] = /^```mermaid\n([^]*?)^```$/m.exec(readFileSync(join(root, FOLDER, file), 'utf8')) ?? [];
      return text === undefined
        ? []
        : [{ file: join(FOLDER, file.replace(/\.md$/, '.svg')), text: svgOf(flowOf(text)) }];
    });
}

/** @throws when a line is not of the part of Mermaid that is drawn. */
export function flowOf(text: string): Flow {
  const [head = '', ...lines] = text.trim().split('\n');
  const [, direction] = /^flowchart (LR|TD)$/.exec(head) ?? [];
  if (direction === undefined) throw new Error(`this is not a flowchart: ${head}`);
  const nodes = new Map<string, string>();
  const arrows = lines.map((line): Arrow => {
    const [, left = '', label = '', right = ''] = /^ *(\S.*?) -->(?:\|(.*?)\|)? (\S.*)$/.exec(line) ?? [];
    const [from, to] = [left, right].map((node) => {
      const [, name = '', words] = /^(\w+)(?:[[{](.*)[\]}])?$/.exec(node) ?? [];
      if (name === '') throw new Error(`a line cannot be drawn: ${line}`);
      if (words !== undefined || !nodes.has(name)) nodes.set(name, words ?? name);
      return name;
    }) as [string, string];
    return { from, to, label };
  });
  return { isDown: direction === 'TD', nodes, arrows };
}

const CHARACTER = 7.6;
const HEIGHT = 34;

/** Returns the number of arrows of the longest way to each node. An arrow back to an earlier node does not count. */
function ranksOf({ nodes, arrows }: Flow): ReadonlyMap<string, number> {
  const order = [...nodes.keys()];
  const ranks = new Map(order.map((name) => [name, 0]));
  for (const name of order)
    for (const { from, to } of arrows)
      if (from === name && order.indexOf(to) > order.indexOf(from))
        ranks.set(to, Math.max(ranks.get(to) ?? 0, (ranks.get(from) ?? 0) + 1));
  for (const { to } of arrows) {
    const sources = arrows.filter((arrow) => arrow.to === to).map(({ from }) => ranks.get(from) ?? 0);
    ranks.set(to, Math.max(ranks.get(to) ?? 0, ...sources.map((rank) => rank + 1)));
  }
  // Sources that join later stand directly before their target.
  for (const name of order) {
    const targets = arrows.filter(({ from }) => from === name).map(({ to }) => (ranks.get(to) ?? 1) - 1);
    if (targets.length > 0) ranks.set(name, Math.max(ranks.get(name) ?? 0, Math.min(...targets)));
  }
  return ranks;
}

function layOut(flow: Flow): {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly width: number;
  readonly height: number;
} {
  const ranks = ranksOf(flow);
  const widthOf = (name: string): number => (flow.nodes.get(name)?.length ?? 0) * CHARACTER + 24;
  const rows = Map.groupBy(flow.nodes.keys(), (name) => ranks.get(name) ?? 0);
  // Ranks are always drawn from the top to the bottom: that fits on a narrow page.
  const lengths = [...rows.values()].map((names) => names.reduce((sum, name) => sum + widthOf(name) + 28, -28));
  const width = Math.max(...lengths) + 120;
  const boxes = new Map<string, Box>();
  for (const [rank, names] of rows) {
    let x = (width - names.reduce((sum, name) => sum + widthOf(name) + 28, -28)) / 2;
    for (const name of names) {
      boxes.set(name, { x, y: 16 + rank * 74, width: widthOf(name) });
      x += widthOf(name) + 28;
    }
  }
  return { boxes, width, height: 16 + (Math.max(...rows.keys()) + 1) * 74 - 24 };
}

function svgOf(flow: Flow): string {
  const { boxes, width, height } = layOut(flow);
  const number = (value: number): string => String(Math.round(value));
  const arrows = flow.arrows.map(({ from, to, label }) => {
    const [a, b] = [boxes.get(from), boxes.get(to)];
    if (a === undefined || b === undefined) throw new Error(`${from} or ${to} is not drawn`);
    const [x1, y1, x2, y2] = [a.x + a.width / 2, a.y + HEIGHT, b.x + b.width / 2, b.y];
    const text =
      label === ''
        ? ''
        : `<text class="label" x="${number((x1 + x2) / 2)}" y="${number((y1 + y2) / 2 + 4)}">${label}</text>`;
    return `<line x1="${number(x1)}" y1="${number(y1)}" x2="${number(x2)}" y2="${number(y2 - 2)}" marker-end="url(#end)"/>${text}`;
  });
  const nodes = [...boxes].map(
    ([name, { x, y, width: own }]) =>
      `<rect x="${number(x)}" y="${y}" width="${number(own)}" height="${HEIGHT}" rx="6"/><text x="${number(x + own / 2)}" y="${y + 22}">${flow.nodes.get(name)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${number(width)} ${number(height)}" width="${number(width)}" height="${number(height)}" role="img">
<style>
svg { background: #ffffff; } rect { fill: #eef4ff; stroke: #3b5b92; } line { stroke: #55606e; } marker path { fill: #55606e; }
text { fill: #1b2330; font: 14px system-ui, sans-serif; text-anchor: middle; }
.label { font-size: 12px; fill: #3a4452; stroke: #ffffff; stroke-width: 4; paint-order: stroke; }
@media (prefers-color-scheme: dark) {
svg { background: #10151d; } rect { fill: #1d2a41; stroke: #8fb0ea; } line { stroke: #a7b2c2; } marker path { fill: #a7b2c2; }
text { fill: #e8edf5; } .label { fill: #c9d3e0; stroke: #10151d; }
}
</style>
<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>
${[...arrows, ...nodes].join('\n')}
</svg>
`;
}
