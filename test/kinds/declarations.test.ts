import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { isPunycode } from '../../src/kinds/http-gateway-rule/punycode.ts';
import { documentSchema, schemaFileName } from '../../src/kinds/schema.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { arrayOf, choice, integer, nullable, objectOf, string, type TypeOf } from '../../src/model/schema-words.ts';

const KINDS = [...kindDeclarations.values()];

interface Node {
  readonly path: string;
  readonly schema: JsonObject;
}

/** Every schema within a schema, with a path for messages. */
function nodesOf(schema: JsonObject, path: string): readonly Node[] {
  const children: Node[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    if (key === 'properties') {
      for (const [name, property] of Object.entries(value))
        children.push(...nodesOf(property as JsonObject, `${path}.${name}`));
    } else if (['items', 'propertyNames', 'additionalProperties'].includes(key)) {
      children.push(...nodesOf(value as JsonObject, `${path}.${key}`));
    }
  }
  return [{ path, schema }, ...children];
}

test.for(KINDS)('$kind: its schema is valid 2020-12', (declaration) => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, keywords: ['x-expected', 'x-secret'] });
  expect(ajv.validateSchema(documentSchema(declaration))).toBe(true);
  expect(ajv.errors).toBe(null);
});

test.for(KINDS)('$kind: every field has a description, and every pattern a limit of length', ({ kind, specSchema }) => {
  const fields = nodesOf(specSchema, kind).filter(({ path }) => !path.endsWith('.items') && path !== kind);
  expect(fields.length).toBeGreaterThan(0);
  const nodes = nodesOf(documentSchema({ kind, specSchema, examples: [] }), kind);
  expect(fields.filter(({ schema }) => typeof schema['description'] !== 'string').map(({ path }) => path)).toEqual([]);
  const patterns = nodes.filter(({ schema }) => schema['pattern'] !== undefined);
  expect(patterns.filter(({ schema }) => schema['maxLength'] === undefined).map(({ path }) => path)).toEqual([]);
});

test.for(KINDS)('$kind: no object of its schema takes fields that it does not name', ({ kind, specSchema }) => {
  const open = nodesOf(specSchema, kind).filter(({ schema }) => {
    const others = schema['additionalProperties'];
    // A map from free names, such as labels, says what its values are.
    const isMap = typeof others === 'object' && others !== null && 'type' in others && others.type === 'string';
    return schema['type'] === 'object' && others !== false && !isMap;
  });
  expect(open.map(({ path }) => path)).toEqual([]);
});

const LENGTH = 100 * 1024;
const adversarial = [
  'a',
  'a.',
  '-',
  'a-',
  '.',
  '/',
  '1',
  '1h',
  '1m',
  'A_',
  '*.',
  'xn--a.',
  ' ',
  '://',
  '[',
  'é',
  '\n',
].map((unit) => unit.repeat(LENGTH / unit.length));

/** Processor time: a quadratic pattern takes 10¹⁰ steps here, tens of seconds; a linear one some milliseconds. */
const CPU_MS_MAX = 5_000;

test.for(KINDS)('$kind: each pattern is linear on 100 KiB made to confuse it', (declaration) => {
  const patterns = new Set(
    nodesOf(documentSchema(declaration), declaration.kind).flatMap(({ schema }) =>
      typeof schema['pattern'] === 'string' ? [schema['pattern']] : [],
    ),
  );
  expect(patterns.size).toBeGreaterThan(0);
  for (const pattern of patterns) {
    const expression = new RegExp(pattern, 'u');
    for (const text of adversarial) {
      for (const attempt of [text, `${text}!`, `${text}\u0000`]) {
        const before = process.cpuUsage();
        expression.test(attempt);
        const { user } = process.cpuUsage(before);
        expect(user / 1000, `${pattern} on ${attempt.slice(0, 8)}…`).toBeLessThan(CPU_MS_MAX);
      }
    }
  }
});

test.for(KINDS)('$kind: has its folder with a page for users, and an example', ({ kind, trust }) => {
  const name = schemaFileName(kind).replace('.schema.json', '');
  const parent = trust === 'operator' ? 'configuration' : 'kinds';
  const files = readdirSync(`src/${parent}/${name}`);
  expect(files).toEqual(expect.arrayContaining(['declaration.ts', 'spec.ts']));
  expect(files.includes('README.md') || existsSync(`docs/reference/${name}.md`), 'has a page').toBe(true);
  const examples = readdirSync('examples', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.yaml'),
  );
  expect(examples.some((file) => readFileSync(`examples/${file}`, 'utf8').includes(`\nkind: ${kind}\n`))).toBe(true);
});

test('the published schemas are what the kinds say', () => {
  const run = () => execFileSync('node', ['.config/schemas.ts', '--check'], { stdio: 'pipe', encoding: 'utf8' });
  expect(run).not.toThrow();
});

test('every modeline of the examples names a schema that exists', () => {
  for (const file of readdirSync('examples', { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.yaml')) continue;
    const lines = readFileSync(`examples/${file}`, 'utf8').matchAll(/\$schema=(.*)/g);
    for (const [, path] of lines)
      expect(existsSync(new URL(`../../examples/${file}/../${path}`, import.meta.url)), `${file}: ${path}`).toBe(true);
  }
});

test('a value that does not fit its schema does not compile', () => {
  const schema = objectOf('Spec.', {
    port: integer('Port.'),
    'mode?': choice('Mode.', ['on', 'off']),
    list: arrayOf(nullable(string('One.')), { default: [] }),
  });
  type Spec = TypeOf<typeof schema>;
  const fits: readonly Spec[] = [
    { port: 1, list: [] },
    { port: 1, mode: 'on', list: ['a', null] },
  ];
  const unfit: readonly Spec[] = [
    // @ts-expect-error -- A member is missing, although a document may leave it to its default.
    { port: 1 },
    // @ts-expect-error -- A member is unknown.
    { port: 1, list: [], more: 1 },
    // @ts-expect-error -- The type is another one.
    { port: 'one', list: [] },
    // @ts-expect-error -- The text is none of those.
    { port: 1, mode: 'no', list: [] },
    // @ts-expect-error -- A member that may be missing is not undefined.
    { port: 1, mode: undefined, list: [] },
  ];
  const validate = new Ajv2020().compile(schema);
  expect(fits.map((value) => validate(value))).toEqual([true, true]);
  expect(unfit.slice(1, 4).map((value) => validate(value))).toEqual([false, false, false]);
  expect(schema).toMatchObject({ additionalProperties: false, required: ['port'] });
  // @ts-expect-error -- Members are not to be changed.
  expect(() => (Object.freeze(fits[0] as Spec).port = 2)).toThrow(TypeError);
});

test.for([
  ['bcher-kva', true],
  ['n3h', true],
  ['fiqs8s', true],
  ['80ak6aa92e', true],
  ['mgbh0fb', true],
  ['', false],
  ['abc-', false],
  ['0', false],
  ['99999999999999999999', false],
  ['a_b', false],
] as const)('punycode %s: %s', ([label, valid]) => {
  expect(isPunycode(label)).toBe(valid);
});
