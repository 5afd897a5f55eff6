import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Json, JsonObject } from '../../src/model/json.ts';

/**
 * `published-schemas.txt` says what the published schemas accepted when types and schemas were still written apart: for
 * each kind and each field of a corpus of documents, the values that the field may have in its place. Editors, and pipelines of
 * others, rely on it. After a deliberate change: UPDATE_GOLDEN=1, and read the difference.
 */
const GOLDEN = 'test/kinds/published-schemas.txt';
const FOLDER = process.env['SCHEMAS'] ?? 'schemas';

const TEXTS = [
  '',
  'x',
  'X',
  'a b',
  'a/b',
  'a\nb',
  '-a',
  '*',
  '5s',
  '100ms',
  '1h30m',
  'a'.repeat(64),
  'a'.repeat(5000),
  '/a',
  '../a',
  'https://example.com',
  'https://u:p@example.com',
  'keep',
  'portolan/a',
  'portolan/prune',
];
const LISTS: readonly Json[] = [[], [null], ['x'], ['x', 'x'], [{}]];
const OBJECTS: readonly Json[] = [{}, { x: 'y' }, { env: 'A' }, { env: 'A', file: '/a' }];
const VALUES: readonly Json[] = [null, true, ...TEXTS, -1, 0, 0.5, 1, 101, 70_000, 1e7, 2 ** 54, ...LISTS, ...OBJECTS];

function documentsOf(folder: string): JsonObject[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.ya?ml$/.test(file))
    .sort()
    .flatMap((file) => documentsIn(readFileSync(`${folder}/${file}`, 'utf8')))
    .filter((document) => document?.['apiVersion'] === 'portolan/v1' && typeof document['kind'] === 'string');
}

/** None of a file that no program can read: some of the corpus are made so. */
function documentsIn(text: string): JsonObject[] {
  try {
    const documents = parseAllDocuments(text, { logLevel: 'silent' });
    return Array.isArray(documents) ? documents.map((document) => document.toJS() as JsonObject) : [];
  } catch {
    return [];
  }
}

/** Every document that differs from one in one place: the place, a word on the difference, and the document. */
function* variants(
  value: Json | undefined,
  path: string,
): Generator<readonly [path: string, said: string, value: Json | undefined]> {
  for (const other of VALUES) yield [path, said(other), other];
  yield [path, 'absent', undefined];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      for (const [at, what, one] of variants(item as Json, `${path}[]`))
        yield [at, what, value.with(index, one ?? null)];
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const object = value as JsonObject;
  yield [path, 'one more member', { ...object, unknown: 'x' }];
  for (const [name, member] of Object.entries(object))
    for (const [at, what, one] of variants(member, `${path}.${name}`)) {
      const { [name]: _, ...rest } = object;
      yield [at, what, one === undefined ? rest : { ...rest, [name]: one }];
    }
}

function said(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 8)}…(${text.length})` : text;
}

function verdicts(): string {
  const validators = new Map<string, ValidateFunction>();
  const ajv = new Ajv2020({ strict: false });
  const combined = ajv.compile(JSON.parse(readFileSync(`${FOLDER}/portolan.schema.json`, 'utf8')) as JsonObject);
  const examples: JsonObject[] = [];
  for (const file of readdirSync(FOLDER).sort()) {
    const schema = JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8')) as JsonObject & {
      title: string;
      examples?: JsonObject[];
    };
    if (schema.examples === undefined) continue;
    validators.set(schema.title, ajv.compile(schema));
    examples.push(...schema.examples);
  }
  const accepted = new Map<string, Set<string>>();
  const whole: string[] = [];
  for (const document of [...examples, ...documentsOf('examples'), ...documentsOf('test/manifest/broken')]) {
    const kind = document['kind'] as string;
    const validate = validators.get(kind);
    if (validate === undefined) continue;
    const isValid = validate(document);
    expect(combined(document)).toBe(isValid);
    if (!isValid) {
      whole.push(`rejected: ${JSON.stringify(document)}`);
      continue;
    }
    for (const [path, what, variant] of variants(document, kind)) {
      if (typeof variant !== 'object') continue;
      const values = accepted.get(path) ?? new Set();
      if (validate(variant)) values.add(what);
      accepted.set(path, values);
    }
  }
  const fields = [...accepted].map(([path, values]) => `${path}: ${[...values].join(' ')}`);
  return `${[...fields.sort(), ...[...new Set(whole)].sort()].join('\n')}\n`;
}

test('the published schemas accept and reject what they did before types were derived from them', () => {
  const now = verdicts();
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, now);
  expect(now).toBe(readFileSync(GOLDEN, 'utf8'));
});
