import { expect, test } from 'vitest';
import { PortolanError } from '../../src/model/errors.ts';
import { decodeEndpoints, decodePort, decodePorts, endpointTable, portTable } from '../../src/kinds/component/wire.ts';
import {
  decodePlacedRules,
  decodeRule,
  decodeRules,
  placeTable,
  ruleTable,
} from '../../src/kinds/http-gateway-rule/wire.ts';
import { decodeInstall, decodeInstalled, installedTable, installTable } from '../../src/kinds/store-install/wire.ts';
import {
  decodeApplication,
  decodeApplicationSummaries,
  decodeApplicationSummary,
  decodeComponents,
  decodeRegions,
} from '../../src/platform/decode.ts';
import {
  applicationTable,
  componentTable,
  monitoredTable,
  monitorItemTable,
  regionTable,
  seriesTable,
  summaryTable,
} from '../../src/platform/records.ts';
import { decodeMonitors, decodeSeries } from '../../src/platform/decode-monitor.ts';
import type { RecordField } from '../../src/platform/record-fields.ts';
import { recordedExchange, recordedSecond } from './recorded.ts';

const PEM = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----';
const MASKED = '[removed: it looks like a certificate or key]';
const MISSING = Symbol('missing');

/** The verdicts of `matrix`, in this order: one letter for the need and type of a field. */
const columns = [
  'decides id',
  'decides text',
  'decides integer',
  'decides decimal',
  'decides code',
  'decides port',
  'decides flag',
  'shown id',
  'shown text',
  'shown texts',
  'shown flag',
  'shown rewrites',
] as const;

/**
 * The verdict on each value: `=` as it is, `-` as if the field were absent, `x` rejected as schema drift, `s` as text,
 * `n` as a number, `m` with the key in it removed, `e` as an empty JSON list.
 */
const matrix: readonly (readonly [name: string, value: unknown, verdicts: string])[] = [
  ['missing', MISSING, '------- -----'],
  ['null', null, '------- -----'],
  ['empty text', '', '-=xx=xx -=--='],
  ['words', 'two words', 'x=xx=xx -=--='],
  ['an integer as text', '7', '==xn=xx ==--='],
  ['a padded integer as text', '007', '==xx=xx ==--='],
  ['a fraction as text', '23.4375', 'x=xx=xx -=--='],
  ['an integer', 7, 'xx==s=x ss--s'],
  ['a number that is no port', 70_000, 'xx==sxx ss--s'],
  ['a fraction', 23.4375, 'xxxxxxx -s--s'],
  ['a number that is no integer any more', 1e300, 'xxxxxxx -s--s'],
  ['true', true, 'xxxxxx= -s-=s'],
  ['true as text', 'true', '==xx=xx ==--='],
  ['a path', '../x', 'x=xx=xx -=--='],
  ['a key', PEM, 'xmxxmxx -m--m'],
  ['a list', ['a', 1, PEM], 'xxxxxxx --m-e'],
  ['a record', { a: 1 }, 'xxxxxxx -----'],
];

/** undefined: the value is rejected. */
function expectedOf(
  { need, type, absent }: RecordField<unknown>,
  value: unknown,
  verdicts: string,
): { readonly value: unknown } | undefined {
  const verdict = verdicts.replace(' ', '')[columns.findIndex((column) => column === `${need} ${type}`)];
  switch (verdict) {
    case '=':
      return { value };
    case '-':
      return absent === undefined ? undefined : { value: absent };
    case 'x':
      return undefined;
    case 's':
      return { value: String(value) };
    case 'n':
      return { value: Number(value) };
    case 'm':
      return { value: Array.isArray(value) ? ['a', MASKED] : MASKED };
    case 'e':
      return { value: '[]' };
    default:
      throw new Error(`no verdict on a field that ${need} and is of type ${type}`);
  }
}

const good: Readonly<Record<string, unknown>> = {
  id: 'a1',
  text: 'words',
  texts: ['words'],
  integer: 3,
  decimal: 3,
  code: '1',
  port: 80,
  flag: true,
  rewrites: '[]',
};

