import type { Json, JsonObject } from './json.ts';

/**
 * Functions that define a type and its JSON Schema together: `Schema<T>` is the JSON Schema, `TypeOf` returns `T`. At run
 * time a schema is the plain JSON that is published, and nothing else.
 */

declare const typed: unique symbol;

/** The JSON Schema of the values of a type. */
export type Schema<T = unknown> = JsonObject & { readonly [typed]?: T };

export type TypeOf<S> = S extends { readonly [typed]?: infer T } ? T : never;

type Members = Readonly<Record<string, Schema>>;
type NameOf<Key> = Key extends `${infer Name}?` ? Name : Key;
type Simplified<T> = { [K in keyof T]: T[K] };

/** The type of an object. As in TypeScript, a member whose name ends in `?` may be missing. */
export type ObjectOf<M> = Simplified<
  { readonly [K in keyof M as K extends `${string}?` ? never : K]: TypeOf<M[K]> } & {
    readonly [K in keyof M as K extends `${infer Name}?` ? Name : never]?: TypeOf<M[K]>;
  }
>;

export type ObjectSchema<M> = Schema<ObjectOf<M>> & {
  readonly description: string;
  readonly properties: { readonly [K in keyof M as NameOf<K>]: M[K] };
};

export const text: Schema<string> = { type: 'string' };
export const trueOrFalse: Schema<boolean> = { type: 'boolean' };
export const count: Schema<number> = { type: 'integer', minimum: 0 };
export const time: Schema<number> = { type: 'number', description: 'Milliseconds since 1970-01-01T00:00Z.' };
export const jsonObject: Schema<JsonObject> = { type: 'object' };
export const textMap: Schema<Readonly<Record<string, string>>> = { type: 'object', additionalProperties: text };

/** Further keywords. A field with a default may be missing in a document, and is always present after it was read. */
export interface Rules extends JsonObject {
  /** The rule for a text in words, which a message shows in place of the pattern. */
  readonly 'x-expected'?: string;
}

/** Returns a schema with a description. */
export function described<S extends Schema>(schema: S, description: string): S {
  return { ...schema, description };
}

export function string<T extends string = string>(
  description: string,
  { 'x-expected': expected, ...rules }: Rules = {},
): Schema<T> {
  return { type: 'string', ...rules, description, ...(expected === undefined ? {} : { 'x-expected': expected }) };
}

function wordFor<T>(type: string) {
  return (description: string, rules: Rules = {}): Schema<T> => ({ type, ...rules, description });
}

export const integer = wordFor<number>('integer');
export const number = wordFor<number>('number');
export const boolean = wordFor<boolean>('boolean');

/** Any JSON value. */
export function json(description?: string): Schema<Json> {
  return description === undefined ? {} : { description };
}

/** One of several texts. */
export function choice<const V extends string>(
  description: string,
  values: readonly V[],
  rules: Rules = {},
): Schema<V> {
  return { type: 'string', enum: values, ...rules, description };
}

export function literal<const V extends string>(...values: readonly V[]): Schema<V> {
  return { type: 'string', enum: values };
}

export function arrayOf<T>(items: Schema<T>, rules: Rules = {}): Schema<readonly T[]> {
  return { type: 'array', ...rules, items };
}

/** A map from any name to a text. */
export function mapOf(description: string, rules: Rules): Schema<Readonly<Record<string, string>>> {
  return { type: 'object', ...rules, description };
}

export function only<const V extends string>(value: V): Schema<V> {
  return { type: 'string', const: value };
}

/** A value that fits exactly one of several schemas. */
export function oneOf<const S extends readonly Schema[]>(
  description: string,
  alternatives: S,
): Schema<TypeOf<S[number]>> {
  return { description, oneOf: alternatives };
}

export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  return { anyOf: [schema, { type: 'null' }] };
}

/** An object with these members and no others. Required are all but those with a default or a `?` behind their name. */
export function objectOf<const M extends Members>(description: string, members: M, rules: Rules = {}): ObjectSchema<M> {
  const required = Object.keys(members).filter(
    (name) => !name.endsWith('?') && members[name]?.['default'] === undefined,
  );
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name.replace(/\?$/, ''), schema]),
  ) as ObjectSchema<M>['properties'];
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    ...rules,
    description,
    properties,
  };
}

/** An object that may be missing. It then has the defaults of its members. */
export function section<const M extends Members>(description: string, members: M): ObjectSchema<M> {
  return objectOf(description, members, { default: {} });
}

/** A reference to one of the named schemas. */
export function ref<T>(name: string): Schema<T> {
  return { $ref: `#/components/schemas/${name}` };
}

/** Returns the schema of one page of a list. @param item names the schemas that an item can have. */
export function pageSchema(item: string | readonly string[], more: Members = {}) {
  return objectOf('One page of a list.', {
    items: arrayOf(typeof item === 'string' ? ref(item) : { anyOf: item.map(ref) }),
    nextCursor: described(nullable(text), 'The cursor of the next page. null: this is the last page.'),
    ...more,
  });
}
