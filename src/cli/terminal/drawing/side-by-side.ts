import { fitted } from '../text.ts';

const GAP = 3;

/** How wide each of several blocks is, as many beside each other as there is room for. */
export interface Arrangement {
  readonly perRow: number;
  readonly width: number;
}

export function arrange(
  blocks: number,
  columns: number,
  { narrowest, widest }: { readonly narrowest: number; readonly widest: number },
): Arrangement {
  const room = Math.max(1, Math.floor((columns + GAP) / (narrowest + GAP)));
  const perRow = Math.max(1, Math.min(blocks, room));
  return { perRow, width: Math.min(widest, Math.floor((columns - GAP * (perRow - 1)) / perRow)) };
}

/** Blocks of lines beside each other, and below each other where they do not fit. */
export function sideBySide(blocks: readonly (readonly string[])[], { perRow, width }: Arrangement): readonly string[] {
  const lines: string[] = [];
  for (let first = 0; first < blocks.length; first += perRow) {
    const row = blocks.slice(first, first + perRow);
    if (lines.length > 0) lines.push('');
    const height = Math.max(...row.map((block) => block.length));
    for (let at = 0; at < height; at += 1)
      lines.push(
        row
          .map((block) => fitted(block[at] ?? '', width))
          .join(' '.repeat(GAP))
          .trimEnd(),
      );
  }
  return lines;
}
