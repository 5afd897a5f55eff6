import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { refusal, statusMessage, superseded } from '../../../src/controller/notifications/commit-status.ts';
import { alertChanges, alertText, postableAlert } from '../../../src/controller/notifications/alert.ts';
import { cloudEvent, redacted, slackMessage } from '../../../src/controller/notifications/payload.ts';
import { cut } from '../../../src/plan/words.ts';
import type { ReceiverSettings } from '../../../src/configuration/settings/notifications-spec.ts';
import type { Json } from '../../../src/model/json.ts';
import { Secret } from '../../../src/model/secret.ts';
import { COMMIT, event, NOON_MS } from '../hand-made.ts';
import { alertsSchema, cloudEventsSchema, slackSchema, statusSchemas } from './schemas.ts';

const FOLDER = 'test/controller/notifications/golden';
const ajv = new Ajv2020({ strict: false });
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
ajv.addFormat('uri', (text: string) => URL.canParse(text));
ajv.addFormat(
  'uri-reference',
  (text: string) => !/[\s<>"{}|\\^`]/.test(text) && URL.canParse(text, 'https://example.com'),
);

/** After a change of words: UPDATE_GOLDEN=1, and read the difference. */
function expectGolden(name: string, value: unknown): void {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(`${FOLDER}/${name}.json`, text);
  }
  expect(text).toBe(readFileSync(`${FOLDER}/${name}.json`, 'utf8'));
}

function expectValid(schema: object, value: unknown): void {
  const validate = ajv.compile(schema);
  expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
}

interface SlackMessage {
  readonly attachments: readonly [{ readonly text: string; readonly fallback: string; readonly title: string }];
}

const drift = event({ id: 'a1b2', sequence: 7 });
const failed = event({
  id: 'c3d4',
  type: 'application.failed',
  severity: 'error',
  resource: null,
  message: '<!channel> 503 & no answer\u001b[31m from the platform',
  detail: { code: 'platform/unavailable' },
});
const started = event({
  id: 'e5f6',
  type: 'controller.started',
  severity: 'info',
  application: null,
  scope: null,
  resource: null,
  revision: null,
  labels: {},
  message: 'Portolan 1.2.3 started',
  detail: null,
});

test.for([
  ['drift', { event: drift, repeats: 0 }],
  ['failed', { event: failed, repeats: 3 }],
  ['started', { event: started, repeats: 0 }],
] as const)('the event %s as CloudEvents and as text', ([name, told]) => {
  const cloud = JSON.parse(JSON.stringify(cloudEvent(told, 'shop of mine'))) as Json;
  expectValid(cloudEventsSchema, cloud);
  expectGolden(`cloudevents-${name}`, cloud);
  const slack = slackMessage(told, {
    link: 'https://portolan.example.com/',
    commitUrl: 'https://git.example.com/acme/shop/commit',
  });
  expectValid(slackSchema, slack);
  expectGolden(`slack-${name}`, slack);
});

test('a long detail is left out of a CloudEvent, and that is said; a long message is cut', () => {
  const long = event({ detail: { text: 'x'.repeat(40_000) }, message: '😀'.repeat(5_000) });
  expect(cloudEvent({ event: long, repeats: 0 }, 'default')).toMatchObject({
    data: { detail: null, detailOmitted: true },
  });
  const [attachment] = (slackMessage({ event: long, repeats: 0 }) as unknown as SlackMessage).attachments;
  for (const text of [attachment.text, attachment.fallback]) {
    expect(text.length).toBeLessThanOrEqual(3_000);
    expect(text.isWellFormed()).toBe(true);
  }
  expect(cut('a😀b', 3)).toBe('a…');
});

test('no secret is told, wherever it slipped in', () => {
  const leaky = event({
    message: 'the platform said hunter2',
    labels: { note: 'hunter2' },
    detail: { answer: ['hunter2', { hunter2: [1, null, true, 'x hunter2 y'] }] },
  });
  const safe = redacted(leaky, (text) => text.replaceAll('hunter2', '[secret]'));
  expect(JSON.stringify(safe)).not.toContain('hunter2');
  expect(safe.detail).toEqual({ answer: ['[secret]', { '[secret]': [1, null, true, 'x [secret] y'] }] });
  expect({ ...safe, message: '', labels: {}, detail: null }).toEqual({
    ...leaky,
    message: '',
    labels: {},
    detail: null,
  });
});

const receiver: ReceiverSettings = {
  name: 'forge',
  type: 'github',
  repository: 'acme/shop',
  context: 'portolan/prod',
  link: 'https://portolan.example.com/',
  ratePerMinute: 30,
  timeoutMs: 10_000,
  repeatAfterMs: 3_600_000,
};

