import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

/** One request to a real server and its answer. Later exchanges build on earlier ones. */
export interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly body?: unknown;
    /** A body that is sent as it is. */
    readonly raw?: string;
    readonly headers?: Readonly<Record<string, string>>;
    /** `plain`: the token of a user without enterprise rights. */
    readonly token?: string;
  };
  readonly response: { readonly status: number; readonly contentType: string; readonly body: unknown };
}

/** The exchanges of one file in test/recorded, in order. */
export function recording(file: string): readonly Exchange[] {
  return recordedText(file)
    .trim()
    .split('\n')
    .map((line): Exchange => JSON.parse(line));
}

export function recordedText(file: string): string {
  return readFileSync(new URL(`../recorded/${file}`, import.meta.url), 'utf8');
}

/** Members whose value a server makes up: ids and the names that contain one. */
const GENERATED = new Set([
  'http_rule_id',
  'tcp_rule_id',
  'event_id',
  'market_name',
  'name',
  'service_id',
  'target_id',
  'service_alias',
  'service_name',
  'k8s_component_name',
]);
const idPattern = /^(?:[0-9a-f]{32}|gr[0-9a-f]{6})$/;
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

/**
 * Which id of the recording stands for which id of the sandbox. A pair is learned where both servers made an id up, and
 * from then on each stands for the other and for nothing else.
 */
export class Twins {
  readonly #live = new Map<string, string>();
  readonly #seed: string;

  /** `seed`: the text of the seed. Ids in it are no twins: both servers know them. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  /** The text with the sandbox's ids in place of the recorded ones. */
  translate(text: string): string {
    let translated = text;
    for (const [recorded, live] of this.#live) translated = translated.replaceAll(recorded, live);
    return translated;
  }

  learn(recorded: unknown, live: unknown, name = ''): void {
    if (Array.isArray(recorded) && Array.isArray(live)) {
      for (const [index, item] of recorded.entries()) this.learn(item, live[index], name);
    } else if (isObject(recorded) && isObject(live)) {
      for (const [key, item] of Object.entries(recorded)) this.learn(item, live[key], key);
    } else if (typeof recorded === 'string' && typeof live === 'string') this.#pair(name, recorded, live);
  }

  #pair(name: string, recorded: string, live: string): void {
    if (!GENERATED.has(name) || !idPattern.test(recorded) || this.#live.has(recorded)) return;
    if (this.#seed.includes(`"${recorded}"`)) return;
    assert.match(live, idPattern, `${name} of the sandbox`);
    assert.equal(live.length, recorded.length);
    assert.ok(![...this.#live.values()].includes(live), `${name} of the sandbox is already another one's`);
    this.#live.set(recorded, live);
  }
}

/** What an answer must be: every recorded value, but for ids, times of day and measurements. */
export function expected(recorded: unknown, twins: Twins): unknown {
  return withMeasurements(JSON.parse(twins.translate(JSON.stringify(recorded))));
}

function withMeasurements(value: unknown, name = ''): unknown {
  if (name === 'values' && Array.isArray(value)) return expect.arrayContaining([[expect.any(Number), numeral]]);
  if (name === 'value' && Array.isArray(value) && value.length > 0) return [numeral, numeral];
  if (Array.isArray(value)) return value.map((item) => withMeasurements(item, name));
  if (isObject(value)) {
    const isEvent = Object.hasOwn(value, 'opt_type') || Object.hasOwn(value, 'utime');
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
      key,
      isEvent ? withoutTime(item) : withMeasurements(item, key),
    ]);
    return Object.fromEntries(entries);
  }
  return value;
}

const numeral = expect.stringMatching(/^\d+(?:\.\d+)?$/);

/** Events say when they happened, which is another time in every run. */
function withoutTime(value: unknown): unknown {
  if (typeof value === 'number') return expect.any(Number);
  return typeof value === 'string' && timePattern.test(value) ? expect.stringMatching(timePattern) : value;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
