import type { DurationText } from '../model/duration.ts';
import type { JsonObject } from '../model/json.ts';

/** Every key of every member of a union. */
type KeyOf<T> = T extends unknown ? keyof T : never;
type ValueAt<T, K> = T extends unknown ? (K extends keyof T ? Exclude<T[K], undefined> : never) : never;

interface Described {
  readonly description: string;
  /** Further keywords of JSON Schema. */
  readonly [keyword: string]: unknown;
}

/** The JSON Schema that a value of type `V` must have; only what ties it to the type is spelled out. */
export type SchemaOf<V> = Described &
  ([V] extends [boolean]
    ? { readonly type: 'boolean' }
    : [V] extends [number]
      ? { readonly type: 'integer' | 'number' }
      : [V] extends [DurationText]
        ? { readonly type: 'string'; readonly pattern: DurationPattern }
        : [V] extends [string]
          ? { readonly type: 'string' } & (string extends V ? unknown : { readonly enum: readonly V[] })
          : [V] extends [readonly (infer Item)[]]
            ? { readonly type: 'array'; readonly items: SchemaOf<Item> }
            : string extends keyof V
              ? { readonly type: 'object'; readonly additionalProperties: SchemaOf<V[keyof V]> }
              : {
                  readonly type: 'object';
                  readonly additionalProperties: false;
                  readonly properties: PropertiesOf<V>;
                });

/**
 * `properties` of an object schema, tied to the type: a missing key, a key too many or a wrong `type` does not compile.
 */
export type PropertiesOf<T> = { readonly [K in KeyOf<T> & string]: SchemaOf<ValueAt<T, K>> };

/** A reference to another document by `metadata.name`. */
export function nameOf(kind: string) {
  return {
    type: 'string',
    pattern: NAME_PATTERN,
    maxLength: NAME_LENGTH_MAX,
    description: `metadata.name of the ${kind} document.`,
    'x-expected': `the name of a ${kind}`,
  } as const;
}

export const NAME_PATTERN = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$';
export const NAME_LENGTH_MAX = 63;
export const NAME_EXPECTED = 'lower-case letters, digits, - and ., at most 63, a letter or digit at both ends';

/** An id or a name of the platform that becomes part of a request's path. */
export const PATH_SEGMENT_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.-]*$';
export const PATH_SEGMENT_EXPECTED = 'letters, digits, _, . and -, at most 64, not starting with . or -';

/** `30s`, `10m`, `1h30m`. Without look-ahead, so that the empty text and `1m1h` fail in linear time. */
export const DURATION_PATTERN = '^([0-9]{1,6}h([0-9]{1,6}m)?([0-9]{1,6}s)?|[0-9]{1,6}m([0-9]{1,6}s)?|[0-9]{1,6}s)$';
/** Milliseconds or seconds. */
export const SHORT_TIME_PATTERN = '^([0-9]{1,5}ms|[0-9]{1,2}s)$';
type DurationPattern = typeof DURATION_PATTERN | typeof SHORT_TIME_PATTERN;
const DURATION_EXPECTED = 'a duration such as 30s, 10m or 1h30m';
const DURATION_LENGTH_MAX = 24;

/** A duration that must be written. */
export function duration(description: string) {
  return {
    type: 'string',
    pattern: DURATION_PATTERN,
    maxLength: DURATION_LENGTH_MAX,
    description,
    'x-expected': DURATION_EXPECTED,
  } as const;
}

/** A duration that is `fallback` where nobody writes it. */
export function durationOr(fallback: string, description: string) {
  return {
    type: 'string',
    pattern: DURATION_PATTERN,
    maxLength: DURATION_LENGTH_MAX,
    default: fallback,
    description,
    'x-expected': DURATION_EXPECTED,
  } as const;
}

/** No control characters at all: a line break in a header value would start a header of its own. */
export const ONE_LINE_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';
export const ONE_LINE_EXPECTED = 'text on one line, without control characters';

/** What the server may later evaluate as code, so only this passes. */
export const EXTENSION_PATTERN = '^[A-Za-z0-9_.-]{1,32}$';
export const EXTENSION_EXPECTED = 'letters, digits, _, . and -, 1 to 32 of them';

export const URL_PATTERN = '^https?://[A-Za-z0-9.:\\[\\]-]+(/[A-Za-z0-9._~%/-]*)?$';
export const URL_EXPECTED = 'an address such as https://console.example.com, without user, query or fragment';

/** A secret by reference. `x-secret` makes an inline value an error and keeps it out of every message. */
export const secretReferenceSchema = {
  type: 'object',
  additionalProperties: false,
  oneOf: [{ required: ['env'] }, { required: ['file'] }],
  'x-secret': 'reference',
  properties: {
    env: {
      type: 'string',
      pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
      maxLength: 128,
      description: 'Name of the environment variable that holds the secret.',
      examples: ['PORTOLAN_TOKEN'],
      'x-secret': 'name',
      'x-expected': 'the NAME of an environment variable (letters, digits and _), not its value',
    },
    file: {
      type: 'string',
      minLength: 1,
      maxLength: 4096,
      pattern: ONE_LINE_PATTERN,
      description: 'Path of the file that holds the secret; one line break at its end is dropped.',
      examples: ['/run/secrets/token'],
      'x-secret': 'name',
      'x-expected': 'the PATH of a file, not its content',
    },
  },
} as const;