type Table = Readonly<Record<string, RecordField<unknown>>>;
type Decode = (record: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

const where = 'GET https://console.example.com/x';
const first = (decode: (json: unknown, where: string) => readonly unknown[]): Decode => {
  return (record) => decode([record], where)[0] as Readonly<Record<string, unknown>>;
};
const bare = (decode: (json: unknown, where: string) => unknown): Decode => {
  return (record) => decode(record, where) as Readonly<Record<string, unknown>>;
};
const monitored = (monitors: readonly unknown[]): readonly unknown[] => [{ ...sample(monitoredTable), monitors }];
const itemOf = (json: unknown): Readonly<Record<string, unknown>> =>
  decodeMonitors(json, where)[0]?.items?.[0] as unknown as Readonly<Record<string, unknown>>;

/** Every record of the API, each with the decoders that read it. */
const records: readonly (readonly [string, Table, Decode])[] = [
  ['a region', regionTable, first(decodeRegions)],
  ['an application', applicationTable, bare(decodeApplication)],
  ['an application of a listing', summaryTable, first(decodeApplicationSummaries)],
  ['a created application', summaryTable, bare(decodeApplicationSummary)],
  ['a port of a listing', portTable, first(decodePorts)],
  ['a port', portTable, bare(decodePort)],
  [
    'a TCP endpoint',
    endpointTable,
    (record) => decodeEndpoints({ tcp: [record] }, where)[0] as unknown as Readonly<Record<string, unknown>>,
  ],
  ['a rule', ruleTable, bare(decodeRule)],
  ['a rule of a listing', ruleTable, first(decodeRules)],
  [
    'the place of a rule',
    placeTable,
    (record) => first(decodePlacedRules)({ ...without(sample(ruleTable), placeTable), ...record }),
  ],
  ['a component', componentTable, first(decodeComponents)],
  ['an installed model', installedTable, first(decodeInstalled)],
  ['an install', installTable, (record) => bare(decodeInstall)({ ...record, service_list: [] })],
  [
    'a component of an install',
    componentTable,
    (record) =>
      decodeInstall({ ...sample(installTable), service_list: [record] }, where).components[0] as unknown as Readonly<
        Record<string, unknown>
      >,
  ],
  ['a monitored component', monitoredTable, (record) => first(decodeMonitors)({ ...record, monitors: null })],
  [
    'the labels of a series',
    seriesTable,
    (metric) => bare((json) => decodeSeries(json, where)[0])({ data: { result: [{ metric, values: [] }] } }),
  ],
  ['a monitoring item', monitorItemTable, (record) => itemOf(monitored([{ ...record, data: null }]))],
];

function sample(table: object): Record<string, unknown> {
  return Object.fromEntries(Object.values(table as Table).map(({ wire, type }) => [wire[0], good[type]]));
}

function without(record: Readonly<Record<string, unknown>>, table: object): Record<string, unknown> {
  const names = new Set(Object.values(table as Table).flatMap(({ wire }) => wire));
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));
}

function withField(record: Readonly<Record<string, unknown>>, name: string, value: unknown): Record<string, unknown> {
  const { [name]: _, ...others } = record;
  return value === MISSING ? others : { ...others, [name]: value };
}

/** @throws where a decoder fails in another way than by schema drift. */
function outcomeOf(decode: () => unknown): { readonly value: unknown } | { readonly drift: string } {
  try {
    return { value: decode() };
  } catch (error) {
    expect(error).toBeInstanceOf(PortolanError);
    expect(error).toMatchObject({ code: 'platform/schema-drift' });
    return { drift: (error as PortolanError).message };
  }
}

const cases = records.flatMap(([name, table, decode]) =>
  Object.entries(table).flatMap(([property, field]) =>
    matrix.map(([mutation, value, verdicts]) => ({ name, table, decode, property, field, mutation, value, verdicts })),
  ),
);

test('every field of every record, with every type of value, has the verdict of its need and type', () => {
  let decided = 0;
  for (const { name, table, decode, property, field, mutation, value, verdicts } of cases) {
    const expected = expectedOf(field, value, verdicts);
    const [wire] = field.wire;
    const found = outcomeOf(() => decode(withField(sample(table), wire, value))[property]);
    const at = `${name}: ${wire} ${mutation}`;
    if (expected === undefined) expect(found, at).toMatchObject({ drift: expect.stringMatching(field.wire.join('|')) });
    else expect(found, at).toEqual(expected);
    if (field.need === 'shown') expect(expected, `${at} makes nothing unmanageable`).toBeDefined();
    decided += 1;
  }
  expect(decided).toBeGreaterThan(800);
});

test('a field that no table names changes nothing, whatever it holds', () => {
  for (const [name, table, decode] of records) {
    const plain = decode(sample(table));
    for (const [mutation, value] of matrix)
      expect(decode(withField(sample(table), 'field_of_another_version', value)), `${name}: ${mutation}`).toEqual(
        plain,
      );
  }
});

test('no table reads a key, a certificate or a token', () => {
  const read = new Set(records.flatMap(([, table]) => Object.values(table).flatMap(({ wire }) => wire)));
  for (const secret of ['token', 'ssl_ca_cert', 'cert_file', 'key_file', 'market_access_key', 'private_key'])
    expect(read.has(secret), secret).toBe(false);
});

test('an application is read whose detail the platform could not serialize', () => {
  const { body } = recordedSecond('application with a component of 100 MiB').response;
  expect(decodeApplication(body, where)).toMatchObject({ appId: 3, componentCount: 1 });
  const usual = recordedExchange('application detail').response.body as Record<string, unknown>;
  expect(Object.keys(body as object).sort()).toEqual(Object.keys(usual).sort());
});
