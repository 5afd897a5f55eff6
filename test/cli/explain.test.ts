import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { displayWidth } from '../../src/cli/terminal/text.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { documentFields, type Field } from '../../src/kinds/fields.ts';
import { collectingTerminal, runHere } from './running.ts';

const KINDS = [...kindDeclarations.values()];

function paths(field: Field): readonly string[] {
  return [field.path, ...field.fields.flatMap(paths)];
}

test('one field is told with type, default, values, limits, the field of the API, and an example', async () => {
  expect(await runHere(['explain', 'Component.spec.ports[].port'])).toEqual({
    code: 0,
    err: '',
    out: `Component.spec.ports[].port

  Port number: \`container_port\` of the record, \`port\` of the request that adds
  it.

  type      integer
  required  yes
  must be   1 to 65535
  API       container_port, port

Example:
  spec:
    ports:
      - port: 8080
`,
  });
});

test('a kind is told with an example of a whole document and its fields', async () => {
  const { code, out } = await runHere(['explain', 'StoreInstall']);
  expect(code).toBe(0);
  const example = /\nExample:\n((?: {2}.*\n)+)/.exec(out)?.[1] ?? '';
  expect(parse(example)).toEqual(kindDeclarations.get('StoreInstall')?.examples[0]);
  expect(out).toMatch(/\nFields:\n {2}apiVersion <string> required\n {4}Version of this format\.\n/);
});

test.for([
  ['component', 'Component'],
  ['COMPONENTS', 'Component'],
  ['http-gateway-rules', 'HttpGatewayRule'],
  ['store_install', 'StoreInstall'],
  ['settings', 'Settings'],
  ['component.spec.ports', 'Component.spec.ports'],
  ['component.ports.alias', 'Component.spec.ports[].alias'],
  ['component.spec.ports[0].alias', 'Component.spec.ports[].alias'],
  ['component.spec.ports.0.alias', 'Component.spec.ports[].alias'],
  ['application.metadata.annotations.portolan/prune', 'Application.metadata.annotations.portolan/prune'],
] as const)('%s is understood as %s', async ([word, title]) => {
  const { code, out } = await runHere(['explain', word]);
  expect(code).toBe(0);
  expect(out.split('\n')[0]).toBe(title);
});

test.for([
  ['componet', /no kind called componet[^]*Did you mean Component\?/],
  ['component.sepc', /Component\.spec has no field called sepc[^]*Did you mean spec\?/],
  ['component.spec.prots', /Did you mean ports\?[^]*serviceId/],
  ['component.spec.ports.service_name', /Component\.spec\.ports has no field/],
  ['component.spec.ports.port.x', /It has no fields at all/],
  ['component.spec.\u001b[2J', /called \\u001b\[2J/],
] as const)('%s is refused, and what was meant is named', async ([word, words]) => {
  const run = await runHere(['explain', word]);
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toMatch(words);
});

test('without a word, the kinds are listed', async () => {
  const { out } = await runHere(['explain']);
  for (const { kind } of KINDS) expect(out).toMatch(new RegExp(`^${kind} \\((?:manifests|configuration)\\)$`, 'm'));
  const json = JSON.parse((await runHere(['explain', '-o', 'json'])).out) as { kinds: { kind: string }[] };
  expect(json.kinds.map(({ kind }) => kind)).toEqual(KINDS.map(({ kind }) => kind));
});

test('as JSON, fields are one level deep, and with --recursive all of them', async () => {
  const shallow = JSON.parse((await runHere(['explain', 'component.spec', '-o', 'json'])).out) as Field;
  expect(shallow).toMatchObject({ kind: 'Component', standsIn: 'manifests', path: 'spec', type: 'object' });
  expect(shallow.fields.find(({ name }) => name === 'ports')?.fields).toEqual([
    'port',
    'protocol',
    'alias',
    'inner',
    'outer',
  ]);
  const deep = JSON.parse((await runHere(['explain', 'component', '--recursive', '-o', 'json'])).out) as Field;
  expect(paths(deep)).toContain('spec.from.install');
});

test('with --recursive every field of a kind is one line', async () => {
  const { out } = await runHere(['explain', 'platform', '--recursive']);
  expect(out).toContain('\n    auth <object>\n      header <string> required\n      value <object> required\n');
});

test.for(KINDS)('$kind fits a terminal of 40 columns, field by field', async (declaration) => {
  for (const path of ['', ...paths(documentFields(declaration)).filter((each) => each !== '')]) {
    for (const args of [[], ['--recursive']]) {
      const { terminal, text } = collectingTerminal({ isTerminal: true, columns: 40 });
      const word = path === '' ? declaration.kind : `${declaration.kind}.${path}`;
      expect((await runHere(['explain', word, ...args], { terminal })).code, word).toBe(0);
      // A title is a path to be copied, and an example YAML: neither may be broken where a value is longer than a line.
      const [, ...lines] = text.out.replace(/\nExample:\n(?: {2}.*\n)+/, '\n').split('\n');
      expect(lines.filter((line) => displayWidth(line) > 40)).toEqual([]);
    }
  }
});
