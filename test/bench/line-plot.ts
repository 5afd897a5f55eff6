/** One drawing of a plot, with its lines. */
export interface Panel {
  readonly title: string;
  readonly lines: readonly PlottedLine[];
}

export interface PlottedLine {
  readonly name: string;
  /** By rising `x`; where `y` is no number the line has a gap. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

const WIDTH = 760;
const PANEL_HEIGHT = 170;
const TOP = 56;
const LEFT = 64;
const RIGHT = 20;
const GAP = 44;
/** Told apart by people who see no red or green, too, and by their dashes. */
const STYLES = [
  { color: '#0060a8', dash: '' },
  { color: '#d55e00', dash: '6 3' },
  { color: '#555555', dash: '2 3' },
] as const;

/** Panels below each other over one x axis, as SVG. Lines of the same place have the same style in all panels. */
export function linePlot(title: string, xTitle: string, panels: readonly Panel[]): string {
  const height = TOP + panels.length * (PANEL_HEIGHT + GAP) + 10;
  const names = panels[0]?.lines.map(({ name }) => name) ?? [];
  const legend = names.map((name, index) => {
    const x = LEFT + index * 150;
    return `${stroke(`M${x} 40h28`, index)}<text x="${x + 34}" y="44">${escaped(name)}</text>`;
  });
  const drawn = panels.map((panel, index) => drawPanel(panel, TOP + index * (PANEL_HEIGHT + GAP), xTitle));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12" role="img">`,
    `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="${LEFT}" y="22" font-size="15">${escaped(title)}</text>`,
    ...legend,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

function drawPanel({ title, lines }: Panel, top: number, xTitle: string): string {
  const points = lines.flatMap((line) => line.points).filter(({ y }) => Number.isFinite(y));
  const xMax = Math.max(1, ...points.map(({ x }) => x));
  const yMax = roundedUp(Math.max(1, ...points.map(({ y }) => y)));
  const bottom = top + PANEL_HEIGHT;
  const xOf = (x: number): number => LEFT + (x / xMax) * (WIDTH - LEFT - RIGHT);
  const yOf = (y: number): number => bottom - (y / yMax) * (PANEL_HEIGHT - 20);
  const grid = [0, yMax / 2, yMax].map(
    (y) =>
      `<path d="M${LEFT} ${yOf(y).toFixed(1)}H${WIDTH - RIGHT}" stroke="#ddd"/>` +
      `<text x="${LEFT - 6}" y="${(yOf(y) + 4).toFixed(1)}" text-anchor="end">${y}</text>`,
  );
  const drawn = lines.map((line, index) => {
    let pen = 'M';
    let path = '';
    for (const { x, y } of line.points) {
      if (Number.isFinite(y)) path += `${pen}${xOf(x).toFixed(1)} ${yOf(y).toFixed(1)}`;
      pen = Number.isFinite(y) ? 'L' : 'M';
    }
    return stroke(path, index);
  });
  const ends = `<text x="${LEFT}" y="${bottom + 16}">0</text><text x="${WIDTH - RIGHT}" y="${bottom + 16}" text-anchor="end">${xMax} ${escaped(xTitle)}</text>`;
  return [`<text x="${LEFT}" y="${top + 8}" font-weight="bold">${escaped(title)}</text>`, ...grid, ...drawn, ends].join(
    '\n',
  );
}

function stroke(path: string, index: number): string {
  const { color, dash } = STYLES[index % STYLES.length] ?? STYLES[0];
  return `<path d="${path}" fill="none" stroke="${color}" stroke-width="2" stroke-dasharray="${dash}"/>`;
}

/** 1, 2 or 5 and zeros. */
function roundedUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((digit) => digit * power >= value) ?? 10) * power;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
