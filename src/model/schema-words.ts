import type { JsonObject } from './json.ts';

/** Parts that the JSON Schemas of plans and of the API are made of. */

export const text = { type: 'string' } satisfies JsonObject;
export const trueOrFalse = { type: 'boolean' } satisfies JsonObject;
export const count = { type: 'integer', minimum: 0 } satisfies JsonObject;
export const time = { type: 'number', description: 'Milliseconds since 1970-01-01T00:00Z.' } satisfies JsonObject;
export const textMap = { type: 'object', additionalProperties: text } satisfies JsonObject;

/** The same with a word on what it is. */
export function described(schema: JsonObject, description: string): JsonObject {
  return { ...schema, description };
}

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

/** Members that a value of the type may lack. */
type OptionalKey<T> = { [K in keyof T]-?: T extends Record<K, T[K]> ? never : K }[keyof T] & string;

/** As `objectOf`, tied to a type: a member that is missing, or one too many, does not compile. */
export function recordOf<T>(
  description: string,
  properties: Readonly<Record<keyof T & string, JsonObject>>,
  optional: readonly OptionalKey<T>[] = [],
): JsonObject {
  return objectOf(description, properties, optional);
}

/** A page of a list. */
export function pageSchema(item: string, more: Readonly<Record<string, JsonObject>> = {}): JsonObject {
  return objectOf('A part of a list.', {
    items: arrayOf(ref(item)),
    nextCursor: { ...nullable(text), description: 'Pass it as cursor for what follows; null: this is the end.' },
    ...more,
  });
}
