import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PortolanError } from '../../src/model/errors.ts';
import { decodePort, decodePorts } from '../../src/kinds/component/wire.ts';
import { decodePlacedRules, decodeRule, decodeRules } from '../../src/kinds/http-gateway-rule/wire.ts';
import { decodeInstall, decodeInstalled } from '../../src/kinds/store-install/wire.ts';
import {
  decodeApplication,
  decodeApplicationSummaries,
  decodeComponents,
  decodeRegions,
} from '../../src/platform/decode.ts';
import { decodeMonitors } from '../../src/platform/decode-monitor.ts';
import { recordedExchange, recordedExchanges } from './recorded.ts';

const where = 'GET https://console.example.com/x';
const decoders = {
  decodeRegions,
  decodeApplication,
  decodeApplicationSummaries,
  decodePort,
  decodePorts,
  decodeRule,
  decodeRules,
  decodeInstalled,
  decodeInstall,
  decodeComponents,
  decodeMonitors,
} as const;
type Decoder = (json: unknown, where: string) => unknown;
const everyDecoder = Object.entries(decoders) as readonly (readonly [string, Decoder])[];

function bodyOf(name: string): unknown {
  return recordedExchange(name).response.body;
}

function faultOf(decode: Decoder, json: unknown): string {
  try {
    decode(json, where);
  } catch (error) {
    expect(error).toBeInstanceOf(PortolanError);
    expect(error).toMatchObject({ code: 'platform/schema-drift', disposition: 'give-up' });
    return (error as PortolanError).message;
  }
  return expect.fail('decoded');
}

const region = {
  region_id: '11111111111111111111111111111111',
  region_name: 'rainbond',
  region_alias: 'One',
  url: 'https://region.example.com',
  status: '1',
  desc: '',
};
const port = {
  container_port: 80,
  protocol: 'http',
  port_alias: 'WEB',
  is_inner_service: true,
  is_outer_service: false,
  k8s_service_name: 'web',
};

test('a region leaves its certificates and keys behind', () => {
  const pem = '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----';
  const full = { ...region, wsurl: 'wss://x', httpdomain: 'h', tcpdomain: 't', scope: 'private' };
  const decoded = decodeRegions([{ ...full, ssl_ca_cert: pem, cert_file: pem, key_file: pem }], where);
  expect(decoded).toEqual([
    {
      id: region.region_id,
      name: 'rainbond',
      alias: 'One',
      url: 'https://region.example.com',
      websocketUrl: 'wss://x',
      httpDomain: 'h',
      tcpDomain: 't',
      status: '1',
      description: '',
      scope: 'private',
    },
  ]);
  expect(decodeRegions([{ ...region, desc: `see ${pem}` }], where)[0]?.description).not.toContain('MIIE');
  expect(decodeRegions([{ ...region, status: 3 }], where)[0]?.status).toBe('3');
});

test.for([
  ['bare', [port]],
  ['under list', { list: [port] }],
  ['under data', { data: [port] }],
  ['under data.list', { code: 200, data: { bean: {}, list: [port] } }],
  ['with a total that fits', { list: [port], total: 1 }],
] as const)('a list is found %s', ([, json]) => {
  expect(decodePorts(json, where)).toEqual([
    { port: 80, protocol: 'http', alias: 'WEB', inner: true, outer: false, serviceName: 'web' },
  ]);
});

test.for([
  ['bare', port],
  ['under bean', { bean: port }],
  ['under data.bean', { code: 200, data: { bean: port, list: [] } }],
] as const)('a record is found %s', ([, json]) => {
  expect(decodePort(json, where).port).toBe(80);
});

test('a page is not taken for the whole list', () => {
  expect(faultOf(decodePorts, { list: [port], total: 2 })).toContain('list: total 2: expected the whole list');
  expect(faultOf(decodePorts, { data: { list: [port], total: 20 } })).toContain('total 20');
});

