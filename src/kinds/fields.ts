import type { Json, JsonObject } from '../model/json.ts';
import type { KindDeclaration } from './kind.ts';
import { documentSchema } from './schema.ts';

/** One field of a document, as its schema describes it. */
export interface Field {
  /** Empty for the document itself. */
  readonly name: string;
  /** `spec.ports[].port`: `[]` stands for the entries of a list, `.*` for any key. */
  readonly path: string;
  /** `string`, `integer`, `list of objects`, `map of strings`. */
  readonly type: string;
  readonly description: string;
  /** `one-of`: exactly one of the field and its `alternatives`; `any-of`: at least one of them. */
  readonly need: 'required' | 'optional' | 'one-of' | 'any-of';
  /** The other fields of a choice. */
  readonly alternatives: readonly string[];
  readonly default: Json | undefined;
  /** All valid values; empty if the schema does not list them. */
  readonly values: readonly Json[];
  /** Further rules for a value, in words. */
  readonly expected: readonly string[];
  /** Names in the platform's API that the description mentions. */
  readonly api: readonly string[];
  /** A valid value; undefined if only the whole list or map has an example. */
  readonly example: Json | undefined;
  /** The fields one level below: of an object, of the entries of a list, or of the values of a map. */
  readonly fields: readonly Field[];
}

/** The keywords of JSON Schema that the kinds use. */
export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly { readonly required?: readonly string[] }[];
  readonly anyOf?: readonly { readonly required?: readonly string[] }[];
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly enum?: readonly Json[];
  readonly default?: Json;
  readonly examples?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly 'x-expected'?: string;
  readonly 'x-secret'?: string;
}

/** Returns the document of a kind with all its fields. */
export function documentFields(declaration: KindDeclaration<unknown>): Field {
  return fieldOf('', '', documentSchema(declaration) as SchemaNode & JsonObject, { required: [''] }, []);
}

/**
 * Follows the steps of a path without `[]`: `['spec', 'ports', 'port']`. Any name matches a free key.
 * @returns the last field that exists, and the first step that does not.
 */
export function followFields(root: Field, steps: readonly string[]): { readonly field: Field; readonly lost?: string } {
  let field = root;
  for (const step of steps) {
    const next = field.fields.find(({ name }) => name === step) ?? field.fields.find(({ name }) => name === '*');
    if (next === undefined) return { field, lost: step };
    field = next;
  }
  return { field };
}

/** @param found values of the field in the examples of its document. */
function fieldOf(name: string, path: string, schema: SchemaNode, parent: SchemaNode, found: readonly Json[]): Field {
  const values = [...found, ...(schema.examples ?? [])];
  const choice = choiceOf(name, parent);
  return {
    name,
    path,
    type: typeOf(schema),
    description: schema.description ?? '',
    need: parent.required?.includes(name) === true ? 'required' : (choice?.need ?? 'optional'),
    alternatives: choice?.others ?? [],
    default: schema.default,
    values: schema.enum ?? schema.items?.enum ?? [],
    expected: expectedOf(schema),
    api: apiNames(schema),
    example: values[0] ?? schema.default ?? schema.enum?.[0],
    fields: fieldsBelow(path, schema, values),
  };
}

function fieldsBelow(path: string, schema: SchemaNode, found: readonly Json[]): readonly Field[] {
  const { type, items, properties = {}, additionalProperties: free } = schema;
  if (type === 'array') return items === undefined ? [] : fieldsBelow(`${path}[]`, items, found.flat());
  const prefix = path === '' ? '' : `${path}.`;
  const objects = found.filter((value): value is JsonObject => typeof value === 'object' && value !== null);
  const named = Object.entries(properties).map(([name, child]) => {
    const below = objects.flatMap((object) => (object[name] === undefined ? [] : [object[name]]));
    return fieldOf(name, `${prefix}${name}`, child, schema, below);
  });
  if (typeof free !== 'object' || free.type !== 'object') return named;
  return [...named, fieldOf('*', `${prefix}*`, free, {}, [])];
}

function choiceOf(name: string, parent: SchemaNode) {
  for (const [need, branches] of [
    ['one-of', parent.oneOf],
    ['any-of', parent.anyOf],
  ] as const) {
    const names = (branches ?? []).flatMap(({ required = [] }) => required);
    if (names.includes(name)) return { need, others: names.filter((other) => other !== name) };
  }
  return undefined;
}

function typeOf({ type = 'object', items, additionalProperties: free, properties }: SchemaNode): string {
  if (type === 'array') return `list of ${plural(items === undefined ? 'object' : typeOf(items))}`;
  if (type === 'object' && properties === undefined && typeof free === 'object')
    return `map of ${plural(typeOf(free))}`;
  return type;
}

/** `lists of strings`, `objects`. */
function plural(type: string): string {
  return type.replace(/^\w+/, '$&s');
}

function expectedOf(schema: SchemaNode): readonly string[] {
  const { type, items, additionalProperties: free } = schema;
  if (type === 'array') return [...amount(schema.minItems, schema.maxItems, 'entries'), ...eachOf(items)];
  if (type === 'object') return typeof free === 'object' ? eachOf(free) : [];
  if (type === 'integer' || type === 'number') return amount(schema.minimum, schema.maximum, '');
  if (schema.enum !== undefined) return [];
  const words = schema['x-expected'];
  return words === undefined ? amount(schema.minLength, schema.maxLength, 'characters') : [words];
}

function eachOf(schema: SchemaNode | undefined): readonly string[] {
  const words = schema === undefined || schema.type === 'object' ? [] : expectedOf(schema);
  return words.map((text) => `each: ${text}`);
}

function amount(min: number | undefined, max: number | undefined, unit: string): readonly string[] {
  const last = unit === '' ? '' : ` ${unit}`;
  // JSON keeps no larger integer: a limit of the format, which users need not read.
  const most = max === Number.MAX_SAFE_INTEGER ? undefined : max;
  if (min !== undefined && min > 0 && most !== undefined) return [`${min} to ${most}${last}`];
  if (most !== undefined) return [min === undefined ? `at most ${most}${last}` : `${min} to ${most}${last}`];
  return min === undefined ? [] : [`at least ${min}${last}`];
}

/**
 * Returns the names behind the first colon of a description: "Port number: `container_port` of the record, `port` of the
 * request." A colon behind a valid value explains that value instead.
 */
function apiNames({ description = '', enum: values = [] }: SchemaNode): readonly string[] {
  const [, before = '', said = ''] =
    /^(.*?): ((?:(?:query|path parameter) )?`.*?)(?:\. |\.$|$)/.exec(description) ?? [];
  if (values.includes(before)) return [];
  return [...said.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}
