import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { clockText } from './time-axis.ts';
import { chartOptions } from './options.ts';
import { theme } from '../theme.ts';
import type { ChartProps } from './model.ts';

/**
 * A chart of series over time. The pointer zooms by dragging; the keyboard moves the cursor (arrows), pans (Shift and arrows) and
 * zooms (+ and -). Screen readers get the values at the cursor.
 */
export function Chart(props: ChartProps) {
  const { label, height = 200 } = props;
  const [element, setElement] = useState<HTMLDivElement | null>(null);
  const [spoken, setSpoken] = useState('');
  const chart = useRef<uPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const scheme = useColorScheme();
  const shape = props.series.map(({ label: name, tone }) => `${name} ${tone}`).join('\n');

  useEffect(() => {
    if (element === null) return;
    const made = new uPlot(chartOptions(element, latest, height), dataOf(latest.current), element);
    chart.current = made;
    const watcher = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      made.destroy();
      chart.current = undefined;
    };
  }, [element, shape, scheme, height]);

  useEffect(() => chart.current?.setData(dataOf(props)), [props.times, props.series, props.marks]);

  return (
    <div class="chart">
      {/* A chart is a control of its own: arrows and letters belong to it while it has the focus. */}
      <div
        ref={setElement}
        class="chart-plot"
        role="application"
        aria-roledescription="chart"
        aria-label={`${label}. Arrows read the values, plus and minus zoom.`}
        tabIndex={0}
        onKeyDown={(event) => {
          if (chart.current !== undefined) onKey(event, chart.current, props, setSpoken);
        }}
      />
      <p class="hidden" role="status">
        {spoken}
      </p>
    </div>
  );
}

function dataOf({ times, series }: ChartProps): uPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

/** Counts changes of the colours, which a canvas does not follow by itself. */
function useColorScheme(): string {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const change = (): void => setDark(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return `${theme.value} ${isDark}`;
}

/** Part of the shown time by which a key pans or zooms. */
const STEP = 0.25;

function onKey(event: KeyboardEvent, chart: uPlot, props: ChartProps, speak: (text: string) => void): void {
  const { times, requested, onZoom } = props;
  const from = requested === undefined ? (times[0] ?? 0) : requested.fromMs / 1000;
  const to = requested === undefined ? (times.at(-1) ?? 0) : requested.toMs / 1000;
  const span = to - from;
  const at = chart.cursor.idx ?? times.length - 1;
  const zoom = (start: number, end: number): void => onZoom?.(start * 1000, end * 1000);
  const handled = (): boolean => {
    switch (event.key) {
      case 'ArrowLeft':
      case 'ArrowRight': {
        const direction = event.key === 'ArrowLeft' ? -1 : 1;
        if (event.shiftKey) zoom(from + direction * STEP * span, to + direction * STEP * span);
        else moveCursor(chart, Math.max(0, Math.min(times.length - 1, at + direction)), props, speak);
        return true;
      }
      case 'Home':
      case 'End':
        moveCursor(chart, event.key === 'Home' ? 0 : times.length - 1, props, speak);
        return true;
      case '+':
      case '=': {
        const middle = times[at] ?? to;
        const start = Math.max(from, Math.min(middle - STEP * span, to - 2 * STEP * span));
        zoom(start, start + 2 * STEP * span);
        return true;
      }
      case '-':
        zoom(from - 2 * STEP * span, to + 2 * STEP * span);
        return true;
      default:
        return false;
    }
  };
  if (event.ctrlKey || event.metaKey || event.altKey || !handled()) return;
  event.preventDefault();
  event.stopPropagation();
}

function moveCursor(chart: uPlot, index: number, props: ChartProps, speak: (text: string) => void): void {
  const time = props.times[index];
  if (time === undefined) return;
  chart.setCursor({ left: chart.valToPos(time, 'x'), top: chart.over.clientHeight / 2 });
  const values = props.series.map(({ label, values: all }) => {
    const value = all[index] ?? null;
    return `${label} ${value === null ? 'no sample' : props.format(value)}`;
  });
  const stepMs = ((props.times[1] ?? time) - (props.times[0] ?? time)) * 1000;
  const marks = (props.marks ?? []).filter(({ atMs }) => Math.abs(atMs - time * 1000) <= stepMs / 2);
  speak([clockText(time), ...values, ...marks.map(({ message }) => message)].join(', '));
}
