import { bare, refused } from './answers.ts';
import { type ApplicationCall, isExtended } from './call.ts';
import { componentStatus } from './records.ts';
import type { ComponentRow } from './state.ts';
import type { Answer } from './wire.ts';

const DEFAULT_STEP_SECONDS = 60;
/** As the metrics system behind the real server has it. */
const SAMPLES_MAX = 11_000;
const DAY_SECONDS = 86_400;

/** One item: its usual level, and how far it swings with the time of day. */
const items = [
  { name: 'request_time', level: 40, swing: 0.35 }, // milliseconds
  { name: 'request', level: 25, swing: 0.8 }, // requests per second
  { name: 'request_client', level: 12, swing: 0.7 }, // clients
] as const;

/** 4.8. Only components that have the performance plugin appear; `is_outer` keeps those with an outer port. */
export function queryMonitor(call: ApplicationCall): Answer {
  const { state, application, request, region, context } = call;
  const start = Number(request.query['start'] || Number.NaN);
  const end = Number(request.query['end'] || Number.NaN);
  const step = Number(request.query['step'] || DEFAULT_STEP_SECONDS);
  if (!Number.isFinite(start) || !Number.isFinite(end) || !(step > 0)) {
    return refused(400, 'params error', '缺少query参数');
  }
  if ((end - start) / step > SAMPLES_MAX) {
    return refused(400, 'exceeded maximum resolution of 11,000 points per timeseries', '查询范围过大');
  }
  const onlyOuter = request.query['is_outer'] !== undefined;
  const components = state.components
    .in('application', String(application.id))
    .filter((row) => row.monitored)
    .filter((row) => !onlyOuter || state.ports.in('component', row.id).some((port) => port.outer));
  const times =
    state.facts.monitoring === 'lossy' ? [] : timesBetween(start, Math.min(end, context.nowMs / 1000), step);
  const records = components.map((row) => {
    const isRunning = componentStatus(row, region.reachable, context.nowMs) === 'running';
    return {
      monitors: items.map((item) => ({
        data: { resultType: 'matrix', result: series(row, item, isRunning ? times : [], isExtended(call)) },
        monitor_item: item.name,
        status: 'success',
      })),
      service_id: row.id,
      service_cname: row.name,
      service_alias: row.alias,
    };
  });
  return bare(records);
}

function timesBetween(start: number, end: number, step: number): readonly number[] {
  const count = end < start ? 0 : Math.floor((end - start) / step) + 1;
  return Array.from({ length: count }, (_, index) => start + index * step);
}

/**
 * The extended dialect gives one series with all samples, `value: [[time, "1.5"], …]`. The documents say that `value`
 * is a list of strings, so there each sample is an element of its own: `value: ["time", "1.5"]`.
 */
function series(
  component: ComponentRow,
  item: (typeof items)[number],
  times: readonly number[],
  extended: boolean,
): readonly { readonly value: readonly unknown[] }[] {
  const samples = times.map((time) => [time, sampleAt(component.id, item, time).toFixed(3)] as const);
  if (extended || samples.length === 0) return [{ value: samples }];
  return samples.map(([time, value]) => ({ value: [String(time), value] }));
}

/** Looks like traffic: busy by day, quiet by night, with noise; the same for the same component, item and time. */
function sampleAt(componentId: string, item: (typeof items)[number], time: number): number {
  const own = 0.5 + uniform(`${componentId} ${item.name}`);
  const peak = uniform(componentId) * 0.1 + 0.55; // a little after noon
  const day = Math.cos(2 * Math.PI * ((time % DAY_SECONDS) / DAY_SECONDS - peak));
  const noise = 0.9 + 0.2 * uniform(`${componentId} ${item.name} ${time}`);
  return item.level * own * (1 + item.swing * day) * noise;
}

/** A number in [0, 1) from a text (FNV-1a with a final mix). */
function uniform(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
