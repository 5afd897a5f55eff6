import { type DurationText, durationMsOf, formatDuration } from '../model/duration.ts';
import type { JsonObject } from '../model/json.ts';
import { DURATION_PATTERN, SHORT_TIME_PATTERN } from '../kinds/schema.ts';

/** A validated spec with its durations in milliseconds: `timeout: '30s'` becomes `timeoutMs: 30000`. */
export type Loaded<T> = T extends readonly (infer Item)[]
  ? readonly Loaded<Item>[]
  : T extends object
    ? {
        [K in keyof T as NonNullable<T[K]> extends DurationText ? `${K & string}Ms` : K]: NonNullable<
          T[K]
        > extends DurationText
          ? number
          : Loaded<T[K]>;
      }
    : T;

const DURATIONS: readonly unknown[] = [DURATION_PATTERN, SHORT_TIME_PATTERN];

/** Converts every duration of a spec. @param schema the schema that the spec has passed. */
export function load<T>(schema: JsonObject, spec: T): Loaded<T> {
  return loadValue(schema, spec) as Loaded<T>;
}

/** Returns a value of a loaded spec as a document has it, so a duration is a text: `30s`. @param schema of the value. */
export function loadedValue(spec: unknown, path: readonly string[], schema: JsonObject): unknown {
  const isDuration = DURATIONS.includes(schema['pattern']);
  let value = spec;
  for (const [at, step] of path.entries()) {
    const name = isDuration && at === path.length - 1 ? `${step}Ms` : step;
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
  }
  if (!isDuration || typeof value !== 'number') return value;
  return value % 1000 === 0 ? formatDuration(value) : `${value}ms`;
}

function loadValue(schema: JsonObject, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => loadValue(schema['items'] as JsonObject, item));
  if (typeof value !== 'object' || value === null) return value;
  const properties = schema['properties'] as Readonly<Record<string, JsonObject>> | undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const field = properties?.[key] ?? {};
      return DURATIONS.includes(field['pattern'])
        ? [`${key}Ms`, durationMsOf(String(one))]
        : [key, loadValue(field, one)];
    }),
  );
}