test.for([
  [
    'a text for a number',
    decodePorts,
    { list: [{ ...port, container_port: '80' }] },
    'list[0].container_port: expected an integer, got a string',
  ],
  [
    'a number for a flag',
    decodePorts,
    [port, { ...port, is_inner_service: 1 }],
    '[1].is_inner_service: expected true or false, got an integer',
  ],
  [
    'nothing for a flag',
    decodePorts,
    [{ ...port, is_outer_service: null }],
    '[0].is_outer_service: expected true or false, got null',
  ],
  [
    'a port out of range',
    decodePorts,
    [{ ...port, container_port: 70_000 }],
    '[0].container_port: expected a port from 1 to 65535',
  ],
  ['a list for a record', decodePort, [port], 'expected an object, got a list'],
  ['a record for a list', decodePorts, port, 'expected a list of records, got an object'],
  ['a text for a record', decodePorts, ['x'], '[0]: expected an object, got a string'],
  ['nothing', decodePorts, null, 'expected a list of records, got null'],
  [
    'a name that is missing',
    decodeRegions,
    [{ ...region, region_name: undefined }],
    '[0].region_name: expected a string, got nothing',
  ],
  [
    'an id that leads elsewhere',
    decodeComponents,
    [{ service_id: '../x', service_key: 'k', service_alias: 'gr1' }],
    '[0].service_id: expected an identifier',
  ],
  [
    'an id that is too long',
    decodeInstalled,
    [{ app_model_id: 'a'.repeat(65) }],
    '[0].app_model_id: expected an identifier',
  ],
  [
    'a rule without an id',
    decodeRule,
    { http_rule_id: '', service_id: 'a', container_port: 80, domain_name: 'x' },
    'http_rule_id: expected an identifier',
  ],
  [
    'an install without components',
    decodeInstall,
    { ID: 1 },
    'service_list: expected a list of components, got nothing',
  ],
  [
    'components that are none',
    decodeInstall,
    { ID: 1, service_list: [{}] },
    'service_list[0].service_id: expected an identifier, got nothing',
  ],
  [
    'half a sample',
    decodeMonitors,
    [{ service_id: 'a', monitors: [{ monitor_item: 'm', data: { result: [{ value: [1] }] } }] }],
    'monitors[0].data.result[0].value: expected pairs',
  ],
] as const)('%s is a fault with its place', ([, decode, json, words]) => {
  const message = faultOf(decode as Decoder, json);
  expect(message).toContain(words);
  expect(message.startsWith(`${where}: `)).toBe(true);
});

test('a fault names the kind of what came, never the value', () => {
  expect(faultOf(decodePorts, [{ ...port, container_port: 'secret-value' }])).not.toContain('secret-value');
});

test('a blank rule is absent, alone and in a list', () => {
  const blank = bodyOf('get an unknown rule');
  expect(decodeRule(blank, where)).toBeUndefined();
  const rules = bodyOf('list rules') as readonly unknown[];
  expect(decodeRules([blank, ...rules], where)).toEqual(decodeRules(rules, where));
  expect(decodeRule({}, where)).toBeUndefined();
});

test('a rule of the enterprise says where it is, and its misspelt header is read', () => {
  const [rule] = bodyOf('list rules') as readonly Record<string, unknown>[];
  const listed = { ...rule, team_name: 'team-a', region_name: 'r', app_id: 7, domain_heander: 'x=y' };
  const place = { team: 'team-a', region: 'r', appId: 7 };
  expect(decodePlacedRules([listed], where)[0]).toMatchObject({ ...place, rule: { header: 'x=y' } });
});

test.for([
  ['a string', '[]', '[]'],
  ['nothing', null, null],
  ['an empty list', [], '[]'],
  [
    'a list',
    [{ regex: '^/a', replacement: '/b', flag: 'last', more: 1 }],
    '[{"regex":"^/a","replacement":"/b","flag":"last"}]',
  ],
] as const)('rewrites that come as %s are kept as text', ([, rewrites, text]) => {
  const [rule] = bodyOf('list rules') as readonly Record<string, unknown>[];
  expect(decodeRule({ ...rule, rewrites }, where)?.rewrites).toBe(text);
});

test('what is installed, two copies as two entries', () => {
  const entry = {
    app_model_id: 'm1',
    app_model_name: 'MySQL',
    market_name: 'store',
    current_version: '8',
    upgrade_versions: ['9', 10],
    upgrade_group_id: 4,
  };
  const model = {
    modelId: 'm1',
    name: 'MySQL',
    marketName: 'store',
    reportedVersion: '8',
    installGroupId: 4,
  };
  const { upgrade_group_id: _, ...documented } = entry;
  expect(decodeInstalled([entry, documented], where)).toEqual([model, { ...model, installGroupId: null }]);
});

test('applications of a team, by either name of their id', () => {
  const rows = [
    { ID: 3, group_name: 'shop', k8s_app: 'shop', secret: 'x' },
    { app_id: 4, group_name: 'b' },
  ];
  expect(decodeApplicationSummaries(rows, where)).toEqual([
    { appId: 3, name: 'shop' },
    { appId: 4, name: 'b' },
  ]);
});

