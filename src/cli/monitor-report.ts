import type { ComponentMonitor, MonitorItem } from '../model/observed.ts';
import { bucket, plot, type Sample, sparkline, summarize } from './plot.ts';
import { safeLine } from '../model/text.ts';
import { formatValue, guessUnit } from './units.ts';

/** What was asked for. Times in epoch seconds. */
export interface MonitorWindow {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly stepSeconds: number;
}

const PLOT_COLUMNS_MAX = 72;
/** Room for indentation, the axis and its labels. */
const MARGIN_COLUMNS = 20;
const SPARKLINE_COLUMNS = 24;

/**
 * Monitoring history as text: per component and item a sparkline with least, most and last, and a plot below it.
 * @param columns width of the terminal.
 */
export function renderMonitors(monitors: readonly ComponentMonitor[], window: MonitorWindow, columns: number): string {
  if (monitors.length === 0) {
    return 'no data: no component of the application reports monitoring history (components without the performance plugin never do)\n';
  }
  return monitors.map((monitor) => renderComponent(monitor, window, columns)).join('\n');
}

function renderComponent(monitor: ComponentMonitor, window: MonitorWindow, columns: number): string {
  const name = safeLine(monitor.componentName || monitor.componentAlias || monitor.serviceId);
  const head = `${name}  (component ${safeLine(monitor.serviceId)})\n`;
  const items = monitor.items ?? [];
  if (items.length === 0) return `${head}  no data: the platform has no monitoring items for it\n`;
  return head + items.map((item) => renderItem(item, window, columns)).join('');
}

function renderItem(item: MonitorItem, window: MonitorWindow, columns: number): string {
  const name = safeLine(item.name);
  const series = seriesOf(item);
  if (series.length === 0)
    return `  ${name}  no data${item.status === null ? '' : ` (status ${safeLine(item.status)})`}\n`;
  const unit = guessUnit(item.name);
  const label = (value: number): string => formatValue(value, unit);
  const { startSeconds, endSeconds, stepSeconds } = window;
  // More columns than samples would show gaps that are none.
  const samplesMax = Math.max(1, Math.floor((endSeconds - startSeconds) / stepSeconds));
  const width = Math.max(8, Math.min(PLOT_COLUMNS_MAX, columns - MARGIN_COLUMNS, samplesMax));
  return series
    .map((samples, at) => {
      const { min, max, last } = summarize(samples) ?? { min: 0, max: 0, last: 0 };
      const spark = sparkline(bucket(samples, startSeconds, endSeconds, Math.min(width, SPARKLINE_COLUMNS)));
      const title = series.length === 1 ? name : `${name} #${at + 1}`;
      const lines = plot(bucket(samples, startSeconds, endSeconds, width), startSeconds, endSeconds, label);
      const facts = `min ${label(min)}  max ${label(max)}  last ${label(last)}`;
      return `  ${title}  ${spark}  ${facts}\n${lines.map((line) => `    ${line}\n`).join('')}`;
    })
    .join('');
}

/**
 * The series that have samples, in the order of time. A server that answers to the letter of the documents sends every
 * sample as a series of its own: those are one.
 */
function seriesOf({ series }: MonitorItem): readonly (readonly Sample[])[] {
  const filled = series.map(({ samples }) => samples).filter((samples) => samples.length > 0);
  const isShattered = filled.length > 1 && filled.every((samples) => samples.length === 1);
  const whole = isShattered ? [filled.flat()] : filled;
  return whole.map((samples) => samples.toSorted(([left], [right]) => left - right));
}
