import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { documentFields, type Field } from '../../src/kinds/fields.ts';
import { loadConfiguration } from '../../src/configuration/configuration.ts';
import { validateDocument } from '../../src/manifest/validate.ts';

const KINDS = [...kindDeclarations.values()];

function everyField(field: Field): readonly Field[] {
  return [field, ...field.fields.flatMap(everyField)];
}

/** What can be looked up by a path of the API of fields: `spec.ports[].port` in its kind. */
function fieldOf(kind: string, path: string): Field | undefined {
  const declaration = kindDeclarations.get(kind);
  return declaration && everyField(documentFields(declaration)).find((field) => field.path === path);
}

const platforms = ['default']
  .map((name) =>
    JSON.stringify({
      apiVersion: 'portolan/v1',
      kind: 'Platform',
      metadata: { name },
      spec: { url: 'https://a.example.com' },
    }),
  )
  .join('\n---\n')
  .concat('\n');

test.for(KINDS)('$kind: its examples are valid', (declaration) => {
  expect(declaration.examples.length).toBeGreaterThan(0);
  for (const example of declaration.examples) {
    expect(validateDocument(declaration, structuredClone(example))).toEqual([]);
    if (declaration.trust !== 'operator') continue;
    // A window of an example names a Platform, which stands beside the Settings.
    const beside = example['kind'] === 'Settings' ? platforms : '';
    const text = `${beside}---\n${JSON.stringify(example)}`;
    expect(loadConfiguration(kindDeclarations, text, 'portolan.yaml').problems).toEqual([]);
  }
});

test.for(KINDS)('$kind: every field has an example, and a description', (declaration) => {
  const fields = everyField(documentFields(declaration));
  expect(fields.filter(({ example }) => example === undefined).map(({ path }) => path)).toEqual([]);
  expect(fields.filter(({ description }) => description === '').map(({ path }) => path)).toEqual([]);
});

test.for([
  ['Component', 'spec.serviceId', { need: 'one-of', alternatives: ['from'], api: ['service_id'], type: 'string' }],
  ['Component', 'spec.ports', { type: 'list of objects', expected: ['at most 1000 entries'], need: 'optional' }],
  ['Component', 'spec.ports[].port', { need: 'required', expected: ['1 to 65535'], api: ['container_port', 'port'] }],
  ['Component', 'spec.unlistedPorts', { default: 'keep', values: ['keep', 'close', 'delete'], api: [] }],
  ['Application', 'spec.appId', { type: 'integer', expected: ['at least 1'], api: ['app_id'] }],
  ['Application', 'spec.health[].min', { need: 'any-of', alternatives: ['max'] }],
  ['Application', 'metadata.labels', { type: 'map of strings', fields: [] }],
  ['StoreInstall', 'spec.wait.for', { values: ['running'], api: [] }],
  ['StoreInstall', 'spec.build', { api: ['is_deploy'], default: false }],
  ['Settings', 'spec.scopes.allow', { type: 'list of strings', default: ['*/*/*'] }],
  ['Settings', 'spec.server.tokens[].value.file', { need: 'one-of', alternatives: ['env', 'sops'] }],
] as const)('%s.%s is read from the schema', ([kind, path, expected]) => {
  expect(fieldOf(kind, path)).toMatchObject(expected);
});
