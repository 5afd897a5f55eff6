import uPlot from 'uplot';
import type { MonitoringMark } from '../../model/monitoring.ts';
import { type ChartProps, colorOf, dashOf } from './model.ts';
import { tickTexts } from './time-axis.ts';

/** Colours of marks. A symbol is at the top of each. */
const MARK_COLORS: Readonly<Record<MonitoringMark['type'], string>> = {
  change: 'var(--busy)',
  drift: 'var(--warn)',
  corrected: 'var(--good)',
  other: 'var(--quiet)',
};

const AXIS_HEIGHT = 30;
const AXIS_WIDTH = 64;
const MARK_SIZE = 5;
const FONT = '12px system-ui, sans-serif';

/** Returns the options of uPlot. @param latest the present properties, which may change later. */
export function chartOptions(
  element: HTMLElement,
  latest: { readonly current: ChartProps },
  height: number,
): uPlot.Options {
  const color = colorReader(element);
  const axis = { stroke: color('var(--ink-faint)'), font: FONT, ticks: { show: false } };
  const grid = { stroke: color('var(--line)'), width: 1 };
  const format = (values: readonly number[]): string[] => values.map((value) => latest.current.format(value));
  return {
    width: element.clientWidth,
    height,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    padding: [MARK_SIZE * 2, 20, 0, 0],
    scales: { y: { range: (_, min, max) => valueRange(min, max) } },
    axes: [
      { ...axis, grid, size: AXIS_HEIGHT, space: 70, values: (_, ticks) => [...tickTexts(ticks)] },
      { ...axis, grid, size: AXIS_WIDTH, values: (_, values) => format(values) },
    ],
    series: [
      {},
      ...latest.current.series.map(({ label, tone }) => ({
        label,
        stroke: color(colorOf(tone)),
        dash: [...dashOf(tone)],
        width: 1.5,
        spanGaps: false,
        points: { size: 4, filter: (chart: uPlot, at: number) => isolated(chart.data[at] ?? []) },
      })),
    ],
    cursor: {
      sync: { key: latest.current.group },
      drag: { x: true, y: false, setScale: false },
      y: false,
      points: { size: 7 },
    },
    hooks: {
      draw: [(chart) => drawMarks(chart, latest.current.marks ?? [], color)],
      setCursor: [(chart) => latest.current.onCursor?.(chart.cursor.idx ?? undefined)],
      setSelect: [(chart) => zoomToSelection(chart, latest.current)],
    },
  };
}

/** Returns a function that returns what a colour of the style sheet is at present, as a canvas needs it. */
function colorReader(element: HTMLElement): (name: string) => string {
  const probe = document.createElement('span');
  return (name) => {
    probe.style.color = name;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}

/** Returns the indices of values without neighbours, which no line shows. */
function isolated(values: ArrayLike<number | null | undefined>): number[] {
  return Array.from(values, (_, at) => at).filter(
    (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  );
}

/** The scale begins at zero, so that a small difference does not look large. */
function valueRange(min: number | null, max: number | null): [number, number] {
  const low = Math.min(0, min ?? 0);
  const high = Math.max(0, max ?? 0);
  return high === low ? [low, low + 1] : [low, high + (high - low) * 0.1];
}

function zoomToSelection(chart: uPlot, { onZoom }: ChartProps): void {
  const { left, width } = chart.select;
  if (width <= 0) return;
  const [from, to] = [chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')];
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onZoom?.(from * 1000, to * 1000);
}

function drawMarks(chart: uPlot, marks: readonly MonitoringMark[], color: (name: string) => string): void {
  const { ctx, bbox } = chart;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.lineWidth = scale;
  for (const { atMs, type } of marks) {
    const x = Math.round(chart.valToPos(atMs / 1000, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = ctx.fillStyle = color(MARK_COLORS[type]);
    ctx.setLineDash([3 * scale, 3 * scale]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.fill(symbolOf(type, x, bbox.top - MARK_SIZE * scale, MARK_SIZE * scale));
  }
  ctx.restore();
}

/** A triangle for a change, a diamond for drift, a circle for a corrected drift, a square for a decision. */
function symbolOf(type: MonitoringMark['type'], x: number, y: number, size: number): Path2D {
  const path = new Path2D();
  switch (type) {
    case 'change':
      path.moveTo(x - size, y - size);
      path.lineTo(x + size, y - size);
      path.lineTo(x, y + size);
      break;
    case 'drift':
      path.moveTo(x, y - size);
      path.lineTo(x + size, y);
      path.lineTo(x, y + size);
      path.lineTo(x - size, y);
      break;
    case 'corrected':
      path.arc(x, y, size * 0.8, 0, 2 * Math.PI);
      break;
    case 'other':
      path.rect(x - size * 0.7, y - size * 0.7, size * 1.4, size * 1.4);
      break;
  }
  path.closePath();
  return path;
}
