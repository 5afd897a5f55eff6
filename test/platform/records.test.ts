import { expect, test } from 'vitest';
import { PortolanError } from '../../src/model/errors.ts';
import {
  decodeApplication,
  decodeApplicationSummaries,
  decodeApplicationSummary,
  decodeComponents,
  decodeInstall,
  decodeInstalled,
  decodePlacedRules,
  decodePort,
  decodePorts,
  decodeRegions,
  decodeRule,
  decodeRules,
} from '../../src/platform/decode.ts';
import { decodeMonitors } from '../../src/platform/decode-monitor.ts';
import type { RecordField } from '../../src/platform/record-fields.ts';
import {
  applicationTable,
  componentTable,
  installedTable,
  installTable,
  monitorDataTable,
  monitoredTable,
  monitorItemTable,
  placeTable,
  portTable,
  regionTable,
  ruleTable,
  summaryTable,
} from '../../src/platform/records.ts';
import { recordedExchange, recordedSecond } from './recorded.ts';

/** What becomes of a value: as it is, as if the field were absent, a refusal, or this one in its place. */
type Verdict = 'same' | 'absent' | 'rejected' | { readonly as: unknown };

const PEM = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----';
const masked = { as: '[removed: it looks like a certificate or key]' } as const;
const no: Verdict = 'rejected';
const none: Verdict = 'absent';
const MISSING = Symbol('missing');

const columns = [
  ...['decides id', 'decides text', 'decides integer', 'decides decimal', 'decides code', 'decides port'],
  ...['decides flag', 'shown id', 'shown text', 'shown texts', 'shown number', 'shown flag', 'shown rewrites'],
] as const;

/** The verdict on each value, by the column's need and type. */
const matrix: readonly (readonly [name: string, value: unknown, verdicts: readonly Verdict[]])[] = [
  ['missing', MISSING, Array.from(columns, () => none)],
  ['null', null, Array.from(columns, () => none)],
  ['empty text', '', [none, 'same', no, no, 'same', no, no, none, 'same', none, none, none, 'same']],
  ['words', 'two words', [no, 'same', no, no, 'same', no, no, none, 'same', none, none, none, 'same']],
  [
    'an integer as text',
    '7',
    ['same', 'same', no, { as: 7 }, 'same', no, no, 'same', 'same', none, { as: 7 }, none, 'same'],
  ],
  ['a padded integer', '007', ['same', 'same', no, no, 'same', no, no, 'same', 'same', none, { as: 7 }, none, 'same']],
  [
    'a fraction as text',
    '23.4375',
    [no, 'same', no, no, 'same', no, no, none, 'same', none, { as: 23.4375 }, none, 'same'],
  ],
  [
    'an integer',
    7,
    [no, no, 'same', 'same', { as: '7' }, 'same', no, { as: '7' }, { as: '7' }, none, 'same', none, { as: '7' }],
  ],
  [
    'a number that is no port',
    70_000,
    [
      ...[no, no, 'same' as const, 'same' as const, { as: '70000' }, no, no, { as: '70000' }, { as: '70000' }, none],
      ...['same' as const, none, { as: '70000' }],
    ],
  ],
  ['a fraction', 23.4375, [no, no, no, no, no, no, no, none, { as: '23.4375' }, none, 'same', none, { as: '23.4375' }]],
  ['true', true, [no, no, no, no, no, no, 'same', none, { as: 'true' }, none, none, 'same', { as: 'true' }]],
  ['true as text', 'true', ['same', 'same', no, no, 'same', no, no, 'same', 'same', none, none, none, 'same']],
  ['a path for an id', '../x', [no, 'same', no, no, 'same', no, no, none, 'same', none, none, none, 'same']],
  ['a key', PEM, [no, masked, no, no, masked, no, no, none, masked, none, none, none, masked]],
  [
    'a list',
    ['a', 1, PEM],
    [no, no, no, no, no, no, no, none, none, { as: ['a', masked.as] }, none, none, { as: '[]' }],
  ],
  ['a record', { a: 1 }, [no, no, no, no, no, no, no, none, none, none, none, none, none]],
];

const good: Readonly<Record<string, unknown>> = {
  id: 'a1',
  text: 'words',
  texts: ['words'],
  integer: 3,
  decimal: 3,
  code: '1',
  port: 80,
  flag: true,
  number: 1.5,
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
  ['a monitoring item', monitorItemTable, (record) => itemOf(monitored([{ ...record, data: null }]))],
  [
    'monitoring data',
    monitorDataTable,
    (record) => itemOf(monitored([{ monitor_item: 'm', data: { ...record, result: [] } }])),
  ],
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
    const column = columns.findIndex((one) => one === `${field.need} ${field.type}`);
    const verdict = verdicts[column];
    if (verdict === undefined) throw new Error(`no verdict on a field that ${field.need} and is of type ${field.type}`);
    const [wire] = field.wire;
    const found = outcomeOf(() => decode(withField(sample(table), wire, value))[property]);
    const at = `${name}: ${wire} ${mutation}`;
    const isRejected = verdict === 'rejected' || (verdict === 'absent' && field.absent === undefined);
    if (isRejected) expect(found, at).toMatchObject({ drift: expect.stringMatching(field.wire.join('|')) });
    else {
      const expected = verdict === 'same' ? value : verdict === 'absent' ? field.absent : verdict.as;
      expect(found, at).toEqual({ value: expected });
    }
    if (field.need === 'shown') expect(isRejected, `${at} makes nothing unmanageable`).toBe(false);
    decided += 1;
  }
  expect(decided).toBeGreaterThan(2_000);
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
  expect(decodeApplication(body, where)).toMatchObject({ appId: 3, usedCpuMillis: 23.4375, componentCount: 1 });
  const usual = recordedExchange('application detail').response.body as Record<string, unknown>;
  expect(Object.keys(body as object).sort()).toEqual(Object.keys(usual).sort());
});
