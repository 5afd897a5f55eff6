import { expect, test } from 'vitest';
import { handle } from '../../src/sandbox/handle.ts';
import { checkSeed } from '../../src/sandbox/seed-check.ts';
import { stateOf } from '../../src/sandbox/seed.ts';
import { recordedSeed } from '../../src/sandbox/seeds/recorded.ts';
import type { SandboxState } from '../../src/sandbox/state.ts';
import type { Change } from '../../src/sandbox/table.ts';
import { recordedText, recording, Twins } from './recordings.ts';

/**
 * What each recorded write did, as the reads that follow it in its recording show it, or as the platform's behaviour
 * page says of it. A write that is not here did nothing.
 */
const effects: Readonly<Record<string, readonly string[]>> = {
  'add a port': ['+ ports web/5000 alias=ADMIN serviceName=gra00001'],
  'change alias and service name': [
    'ports web/80 serviceName: gra00001 → web-svc',
    'ports web/8080 serviceName: gra00001 → web-svc',
    'ports web/5000 alias: ADMIN → OPS',
    'ports web/5000 serviceName: gra00001 → web-svc',
  ],
  'change protocol': ['ports web/5000 protocol: http → tcp'],
  'close inner': ['ports web/5000 inner: true → false'],
  'close outer': [
    'rules web/5000 gra00001-5000-team-a.rainbond.example.com outer: true → false',
    'ports web/5000 outer: true → false',
  ],
  'delete a port': ['- rules web/5000 gra00001-5000-team-a.rainbond.example.com', '- ports web/5000'],
  'delete a rule': ['- rules web/80 www.shop.example.com/conf'],
  'open inner': ['ports web/5000 inner: false → true'],
  'open outer': [
    'ports web/5000 outer: false → true',
    '+ rules web/5000 gra00001-5000-team-a.rainbond.example.com type=0',
  ],
  'rule that opens outer': ['ports web/80 outer: false → true', '+ rules web/80 www.shop.example.com/'],
  'rule with a configuration': [
    '+ rules web/80 www.shop.example.com/conf senior=true configuration={"proxy_body_size":10,"proxy_buffer_numbers":4,"proxy_buffer_size":4,"proxy_buffering":"off","proxy_connect_timeout":75,"proxy_read_timeout":60,"proxy_send_timeout":60,"set_headers":[{"key":"X-Env","value":"prod"}]}',
  ],
  'the same domain on another path': [
    '+ rules web/80 www.shop.example.com/api cookie=a=b header=x=y weight=30 senior=true',
  ],
  'update a rule': ['rules web/80 www.shop.example.com/conf weight: 100 → 50'],
  'build a component': ['+ events mysql'],
  'close outer of the port that is http by now': ['ports db/3306 outer: true → false'],
  'delete the default rule': ['- rules web/8080 gra00001-8080-team-a.rainbond.example.com'],
  install: [
    '+ installs mmysql01 storeUrl=https://store.example.com storeDomain=shop version=1.0.0',
    '+ components mysql key=mysqlkey0000000000000000000000aa image=mysql:1.0.0 version=1 groupId=1 memoryMib=128 cpuMillis=0 source=market life={"type":"steady","status":"undeploy"}',
    '+ ports mysql/3306 protocol=mysql alias=MYSQL inner=true serviceName=mysql',
  ],
  'install an unknown model': ['+ markets https://store.example.com'],
  'install while the store is unreachable': ['+ markets https://store-down.example.com'],
  'install with a wrong key': ['+ markets https://store-b.example.com'],
  'mysql to http while outer is open': ['ports db/3306 protocol: mysql → http'],
  'one domain: another component, weight 30': [
    'ports api/8000 outer: false → true',
    '+ rules api/8000 g.example.com/ weight=30',
  ],
  'one domain: http, weight 70': ['+ rules web/80 g.example.com/ weight=70'],
  'one domain: https of the same component': ['+ rules web/80 g.example.com/ protocol=https certificateId=1'],
  'open inner of 8080': ['ports web/8080 inner: false → true'],
  'open outer again: a new default rule': ['+ rules web/8080 gra00001-8080-team-a.rainbond.example.com type=0'],
  'open outer of 8080': [
    'ports web/8080 outer: false → true',
    '+ rules web/8080 gra00001-8080-team-a.rainbond.example.com type=0',
  ],
  'open outer of a mysql port': [
    'ports db/3306 outer: false → true',
    '+ tcpRules db/3306 nodePort=30001 protocol=mysql',
  ],
  'open outer of the port that is http by now': [
    'ports db/3306 outer: false → true',
    '+ rules db/3306 gra00003-3306-team-a.rainbond.example.com type=0',
  ],
  'rule with a configuration that opens outer': [
    'ports web/80 outer: false → true',
    '+ rules web/80 conf.example.com/c senior=true configuration={"proxy_body_size":10,"proxy_buffer_numbers":4,"proxy_buffer_size":4,"proxy_buffering":"off","proxy_connect_timeout":75,"proxy_read_timeout":60,"proxy_send_timeout":60,"set_headers":[{"key":"X-Env","value":"prod"}]}',
  ],
  'rule with a header and a cookie': ['+ rules web/80 canary.example.com/ cookie=uid=1 header=x-env:prod senior=true'],
  'rule with automatic certificates': ['+ rules web/80 auto.example.com/ autoSsl=true autoSslConfig=letsencrypt'],
  'rule with extensions': [
    '+ rules web/80 ext.example.com/ extensions=[{"key":"lb-type","value":"round-robin"},{"key":"retries","value":"3"}]',
  ],
  'the domain of a rule edited in place': [
    'rules web/80 moved.example.com/c domain: conf.example.com → moved.example.com',
  ],
  'the key that the edited rule had is free': ['+ rules web/80 conf.example.com/c senior=true'],
  'update the cookie': ['rules web/80 canary.example.com/ cookie: uid=1 → uid=2'],
  'update without header and cookie: both stay': ['rules web/80 canary.example.com/ weight: 100 → 50'],
  upgrade: [
    'components mysql image: mysql:1.0.0 → mysql:1.1.0',
    '+ events mysql',
    'components mysql life: {"type":"steady","status":"undeploy"} → {"type":"building","readyAtMs":1704067200000}',
  ],
};

