import type { ComponentRow } from './state.ts';

const DAY_SECONDS = 86_400;

/** A metric of a component: its usual level, and its amplitude over the day. */
export const items = [
  { name: 'request_time', metric: 'app_requesttime', level: 40, swing: 0.35 }, // milliseconds
  { name: 'request', metric: 'app_request', level: 25, swing: 0.8 }, // requests per second
  { name: 'request_client', metric: 'app_requestclient', level: 12, swing: 0.7 }, // clients
] as const;

export type Item = (typeof items)[number];

/** Looks like traffic: busy by day, quiet by night, with noise; the same for the same component, item and time. */
export function sampleAt({ id }: ComponentRow, item: Item, time: number): number {
  const own = 0.5 + uniform(`${id} ${item.name}`);
  const peak = uniform(id) * 0.1 + 0.55; // a little after noon
  const day = Math.cos(2 * Math.PI * ((time % DAY_SECONDS) / DAY_SECONDS - peak));
  const noise = 0.9 + 0.2 * uniform(`${id} ${item.name} ${time}`);
  return item.level * own * (1 + item.swing * day) * noise;
}

/** `start`, `start + step`, … up to `end`. */
export function timesBetween(start: number, end: number, step: number): readonly number[] {
  const count = end < start ? 0 : Math.floor((end - start) / step) + 1;
  return Array.from({ length: count }, (_, index) => start + index * step);
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