test.for(['github', 'gitlab', 'gitea'] as const)('the status of a commit on %s', (type) => {
  const token = new Secret('hunter2-token', 'environment variable FORGE_TOKEN');
  const spec = { ...receiver, type, ...(type === 'gitea' ? { url: 'https://git.example.com/' } : {}) };
  const message = statusMessage(type, spec, refusal(COMMIT, 'line 3 of web.yaml: port is "80 80"\nand more'), token);
  const body = JSON.parse(message.body) as Json;
  expectValid(statusSchemas[type], body);
  expectGolden(`status-${type}`, { ...message, body });
  expect(JSON.stringify(message)).not.toContain('hunter2');
});

test.for([
  ['github', 140],
  ['gitlab', 255],
  ['gitea', 255],
] as const)('%s is told no more than %i characters', ([type, charsMax]) => {
  const { link: _, ...spec } = { ...receiver, type, url: 'https://git.example.com' };
  const verdict = superseded(COMMIT, `main@sha1:${'f'.repeat(40)}`);
  const token = new Secret('t', 'a test');
  const long = statusMessage(type, spec, { ...verdict, description: 'y'.repeat(1_000) }, token);
  const body = JSON.parse(long.body) as { description: string };
  expectValid(statusSchemas[type], body);
  expect(body.description).toHaveLength(charsMax);
  expect(body).not.toHaveProperty('target_url');
  expect(JSON.parse(statusMessage(type, spec, verdict, token).body)).toMatchObject({
    state: 'pending',
    description: 'superseded by main@ffffffffffff before all of it was applied',
  });
});

test('a GitLab project may be a number or lie in groups', () => {
  const token = new Secret('t', 'a test');
  const at = (repository: string): string =>
    statusMessage('gitlab', { ...receiver, repository }, refusal(COMMIT, ''), token).url as string;
  expect(at('a/b/c')).toBe(`https://gitlab.com/api/v4/projects/a%2Fb%2Fc/statuses/${COMMIT}`);
  expect(at('4711')).toBe(`https://gitlab.com/api/v4/projects/4711/statuses/${COMMIT}`);
});

test('a message to a chat does not repeat its title, and leaves out what there is not', () => {
  const message = 'Component/shop-web was changed on the platform: outer is true, should be false';
  const { attachments } = slackMessage({
    event: event({ message, revision: 'files@sha256:0123' }),
    repeats: 0,
  }) as unknown as SlackMessage;
  expect(attachments[0]).toMatchObject({
    title: 'Component/shop-web',
    text: 'was changed on the platform: outer is true, should be false',
    fields: [
      { title: 'Application', value: 'Application/shop' },
      { title: 'Revision', value: 'files@sha256:0123' },
    ],
  });
  expect(attachments[0]).not.toHaveProperty('title_link');
});

test.for([
  ['drift.detected', 'drift.healed', {}],
  ['hold.added', 'hold.released', { code: 'rule/not-ours' }],
  ['region.paused', 'region.resumed', { platform: 'default', region: 'region-1' }],
  ['health.changed', 'health.changed', {}],
  ['controller.reload-refused', 'controller.reloaded', {}],
  ['source.refused', 'source.accepted', {}],
  ['source.refused', 'source.recovered', {}],
  ['source.failed', 'source.recovered', {}],
  ['application.failed', 'application.recovered', {}],
] as const)('an alert that %s starts ends with %s: its labels are the same', ([starts, ends, detail]) => {
  const alertsOf = (facts: Parameters<typeof event>[0]) => {
    const one = event({ ...facts, detail: { ...detail, more: facts?.message ?? '' } });
    return alertChanges(one).map(({ type, alert }) => {
      const startsMs = type === 'starts' ? one.atMs : null;
      const endsMs = type === 'starts' ? one.atMs + 300_000 : one.atMs;
      return { change: type, alert: postableAlert(alertText(alert, one, 'default'), startsMs, endsMs) };
    });
  };
  const [started] = alertsOf({ type: starts, severity: 'warning', message: 'it began' });
  const ended = alertsOf({ type: ends, severity: 'info', message: 'it ended', atMs: NOON_MS + 60_000 });
  expectValid(alertsSchema, [started?.alert, ...ended.map(({ alert }) => alert)]);
  expect(started).toMatchObject({
    change: 'starts',
    alert: {
      startsAt: '2026-11-20T12:00:00.000Z',
      endsAt: '2026-11-20T12:05:00.000Z',
      labels: { label_env: 'prod', ...detail },
    },
  });
  expect(ended.every(({ change }) => change === 'ends')).toBe(true);
  const same = ended.find(({ alert }) => JSON.stringify(alert['labels']) === JSON.stringify(started?.alert['labels']));
  expect(same?.alert).toMatchObject({ endsAt: '2026-11-20T12:01:00.000Z', annotations: { description: 'it ended' } });
});

test('an event that is neither a start nor an end is no alert', () => {
  for (const type of ['controller.started', 'apply.started', 'wait.progress'] as const)
    expect(alertChanges(event({ type, severity: 'error' }))).toEqual([]);
});
