import { bare, clusterFailed, metricsFailed, refused } from './answers.ts';
import { type ApplicationCall, type Call, isExtended } from './call.ts';
import { componentStatus } from './records.ts';
import { type Item, items, sampleAt, timesBetween } from './samples.ts';
import type { ComponentRow, RegionRow } from './state.ts';
import type { Answer } from './wire.ts';

const DEFAULT_STEP_SECONDS = 60;
/** The limit of the metrics system behind the real server. */
const SAMPLES_MAX = 11_000;

/** 4.8. Only components that have the performance plugin appear; `is_outer` keeps those with an outer port. */
export function queryMonitor(call: ApplicationCall): Answer {
  const { state, request, context } = call;
  const start = Number(request.query['start'] || Number.NaN);
  const end = Number(request.query['end'] || Number.NaN);
  const step = Number(request.query['step'] || DEFAULT_STEP_SECONDS);
  if (!Number.isFinite(start) || !Number.isFinite(end) || !(step > 0)) {
    return refused(400, 'params error', '缺少query参数');
  }
  if ((end - start) / step > SAMPLES_MAX) {
    return refused(400, 'exceeded maximum resolution of 11,000 points per timeseries', '查询范围过大');
  }
  const times =
    state.facts.monitoring === 'lossy' ? [] : timesBetween(start, Math.min(end, context.nowMs / 1000), step);
  const records = monitoredComponents(call).map((row) => ({
    monitors: items.map((item) => ({
      data: {
        resultType: 'matrix',
        result: series(row, item, isRunning(call, call.region, row) ? times : [], isExtended(call)),
      },
      monitor_item: item.name,
      status: 'success',
    })),
    service_id: row.id,
    service_cname: row.name,
    service_alias: row.alias,
  }));
  return bare(records);
}

/** Extended: the latest sample of each item, time and value as text. An item without one is left out. */
export function queryMonitorNow(call: ApplicationCall): Answer {
  const { region, context } = call;
  if (!region.reachable) return clusterFailed();
  const time = context.nowMs / 1000;
  const records = monitoredComponents(call).map((row) => ({
    monitors: (isRunning(call, region, row) ? items : []).map((item) => ({
      data: {
        resultType: 'vector',
        result: [{ value: [String(time), String(Math.ceil(sampleAt(row, item, time)))] }],
      },
      monitor_item: item.name,
      status: 'success',
    })),
    service_id: row.id,
    service_cname: row.name,
    service_alias: row.alias,
  }));
  return bare(records);
}

function monitoredComponents({ state, application, request }: ApplicationCall): readonly ComponentRow[] {
  const onlyOuter = request.query['is_outer'] !== undefined;
  return state.components
    .in('application', String(application.id))
    .filter((row) => row.monitored)
    .filter((row) => !onlyOuter || state.ports.in('component', row.id).some((port) => port.outer));
}

function isRunning({ context }: Call, region: RegionRow, component: ComponentRow): boolean {
  return componentStatus(component, region.reachable, context.nowMs) === 'running';
}

/**
 * The extended dialect gives one series with all samples, `value: [[time, "1.5"], …]`. The documents say that `value`
 * is a list of strings, so there each sample is an element of its own: `value: ["time", "1.5"]`.
 */
function series(
  component: ComponentRow,
  item: Item,
  times: readonly number[],
  extended: boolean,
): readonly { readonly value: readonly unknown[] }[] {
  const samples = times.map((time) => [time, sampleAt(component, item, time).toFixed(3)] as const);
  if (extended || samples.length === 0) return [{ value: samples }];
  return samples.map(([time, value]) => ({ value: [String(time), value] }));
}

/**
 * Extended: an expression for the metrics system of a region, whose answer comes back as it is. For every token, and
 * with every sample. Understood are the metrics of `samples.ts`, for the components that the expression names in
 * `service_id="…"` or `service_id=~"…|…"`, else for all; `by (service_id)` gives a series for each of them.
 */
export function queryRegion(call: Call): Answer {
  const { state, request, context } = call;
  const region = state.regions.get(request.query['region_name'] ?? '');
  if (region === undefined) return refused(404, 'region not found', '数据中心不存在');
  if (!region.reachable) return clusterFailed();
  const expression = metricsExpression(request.query['query'] ?? '');
  const [start, end, step] = ['start', 'end', 'step'].map((name) => Number(request.query[name] || Number.NaN));
  if (expression === undefined || start === undefined || end === undefined || step === undefined)
    return metricsFailed();
  if (!Number.isFinite(start) || !Number.isFinite(end) || !(step > 0) || (end - start) / step > SAMPLES_MAX) {
    return metricsFailed();
  }
  const { item, named, isGrouped } = expression;
  if (item === undefined) return bare(matrix([]));
  const rows = [...state.components.all()]
    .filter((row) => row.region === region.name && row.monitored && isRunning(call, region, row))
    .filter((row) => named === undefined || named.includes(row.id));
  const times = timesBetween(start, Math.min(end, context.nowMs / 1000), step);
  const values = (members: readonly ComponentRow[]) =>
    times.map((time) => {
      const samples = members.map((row) => Math.ceil(sampleAt(row, item, time)));
      return [time, String(samples.reduce((sum, sample) => sum + sample, 0))];
    });
  if (rows.length === 0 || times.length === 0) return bare(matrix([]));
  if (!isGrouped) return bare(matrix([{ metric: {}, values: values(rows) }]));
  return bare(matrix(rows.map((row) => ({ metric: { service_id: row.id }, values: values([row]) }))));
}

function matrix(result: readonly object[]): object {
  return { status: 'success', data: { resultType: 'matrix', result } };
}

interface Expression {
  /** undefined: a metric that has no samples here. */
  readonly item: Item | undefined;
  /** undefined: of every component. */
  readonly named: readonly string[] | undefined;
  readonly isGrouped: boolean;
}

/** undefined: not an expression. The server hands on what it got without escaping: `&` ends it, and `+` is a space. */
function metricsExpression(given: string): Expression | undefined {
  const text = (given.split('&', 1)[0] ?? '').replaceAll('+', ' ').trim();
  if (text === '' || !isBalanced(text)) return undefined;
  const [, , ids] = /service_id\s*(=~?)\s*"([^"]*)"/.exec(text) ?? [];
  return {
    item: items.find(({ metric }) => new RegExp(`\\b${metric}\\b`).test(text)),
    named: ids?.split('|'),
    isGrouped: /\bby\s*\(\s*service_id\s*\)/.test(text),
  };
}

const closing: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']' };

function isBalanced(text: string): boolean {
  const open: string[] = [];
  for (const character of text.replaceAll(/"[^"]*"/g, '')) {
    const closes = closing[character];
    if (closes !== undefined) open.push(closes);
    else if (')}]'.includes(character) && open.pop() !== character) return false;
    else if (character === '"') return false;
  }
  return open.length === 0;
}