/** Members that another run makes up, and what a new row has unless someone asks for something else. */
const UNTOLD = new Set(['id', 'row', 'teamId', 'appId', 'startedMs', 'endsMs', 'keyHash', 'details', 'serviceId']);
const usual: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  rules: { protocol: 'http', certificateId: 0, weight: 100, type: 1, outer: true },
  tcpRules: { outer: true },
  ports: { protocol: 'http', inner: false, outer: false },
  components: { updateVersion: 1, nodes: 1, monitored: true, region: 'rainbond' },
};

test.each([
  { file: 'console-ae3f1618.jsonl', seed: recordedSeed },
  { file: 'console-2.jsonl', seed: checkSeed(JSON.parse(recordedText('console-2.seed.json'))) },
])('every write of $file leaves the state that the recording shows', ({ file, seed }) => {
  const state = stateOf(seed);
  const twins = new Twins(JSON.stringify(seed));
  const seen: Record<string, readonly string[]> = {};
  const wanted: Record<string, readonly string[]> = {};
  let ids = 0;
  const newId = (): string => `${(ids += 1)}`.padStart(6, '0').padStart(32, 'f');
  for (const { name, request, response } of recording(file)) {
    const [path = '', query = ''] = twins.translate(request.path).split('?', 2);
    const sent = request.raw ?? (request.body === undefined ? '' : JSON.stringify(request.body));
    const { response: answer, changes } = handle(
      state,
      {
        method: request.method,
        path,
        query: Object.fromEntries(new URLSearchParams(query)),
        headers: { authorization: request.token ?? 'admin', 'content-type': 'application/json' },
        body: twins.translate(sent),
      },
      { nowMs: Date.parse('2024-01-01T00:00:00Z'), newId, dialect: 'extended', token: 'admin', plainToken: 'plain' },
    );
    if (answer.headers['content-type'] === 'application/json') twins.learn(response.body, JSON.parse(answer.body));
    if (request.method === 'GET') {
      expect(changes, name).toEqual([]);
      continue;
    }
    seen[name] = changes.flatMap((change) => told(state, change));
    wanted[name] = effects[name] ?? [];
  }
  expect(seen).toEqual(wanted);
});

/** Lines such as `ports web/80 outer: false → true`, `+ rules web/80 www.example.com/ weight=30` and `- ports web/80`. */
function told(state: SandboxState, { table, before, after }: Change): readonly string[] {
  if (table === 'counters') return [];
  const row = { ...(after ?? before) } as Record<string, unknown>;
  const place = [placeOf(state, row), nameOf(row)].filter((part) => part !== '').join(' ');
  if (after === undefined) return [`- ${table} ${place}`];
  const old = (before ?? {}) as Record<string, unknown>;
  const members = Object.entries(row).filter(([name]) => !UNTOLD.has(name));
  if (before !== undefined) {
    return members
      .filter(([name, value]) => JSON.stringify(old[name]) !== JSON.stringify(value))
      .map(([name, value]) => `${table} ${place} ${name}: ${text(old[name])} → ${text(value)}`);
  }
  const isUsual = (name: string, value: unknown): boolean => {
    const known = usual[table] ?? {};
    return Object.hasOwn(known, name) ? value === known[name] : isEmpty(value);
  };
  const unusual = members.filter(([name, value]) => !isNamed(table, name) && !isUsual(name, value));
  return [[`+ ${table} ${place}`, ...unusual.map(([name, value]) => `${name}=${text(value)}`)].join(' ')];
}

/** What the line has in its name, or what the platform makes up. */
function isNamed(table: string, name: string): boolean {
  if (table === 'components' && (name === 'alias' || name === 'k8sName')) return true;
  return ['port', 'domain', 'path', 'name', 'url', 'modelId'].includes(name);
}

function placeOf(state: SandboxState, { serviceId, port }: Readonly<Record<string, unknown>>): string {
  if (typeof serviceId !== 'string') return '';
  const component = state.components.get(serviceId)?.name ?? '';
  return typeof port === 'number' ? `${component}/${port}` : component;
}

function nameOf({ domain, path, name, url, modelId }: Readonly<Record<string, unknown>>): string {
  if (path !== undefined) return text(domain) + text(path);
  return [url, modelId, name].filter((part) => part !== undefined).map(text)[0] ?? '';
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === null || value === false || value === '[]' || JSON.stringify(value) === '[]';
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
