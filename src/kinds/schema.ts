import type { DurationText } from '../model/duration.ts';
import type { JsonObject } from '../model/json.ts';
import { choice, mapOf, objectOf, type Rules, type Schema, string } from '../model/schema-words.ts';
import type { KindDeclaration } from './kind.ts';

type DocumentSchemaInput = Pick<KindDeclaration<unknown>, 'kind' | 'specSchema' | 'examples' | 'defaultName'>;

/** Patterns and limits of texts that several kinds use. */
export const NAME_PATTERN = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$';
export const NAME_LENGTH_MAX = 63;
const NAME_EXPECTED = 'lower-case letters, digits, - and ., at most 63, a letter or digit at both ends';
export const NAME = { pattern: NAME_PATTERN, maxLength: NAME_LENGTH_MAX, 'x-expected': NAME_EXPECTED } as const;

/** Without control characters: a line break in a header value would start another header. */
export const ONE_LINE_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';
export const ONE_LINE_EXPECTED = 'text on one line, without control characters';
export const ONE_LINE = { pattern: ONE_LINE_PATTERN, 'x-expected': ONE_LINE_EXPECTED } as const;

export const URL_RULES = {
  pattern: '^https?://[A-Za-z0-9.:\\[\\]-]+(/[A-Za-z0-9._~%/-]*)?$',
  maxLength: 2048,
  'x-expected': 'an address such as https://console.example.com, without user, query or fragment',
} as const;

/** JSON keeps integers up to this maximum. */
export const ID_RULES = { minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
export const PORT_RULES = { minimum: 1, maximum: 65_535 } as const;

/** Returns the schema of a reference to another document by `metadata.name`. */
export function nameOf(
  kind: string,
  description = `metadata.name of the ${kind} document.`,
  rules: Rules = {},
): Schema<string> {
  const article = /^[AEIOU]/.test(kind) ? 'an' : 'a';
  return string(description, { ...NAME, ...rules, 'x-expected': `the name of ${article} ${kind}` });
}

/** `30s`, `10m`, `1h30m`. It has no look-ahead, so that an empty text and `1m1h` fail in linear time. */
export const DURATION_PATTERN = '^([0-9]{1,6}h([0-9]{1,6}m)?([0-9]{1,6}s)?|[0-9]{1,6}m([0-9]{1,6}s)?|[0-9]{1,6}s)$';
/** Milliseconds or seconds. */
export const SHORT_TIME_PATTERN = '^([0-9]{1,5}ms|[0-9]{1,2}s)$';

/** Returns the schema of a duration. @param rules its default, if the field may be left out. */
export function duration(description: string, rules: Rules = {}): Schema<DurationText> {
  return string(description, {
    pattern: DURATION_PATTERN,
    maxLength: 24,
    ...rules,
    'x-expected': 'a duration such as 30s, 10m or 1h30m',
  });
}

const labelKey = { type: 'string', pattern: '^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$', maxLength: 253 };

const annotationsOfPortolan = {
  'portolan/prune': choice('keep: never removed by Portolan, even when its document is.', ['keep']),
  'portolan/reconcile': choice(
    'heal: correct drift (the default). report: only say what drifted. suspend: leave it alone.',
    ['heal', 'report', 'suspend'],
  ),
  'portolan/moved-from': string(
    'Former metadata.name of the same object: the ledger keeps what it knows under the new name.',
    { ...NAME, examples: ['shop-www'] },
  ),
  'portolan/substitute': choice('disabled: ${NAME} is ordinary text in this document.', ['disabled']),
  'portolan/overwrite-hidden': choice(
    'Has no effect any more, and is accepted for older manifests: an update keeps the fields that the platform never shows.',
    ['true'],
  ),
  'portolan/on-removal': choice(
    'Decides about the fields when the document is removed: leave them, or restore the former values.',
    ['leave', 'restore'],
  ),
};

/** @param name the name of a document without one. */
function metadataSchema(name: string | undefined): JsonObject {
  const called = name === undefined ? {} : { default: name };
  return objectOf(
    'Names the document. Kind/name is unique within a source; the path of the file is not part of it.',
    {
      name: string(`Name of the document: ${NAME_EXPECTED}.`, { ...NAME, ...called }),
      'labels?': mapOf('Free texts by which commands select documents. Nothing of them reaches the platform.', {
        propertyNames: labelKey,
        additionalProperties: { type: 'string', maxLength: 1024 },
        examples: [{ env: 'prod' }],
      }),
      'annotations?': mapOf('Free texts; those that start with portolan/ change how the document is treated.', {
        // No other key may begin with portolan/, so that a misspelt annotation is reported instead of ignored.
        propertyNames: {
          ...labelKey,
          anyOf: [{ enum: Object.keys(annotationsOfPortolan) }, { not: { pattern: '^portolan/' } }],
        },
        properties: annotationsOfPortolan,
        additionalProperties: { type: 'string', maxLength: 4096 },
        examples: [{ 'portolan/reconcile': 'report' }],
      }),
    },
    name === undefined ? {} : { default: {} },
  );
}

export const API_VERSION = 'portolan/v1';

/** Returns the file name of a kind's published schema: `HttpGatewayRule` → `http-gateway-rule.schema.json`. */
export function schemaFileName(kind: string): string {
  return `${kind.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase()}.schema.json`;
}

/** The file name of one schema for documents of all kinds, for editors. */
export const COMBINED_SCHEMA_FILE = 'portolan.schema.json';

/**
 * Returns one JSON Schema for documents of any kind; `kind` decides which rules apply. It uses `if` and `then` instead of
 * `oneOf`, so that an editor shows the faults of that kind only.
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
      apiVersion: choice('Version of this format.', [API_VERSION]),
      kind: choice('Kind of the document.', kinds),
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

/** Returns the JSON Schema of a whole document of one kind, for editors and for the loader. */
export function documentSchema({ kind, specSchema, examples, defaultName }: DocumentSchemaInput): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: kind,
    examples,
    ...objectOf(specSchema.description, {
      apiVersion: choice('Version of this format.', [API_VERSION]),
      kind: choice(specSchema.description, [kind]),
      [defaultName === undefined ? 'metadata' : 'metadata?']: metadataSchema(defaultName),
      spec: specSchema,
    }),
  };
}

/** Returns an example document of a kind. */
export function documentOf(kind: string, name: string | undefined, spec: JsonObject, labels?: JsonObject): JsonObject {
  const metadata = labels === undefined ? { name } : { name, labels };
  return { apiVersion: API_VERSION, kind, ...(name === undefined ? {} : { metadata }), spec };
}