test.for([
  [
    'pairs with text',
    {
      value: [
        [1_700_000_000, '1.5'],
        [1_700_000_060, '2'],
      ],
    },
    [
      [1_700_000_000, 1.5],
      [1_700_000_060, 2],
    ],
  ],
  ['one flat pair', { value: [1_700_000_000, '3'] }, [[1_700_000_000, 3]]],
  ['a flat pair of texts', { value: ['1700000000', '3'] }, [[1_700_000_000, 3]]],
  ['under values', { values: [[1, '2']], value: [] }, [[1, 2]]],
  ['none', { value: [] }, []],
  ['absent', {}, []],
  [
    'not a number',
    {
      value: [
        [1, 'NaN'],
        [2, '5'],
      ],
    },
    [[2, 5]],
  ],
] as const)('samples that come as %s', ([, result, samples]) => {
  const json = [
    { service_id: 'a', service_cname: 'web', monitors: [{ monitor_item: 'm', data: { result: [result] } }] },
  ];
  expect(decodeMonitors(json, where)[0]?.items?.[0]?.series).toEqual([{ samples }]);
});

test('a component without monitoring says so with null', () => {
  expect(decodeMonitors([{ service_id: 'a', monitors: null }], where)).toEqual([
    { serviceId: 'a', componentName: '', componentAlias: '', items: null },
  ]);
});

test('a component may be short of everything that is only shown, and says null for it', () => {
  const [component] = decodeComponents([{ service_id: 'a', service_key: 'k', service_alias: 'gr1' }], where);
  expect(component).toMatchObject({
    serviceId: 'a',
    displayName: null,
    installGroupId: null,
  });
  expect(Object.values(component ?? {})).not.toContain(undefined);
});

/** JSON in which real field names, and so real branches, are common. */
const neverRecorded = ['total', 'values', 'upgrade_versions', 'service_list', 'app_model_id', '__proto__'];
const fieldNames = [...new Set(recordedExchanges.flatMap(({ response }) => namesIn(response.body))), ...neverRecorded];
function namesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [...(Array.isArray(value) ? [] : [key]), ...namesIn(item)]);
}
const pem = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----';
const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, true, 1, 80, 'a', '', '1', pem, `x ${pem}`),
  fc.string(),
  fc.double(),
);
const { tree: anyJson } = fc.letrec((tie) => ({
  tree: fc.oneof({ depthSize: 'small' }, leaf, tie('list'), tie('record')),
  list: fc.array(tie('tree'), { maxLength: 4 }),
  record: fc.dictionary(fc.constantFrom(...fieldNames), tie('tree'), { maxKeys: 12 }),
}));

test('whatever comes, a decoder gives a value or says schema-drift, and nothing of a key gets out', () => {
  fc.assert(
    fc.property(fc.constantFrom(...everyDecoder), anyJson, ([, decode], json) => {
      let seen: string;
      try {
        seen = JSON.stringify(decode(json, where)) ?? '';
      } catch (error) {
        expect(error).toBeInstanceOf(PortolanError);
        seen = (error as PortolanError).message;
      }
      expect(seen).not.toMatch(/-----BEGIN|MIIEvQ/);
    }),
    { numRuns: 2_000 },
  );
});

/** Recorded answers, each with some of its values replaced: near misses reach deeper than arbitrary JSON. */
test('a recorded answer with any value replaced decodes or says schema-drift, and lets no key out', () => {
  const samples: readonly (readonly [Decoder, unknown])[] = [
    [decodeRegions, bodyOf('list regions')],
    [decodeApplication, bodyOf('application detail')],
    [decodeComponents, bodyOf('list components')],
    [decodePorts, bodyOf('list ports')],
    [decodeRules, bodyOf('list rules')],
    [decodeMonitors, bodyOf('monitoring history')],
  ];
  fc.assert(
    fc.property(fc.constantFrom(...samples), fc.nat(200), leaf, ([decode, body], position, value) => {
      let count = 0;
      const json: unknown = JSON.parse(JSON.stringify(body), (_, item: unknown) =>
        count++ === position ? value : item,
      );
      let seen: string;
      try {
        seen = JSON.stringify(decode(json, where));
      } catch (error) {
        expect(error).toBeInstanceOf(PortolanError);
        seen = (error as PortolanError).message;
      }
      expect(seen).not.toMatch(/-----BEGIN|MIIEvQ/);
    }),
    { numRuns: 2_000 },
  );
});
