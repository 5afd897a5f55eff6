import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished, test } from 'vitest';
import { joinObservers } from '../../../src/controller/api.ts';
import type { Span } from '../../../src/controller/tracing/otlp.ts';
import { SpanMaker } from '../../../src/controller/tracing/spans.ts';
import { startTracing, tracesEndpoint } from '../../../src/controller/tracing/tracing.ts';
import { Secret } from '../../../src/model/secret.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { countsInto, event, handMadeApi, hurriedClock, logInto, REVISION } from '../hand-made.ts';
import { startReceiver } from '../notifications/receivers.ts';

const SHOP = 'Application/shop';
const SCOPE = 'default/team-a/region-1/42';

function counting(): Random {
  let drawn = 0;
  return { next: () => 0.5, hex: (bytes) => (++drawn).toString(16).padStart(bytes * 2, '0') };
}

function maker(sampleShare = 1) {
  const clock = new VirtualClock(1_000_000);
  const sent: (readonly Span[])[] = [];
  const spans = new SpanMaker({ clock, random: counting(), sampleShare, export: (all) => void sent.push(all) });
  return { clock, sent, observer: spans, hear: spans.hear };
}

const milestone = (name: 'planned' | 'first-write' | 'applied') =>
  ({ application: SHOP, revision: REVISION, milestone: name, sinceCommitMs: null, sinceObservedMs: 1 }) as const;

test('a pass is a trace: its plan and its actions are in it, each with scope and revision', () => {
  const { clock, sent, observer, hear } = maker();
  observer.queued(SHOP, 'git');
  observer.queued(SHOP, 'git');
  observer.queued(SHOP, 'resync');
  observer.began(SHOP, 12.4);
  clock.advance(100);
  observer.milestone(milestone('planned'));
  clock.advance(10);
  observer.milestone(milestone('first-write'));
  clock.advance(40);
  hear(event({ type: 'action.done', message: 'add port 8080' }));
  hear(event({ type: 'drift.detected', application: 'Application/other' }));
  clock.advance(60);
  hear(event({ type: 'action.failed', severity: 'error', message: 'open_outer failed: 500' }));
  hear(event({ type: 'application.failed', message: 'it failed' }));
  clock.jump(-500_000);
  observer.ended(SHOP, 'error', 210);
  expect(sent).toHaveLength(1);
  const [pass, plan, done, failed] = sent[0] ?? [];
  expect(pass).toMatchObject({
    name: 'pass',
    parentSpanId: null,
    startMs: 1_000_000,
    endMs: 1_000_210,
    error: 'open_outer failed: 500',
    attributes: {
      'portolan.application': SHOP,
      'portolan.because': 'git, resync',
      'portolan.waited_ms': 12,
      'portolan.scope': SCOPE,
      'portolan.revision': REVISION,
      'portolan.result': 'error',
    },
  });
  expect(pass?.events.map(({ name, atMs }) => `${name} ${atMs}`)).toEqual([
    'first-write 1000110',
    'application.failed 1000210',
  ]);
  for (const child of [plan, done, failed])
    expect(child).toMatchObject({
      traceId: pass?.traceId,
      parentSpanId: pass?.spanId,
      attributes: { 'portolan.revision': REVISION },
    });
  expect(plan).toMatchObject({ name: 'plan', startMs: 1_000_000, endMs: 1_000_100, error: null });
  expect(done).toMatchObject({
    name: 'action',
    startMs: 1_000_110,
    endMs: 1_000_150,
    error: null,
    attributes: { 'portolan.scope': SCOPE, 'portolan.resource': 'Component/shop-web', 'portolan.outcome': 'done' },
  });
  expect(failed).toMatchObject({ startMs: 1_000_150, endMs: 1_000_210, error: 'open_outer failed: 500' });
  expect(new Set((sent[0] ?? []).map(({ spanId }) => spanId)).size).toBe(4);
});

test('reading a source is a trace: from the first look at a revision until its fate is known', () => {
  const { sent, hear } = maker();
  const ofSource = { application: null, scope: null, resource: null };
  hear(event({ ...ofSource, type: 'source.observed', atMs: 5_000 }));
  hear(event({ ...ofSource, type: 'source.accepted', atMs: 5_040 }));
  hear(event({ ...ofSource, type: 'source.observed', atMs: 6_000, revision: 'main@sha1:b' }));
  hear(event({ ...ofSource, type: 'source.refused', atMs: 6_010, revision: 'main@sha1:b', message: 'bad port' }));
  hear(event({ ...ofSource, type: 'source.failed', atMs: 7_000, revision: null, message: 'no such branch' }));
  expect(sent.flat().map(({ name, startMs, endMs, error }) => `${name} ${startMs}-${endMs} ${error}`)).toEqual([
    'source 5000-5040 null',
    'source 6000-6010 bad port',
    'source 7000-7000 no such branch',
  ]);
});

test('a share of the passes is traced, and every one that fails', () => {
  const { sent, observer } = maker(0.5);
  for (const result of ['success', 'requeue', 'error'] as const) {
    observer.began(SHOP, 0);
    observer.ended(SHOP, result, 1);
  }
  observer.ended(SHOP, 'error', 1);
  observer.milestone(milestone('planned'));
  expect(sent.flat().map(({ error }) => error)).toEqual(['the pass failed']);
});