const annotationsOfPortolan = {
  'portolan/prune': {
    type: 'string',
    enum: ['keep'],
    description: 'keep: never removed by Portolan, even when its document is.',
  },
  'portolan/reconcile': {
    type: 'string',
    enum: ['heal', 'report', 'suspend'],
    description: 'heal: correct drift (the default). report: only say what drifted. suspend: leave it alone.',
  },
  'portolan/moved-from': {
    type: 'string',
    pattern: NAME_PATTERN,
    maxLength: NAME_LENGTH_MAX,
    description: 'Former metadata.name of the same object: the ledger keeps what it knows under the new name.',
    examples: ['shop-www'],
    'x-expected': NAME_EXPECTED,
  },
  'portolan/substitute': {
    type: 'string',
    enum: ['disabled'],
    description: 'disabled: ${NAME} is ordinary text in this document.',
  },
  'portolan/overwrite-hidden': {
    type: 'string',
    enum: ['true'],
    description:
      'Has no effect any more, and is accepted for older manifests: an update keeps the fields that the platform never shows.',
  },
  'portolan/on-removal': {
    type: 'string',
    enum: ['leave', 'restore'],
    description: 'What happens to the fields when the document is removed: leave them, or restore the former values.',
  },
} as const;

const labelKey = { type: 'string', pattern: '^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$', maxLength: 253 } as const;

const metadataSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  description: 'Names the document. Kind/name is unique within a source; the path of the file is not part of it.',
  properties: {
    name: {
      type: 'string',
      pattern: NAME_PATTERN,
      maxLength: NAME_LENGTH_MAX,
      description: `Name of the document: ${NAME_EXPECTED}.`,
      'x-expected': NAME_EXPECTED,
    },
    labels: {
      type: 'object',
      propertyNames: labelKey,
      additionalProperties: { type: 'string', maxLength: 1024 },
      examples: [{ env: 'prod' }],
      description: 'Free texts by which commands select documents. Nothing of them reaches the platform.',
    },
    annotations: {
      type: 'object',
      // Our own prefix is closed, so that a misspelt annotation is an error and not silently without effect.
      propertyNames: {
        ...labelKey,
        anyOf: [{ enum: Object.keys(annotationsOfPortolan) }, { not: { pattern: '^portolan/' } }],
      },
      properties: annotationsOfPortolan,
      additionalProperties: { type: 'string', maxLength: 4096 },
      examples: [{ 'portolan/reconcile': 'report' }],
      description: 'Free texts; those that start with portolan/ change how the document is treated.',
    },
  },
} as const;

export const API_VERSION = 'portolan/v1';

/** Name of the published schema of a kind: `HttpGatewayRule` → `http-gateway-rule.schema.json`. */
export function schemaFileName(kind: string): string {
  return `${kind.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase()}.schema.json`;
}

/** Name of the schema that all kinds share: an editor needs no other, whatever documents a file has. */
export const COMBINED_SCHEMA_FILE = 'portolan.schema.json';

/**
 * Returns one JSON Schema for documents of any kind: `kind` decides which rules apply. `if` and `then` instead of `oneOf`, so that an
 * editor shows the faults of that kind and not those of all others.
 */
export function combinedSchema(declarations: readonly DocumentSchemaInput[]): JsonObject {
  const kinds = declarations.map(({ kind }) => kind);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Portolan document',
    description: "A manifest or a document of the operator's configuration. Its kind decides which fields it has.",
    type: 'object',
    required: ['apiVersion', 'kind'],
    properties: {
      apiVersion: { type: 'string', enum: [API_VERSION], description: 'Version of this format.' },
      kind: { type: 'string', enum: kinds, description: 'Kind of the document.' },
    },
    allOf: kinds.map((kind) => ({
      if: { required: ['kind'], properties: { kind: { const: kind } } },
      then: { $ref: `#/$defs/${kind}` },
    })),
    $defs: Object.fromEntries(
      declarations.map((declaration) => {
        const { $schema: _, ...schema } = documentSchema(declaration);
        return [declaration.kind, schema];
      }),
    ),
  };
}

/** What `documentSchema` needs of a `KindDeclaration`. */
export interface DocumentSchemaInput {
  readonly kind: string;
  readonly description: string;
  readonly specSchema: JsonObject;
  readonly examples: readonly JsonObject[];
  readonly defaultName?: string;
}

/** JSON Schema of a whole document of one kind: what editors use, and what the loader checks. */
export function documentSchema(declaration: DocumentSchemaInput): JsonObject {
  const { kind, description, specSchema, examples, defaultName } = declaration;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: kind,
    description,
    examples,
    type: 'object',
    additionalProperties: false,
    required: defaultName === undefined ? ['apiVersion', 'kind', 'metadata', 'spec'] : ['apiVersion', 'kind', 'spec'],
    properties: {
      apiVersion: { type: 'string', enum: [API_VERSION], description: 'Version of this format.' },
      kind: { type: 'string', enum: [kind], description },
      metadata:
        defaultName === undefined
          ? metadataSchema
          : { ...metadataSchema, required: [], default: {}, properties: namedByDefault(defaultName) },
      spec: specSchema,
    },
  };
}

function namedByDefault(name: string): JsonObject {
  return { ...metadataSchema.properties, name: { ...metadataSchema.properties.name, default: name } };
}
