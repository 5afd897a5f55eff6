import type { JsonObject } from '../model/json.ts';

/** Parts that schemas of the API are made of. */

export const text = { type: 'string' } satisfies JsonObject;
export const trueOrFalse = { type: 'boolean' } satisfies JsonObject;
export const count = { type: 'integer', minimum: 0 } satisfies JsonObject;
export const time = { type: 'number', description: 'Milliseconds since 1970-01-01T00:00Z.' } satisfies JsonObject;
export const textMap = { type: 'object', additionalProperties: text } satisfies JsonObject;

export function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

export function literal(...values: readonly string[]): JsonObject {
  return { type: 'string', enum: values };
}

export function arrayOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

export function nullable(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: 'null' }] };
}

/** An object that has these fields, no others, and all of them but the optional ones. */
export function objectOf(
  description: string,
  properties: Readonly<Record<string, JsonObject>>,
  optional: readonly string[] = [],
): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', description, additionalProperties: false, required, properties };
}

/** A page of a list. */
export function pageSchema(item: string, more: Readonly<Record<string, JsonObject>> = {}): JsonObject {
  return objectOf('A part of a list.', {
    items: arrayOf(ref(item)),
    nextCursor: { ...nullable(text), description: 'Pass it as cursor for what follows; null: this is the end.' },
    ...more,
  });
}