const attribute = {
  type: 'object',
  required: ['key', 'value'],
  properties: {
    key: { type: 'string', minLength: 1 },
    value: {
      type: 'object',
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
      properties: {
        stringValue: { type: 'string' },
        boolValue: { type: 'boolean' },
        intValue: { type: 'string', pattern: '^-?[0-9]+$' },
        doubleValue: { type: 'number' },
      },
    },
  },
};
const nano = { type: 'string', pattern: '^[0-9]{16,19}$' };
const list = (items: object): object => ({ type: 'array', items });
const object = (required: string[], properties: object): object => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});

/** ExportTraceServiceRequest in the JSON mapping of OTLP: ids as hex, 64-bit numbers as text. */
const otlpSchema = object(['resourceSpans'], {
  resourceSpans: list(
    object(['resource', 'scopeSpans'], {
      resource: object(['attributes'], { attributes: list(attribute) }),
      scopeSpans: list(
        object(['scope', 'spans'], {
          scope: object(['name'], { name: { type: 'string' }, version: { type: 'string' } }),
          spans: list(
            object(['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'], {
              traceId: { type: 'string', pattern: '^(?!0+$)[0-9a-f]{32}$' },
              spanId: { type: 'string', pattern: '^(?!0+$)[0-9a-f]{16}$' },
              parentSpanId: { type: 'string', pattern: '^[0-9a-f]{16}$' },
              name: { type: 'string', minLength: 1 },
              kind: { enum: [1, 2, 3, 4, 5] },
              startTimeUnixNano: nano,
              endTimeUnixNano: nano,
              attributes: list(attribute),
              events: list(
                object(['timeUnixNano', 'name'], {
                  timeUnixNano: nano,
                  name: { type: 'string' },
                  attributes: list(attribute),
                }),
              ),
              status: object(['code'], { code: { enum: [0, 1, 2] }, message: { type: 'string' } }),
            }),
          ),
        }),
      ),
    }),
  ),
});

function tracing(endpoint: string, speed: number) {
  const [counted, lines]: [string[], string[]] = [[], []];
  const running = startTracing({
    settings: { endpoint, headers: [{ name: 'x-api-key', value: { env: 'KEY' } }], sampleShare: 1 },
    endpoint,
    version: '1.2.3',
    openSecret: () => () => new Secret('hunter2', 'environment variable KEY'),
    redact: (text) => text.replaceAll('hunter2', '[secret]'),
    clock: hurriedClock(speed),
    random: systemRandom,
    log: logInto(lines),
    counts: countsInto(counted),
  });
  onTestFinished(() => running.close(0));
  return { ...running, counted, lines };
}

test('a collector gets spans as OTLP in JSON, without secrets', async () => {
  const collector = await startReceiver((response) => response.end('{"partialSuccess":{}}'));
  const { observer, attach, close, counted } = tracing(collector.url, 100);
  const api = handMadeApi();
  const detach = attach(api);
  // As beside the metrics.
  const joined = joinObservers([observer, observer]);
  joined.queued(SHOP, 'git');
  observer.began(SHOP, 1.5);
  observer.milestone(milestone('planned'));
  api.emit(event({ type: 'action.failed', severity: 'error', message: 'the platform said hunter2' }));
  observer.ended(SHOP, 'error', 5);
  detach();
  expect(api.listeners).toBe(0);
  await close(60_000);
  expect(counted).toEqual(['traces sent']);
  const [{ path, headers, body }] = collector.received as [(typeof collector.received)[number]];
  expect(path).toBe('/v1/traces');
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-api-key': 'hunter2' });
  expect(body.toString()).not.toContain('hunter2');
  const exported = JSON.parse(body.toString()) as { resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[] };
  const validate = new Ajv2020({ strict: false }).compile(otlpSchema);
  expect(validate(exported), JSON.stringify(validate.errors)).toBe(true);
  expect(exported.resourceSpans[0]?.scopeSpans[0]?.spans.map(({ name }) => name)).toEqual(['pass', 'plan', 'action']);
});

test('a collector that never answers costs the controller nothing, and no more memory than some thousand spans', async () => {
  const collector = await startReceiver(() => {});
  const { observer, close, counted } = tracing(collector.url, 100);
  const before = process.cpuUsage();
  for (let index = 0; index < 20_000; index += 1) {
    observer.began(SHOP, 0);
    observer.ended(SHOP, 'success', 1);
  }
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(5_000);
  await close(1_000);
  expect(counted.every((word) => word === 'traces dropped shutdown')).toBe(true);
  expect(collector.received.every(({ body }) => body.length < 4_100 * 1_000)).toBe(true);
});

test.for([
  [undefined, {}, undefined],
  [undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, undefined],
  [undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example.com/' }, 'https://c.example.com'],
  ['https://s.example.com', { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example.com' }, 'https://s.example.com'],
] as const)('endpoint %s of the settings and %j give %s', ([endpoint, env, expected]) => {
  const settings = { headers: [], sampleShare: 1, ...(endpoint === undefined ? {} : { endpoint }) };
  expect(tracesEndpoint(settings, env)).toBe(expected);
});
