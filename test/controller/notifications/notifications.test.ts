import { createHmac } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { startNotifications } from '../../../src/controller/notifications/notifications.ts';
import type { NotificationsOptions } from '../../../src/controller/notifications/receiver.ts';
import type { NotificationRule, ReceiverSettings } from '../../../src/configuration/settings/notifications-spec.ts';
import { PortolanError } from '../../../src/model/errors.ts';
import { Secret } from '../../../src/model/secret.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import {
  application,
  COMMIT,
  countsInto,
  event,
  type HandMadeApi,
  handMadeApi,
  hurriedClock,
  logInto,
  sourceStatus,
} from '../hand-made.ts';
import { startReceiver } from './receivers.ts';

const NEWER = `main@sha1:${'f'.repeat(40)}`;
const SECRETS: Readonly<Record<string, string>> = { KEY: 'hunter2-key', TOKEN: 'hunter2-token' };
/** A minute of the settings passes in a tenth of a second. */
const SPEED = 600;
/** Six seconds, for what ends by itself. */
const GRACE_MS = 3_600_000;

interface Scene {
  readonly api: HandMadeApi;
  readonly counted: string[];
  readonly lines: string[];
  readonly close: (graceMs: number) => Promise<void>;
  /** Resolves when so many were delivered, their answers included. */
  readonly sent: (wanted: number) => Promise<void>;
}

function start(
  receivers: readonly (Pick<ReceiverSettings, 'name' | 'type'> & Partial<ReceiverSettings>)[],
  options: {
    api?: HandMadeApi;
    rules?: readonly Partial<NotificationRule>[];
    speed?: number;
    secrets?: Readonly<Record<string, string | undefined>>;
  } = {},
): Scene {
  const api = options.api ?? handMadeApi();
  const [counted, lines]: [string[], string[]] = [[], []];
  const secrets = { ...SECRETS, ...options.secrets };
  const notifying: NotificationsOptions = {
    api,
    settings: {
      receivers: receivers.map((spec) => ({
        context: 'portolan',
        ratePerMinute: 6_000,
        timeoutMs: 3_600_000,
        repeatAfterMs: 3_600_000,
        ...spec,
      })),
      rules: (options.rules ?? [{}]).map((rule) => ({
        events: ['*'],
        severity: 'info',
        labels: {},
        receivers: receivers.map(({ name }) => name),
        ...rule,
      })),
    },
    source: 'default',
    openSecret(reference, where) {
      const name = Object.values(reference)[0] ?? '';
      const value = secrets[name];
      if (value === undefined)
        throw new PortolanError({ code: 'secret/missing', disposition: 'invalid', message: where, remedy: 'Set it.' });
      return () => new Secret(value, `environment variable ${name}`);
    },
    redact: (text) => text.replace(/hunter2[-\w]*/g, '[secret]'),
    clock: hurriedClock(options.speed ?? SPEED),
    random: systemRandom,
    log: logInto(lines),
    counts: countsInto(counted),
  };
  const notifications = startNotifications(notifying);
  onTestFinished(() => notifications.close(0));
  const sent = async (wanted: number): Promise<void> => {
    while (counted.filter((word) => word.endsWith(' sent')).length < wanted)
      await new Promise((resolve) => setTimeout(resolve, 2));
  };
  return { api, counted, lines, close: notifications.close, sent };
}

test('a webhook gets a CloudEvent, signed over its bytes, and nothing that is secret', async () => {
  const ops = await startReceiver();
  const scene = start([
    { name: 'ops', type: 'webhook', url: `${ops.url}/in`, secret: { env: 'KEY' }, token: { env: 'TOKEN' } },
  ]);
  scene.api.emit(event({ id: 'one', message: 'the platform said hunter2-key' }));
  await ops.count(1);
  const [{ method, path, headers, body }] = ops.received as [(typeof ops.received)[number]];
  expect({ method, path }).toEqual({ method: 'POST', path: '/in' });
  expect(headers).toMatchObject({
    'content-type': 'application/cloudevents+json; charset=utf-8',
    authorization: 'Bearer hunter2-token',
    'x-portolan-signature': `sha256=${createHmac('sha256', 'hunter2-key').update(body).digest('hex')}`,
    'user-agent': 'portolan',
  });
  expect(JSON.parse(body.toString())).toMatchObject({ id: 'one', data: { message: 'the platform said [secret]' } });
  await scene.close(GRACE_MS);
  expect(scene.counted).toEqual(['ops sent']);
  expect(scene.lines).toEqual([]);
  expect(scene.api.listeners).toBe(0);
});

test('a chat gets text at an address that is a secret itself', async () => {
  const chat = await startReceiver();
  const { api } = start([{ name: 'chat', type: 'slack', urlFrom: { env: 'URL' } }], {
    secrets: { URL: `${chat.url}/T0/hunter2?x=1` },
  });
  api.emit(event());
  await chat.count(1);
  expect(chat.received[0]?.path).toBe('/T0/hunter2?x=1');
  expect(JSON.parse(String(chat.received[0]?.body))).toMatchObject({
    attachments: [{ color: 'warning', title: 'Component/shop-web', footer: 'drift.detected' }],
  });
});

test('Alertmanager gets the end of each alert, too, although it is less severe than the rule asks', async () => {
  const alerts = await startReceiver();
  const rules = [{ severity: 'warning', events: ['drift.detected'] }] as const;
  const scene = start([{ name: 'pager', type: 'alertmanager', url: `${alerts.url}/base/`, token: { env: 'TOKEN' } }], {
    rules,
    speed: 20, // No alert is due once more within the test.
  });
  scene.api.emit(event({ message: 'the platform said hunter2-key' }));
  scene.api.emit(event({ type: 'apply.finished', severity: 'error' }));
  scene.api.emit(event({ type: 'hold.added' }));
  await scene.sent(1);
  scene.api.emit(event({ type: 'drift.gone', severity: 'info' }));
  await scene.sent(2);
  // The same again within the time for repeats: Alertmanager has to hear of it.
  scene.api.emit(event({ message: 'the platform said hunter2-key' }));
  await alerts.count(3);
  expect(alerts.received.map(({ path, headers }) => [path, headers.authorization])).toEqual(
    Array(3).fill(['/base/api/v2/alerts', 'Bearer hunter2-token']),
  );
  const bodies = alerts.received.map(
    ({ body }) => JSON.parse(String(body)) as { labels: object; annotations: object }[],
  );
  expect(bodies.map(([alert = {}]) => Object.hasOwn(alert, 'startsAt'))).toEqual([true, false, true]);
  expect(bodies[0]?.[0]?.annotations).toMatchObject({ description: 'the platform said [secret]' });
  expect(bodies[1]?.[0]?.labels).toEqual(bodies[0]?.[0]?.labels);
});

test('rules say what goes where, each event once per receiver; a receiver that none names gets nothing', async () => {
  const [all, drifts, nobody] = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
  const scene = start(
    [
      { name: 'all', type: 'webhook', url: all.url },
      { name: 'drifts', type: 'webhook', url: drifts.url },
      { name: 'nobody', type: 'webhook', url: nobody.url },
    ],
    {
      rules: [
        { receivers: ['all'] },
        { receivers: ['all', 'drifts'], events: ['drift.*'] },
        { receivers: ['drifts'], severity: 'error' },
      ],
    },
  );
  scene.api.emit(event({ id: '1' }));
  scene.api.emit(event({ id: '2', type: 'hold.added' }));
  scene.api.emit(event({ id: '3', type: 'application.failed', severity: 'error' }));
  scene.api.emit(event({ id: '4' }));
  await scene.close(GRACE_MS);
  const ids = (receiver: typeof all) => receiver.received.map(({ body }) => JSON.parse(body.toString()).id as string);
  expect(ids(all)).toEqual(['1', '2', '3']);
  expect(ids(drifts)).toEqual(['1', '3']);
  expect(nobody.received).toEqual([]);
  expect(scene.counted.filter((word) => word.endsWith('collapsed'))).toEqual(['all collapsed', 'drifts collapsed']);
});

test('one that never answers, one that is slow, one that nobody is behind, and one that never ends delay nobody', async () => {
  const silent = await startReceiver(() => {});
  const slow = await startReceiver((response) => void setTimeout(() => response.end(), 300));
  const endless = await startReceiver((response) => {
    const timer = setInterval(() => void response.write('x'.repeat(10)), 5);
    response.on('close', () => clearInterval(timer));
  });
  const gone = await startReceiver();
  await gone.stop();
  const well = await startReceiver();
  const dead = { silent, slow, endless, gone };
  const scene = start([
    ...Object.entries(dead).map(([name, { url }]) => ({ name, type: 'webhook' as const, url, timeoutMs: 240_000 })),
    { name: 'well', type: 'webhook', url: well.url },
  ]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const emitMs: number[] = [];
  for (let index = 0; index < 20; index += 1) {
    const before = performance.now();
    scene.api.emit(event({ id: `${index}`, message: `${index}` }));
    emitMs.push(performance.now() - before);
  }
  const from = performance.now();
  await well.count(20);
  const tookMs = performance.now() - from;
  // What the controller waits is the call; it must not depend on any of them.
  expect(emitMs.sort((left, right) => left - right)[10]).toBeLessThan(200);
  expect(slow.received.length).toBeLessThan(20);
  // The receivers that never answer have 240 s.
  expect(tookMs).toBeLessThan(200_000);
  const closing = performance.now();
  await scene.close(600_000);
  expect(performance.now() - closing).toBeLessThan(200_000);
  expect(scene.counted.filter((word) => word === 'well sent')).toHaveLength(20);
  for (const name of ['silent', 'gone'])
    expect(scene.counted.filter((word) => word.startsWith(`${name} dropped`))).toHaveLength(20);
  expect(scene.lines.join('\n')).not.toContain('hunter2');
});

test('a redirect is not followed: what is sent is for one place', async () => {
  const elsewhere = await startReceiver();
  const moved = await startReceiver((response) => {
    response.writeHead(307, { location: elsewhere.url });
    response.end();
  });
  const scene = start([{ name: 'ops', type: 'webhook', url: moved.url, token: { env: 'TOKEN' } }]);
  scene.api.emit(event());
  await scene.close(GRACE_MS);
  expect(scene.counted).toEqual(['ops dropped refused']);
  expect(elsewhere.received).toEqual([]);
  expect(scene.lines[0]).toContain('redirects are not followed');
});

test.for([
  ['http://receiver.example.com/hunter2', 'is plain http to another machine'],
  ['https://user:hunter2@receiver.example.com/', 'holds a user name or password'],
  ['ftp://receiver.example.com/hunter2', 'is not an http or https address'],
  ['hunter2', 'is not an http or https address'],
  ['https://169.254.169.254/hunter2', 'is a link-local or metadata address'],
  ['https://0xa9fea9fe/hunter2', 'is a link-local or metadata address'],
  ['https://[fe80::1]/hunter2', 'is a link-local or metadata address'],
  ['https://[::ffff:169.254.169.254]/hunter2', 'is a link-local or metadata address'],
  ['https://metadata.google.internal/hunter2', 'is a link-local or metadata address'],
])('the address %s by reference is refused, and not shown', async ([address, words]) => {
  const scene = start([{ name: 'chat', type: 'slack', urlFrom: { env: 'URL' } }], { secrets: { URL: address } });
  scene.api.emit(event());
  await scene.close(GRACE_MS);
  expect(scene.counted).toEqual(['chat dropped refused']);
  expect(scene.lines[0]).toContain(`the address from the environment variable URL ${words}; nothing was sent`);
  expect(scene.lines.join()).not.toMatch(/hunter2|example/);
});

test('a token that cannot stand in a header is not sent, and not shown', async () => {
  const ops = await startReceiver();
  const scene = start([{ name: 'ops', type: 'webhook', url: ops.url, token: { env: 'TOKEN' } }], {
    secrets: { TOKEN: 'hunter2\r\nx-evil: 1' },
  });
  scene.api.emit(event());
  await scene.close(GRACE_MS);
  expect(ops.received).toEqual([]);
  expect(scene.lines.join()).not.toContain('hunter2');
});

test('a secret that is not there stops the start', () => {
  expect(() => start([{ name: 'chat', type: 'slack', urlFrom: { env: 'NOT_SET' } }])).toThrow(
    'Settings notifications receiver chat urlFrom',
  );
});

interface Status {
  readonly path: string;
  readonly state: string;
  readonly description: string;
}

test('a commit goes from pending to success, and each state is set once', async () => {
  const forge = await startReceiver((response) => response.writeHead(201).end('{}'));
  const statuses = (): Status[] =>
    forge.received.map(({ path, body }) => ({ path, ...(JSON.parse(body.toString()) as Omit<Status, 'path'>) }));
  const behind = { lastAppliedRevision: null, lastAttemptedRevision: null };
  const api = handMadeApi([application('shop', behind), application('blog', behind)]);
  const scene = start(
    [{ name: 'forge', type: 'github', url: forge.url, repository: 'acme/shop', token: { env: 'TOKEN' } }],
    // Slow enough that no word of progress is due within the test.
    { api, speed: 20 },
  );
  api.emit(event({ type: 'source.accepted', application: null }));
  await scene.sent(1);
  api.applicationsNow = [application('shop'), application('blog', behind)];
  api.emit(event({ type: 'apply.finished' }));
  api.emit(event({ type: 'action.done' }));
  await new Promise((resolve) => setTimeout(resolve, 30));
  api.applicationsNow = [application('shop'), application('blog')];
  api.emit(event({ type: 'apply.finished', application: 'Application/blog' }));
  await scene.sent(2);
  api.emit(event({ type: 'drift.detected' }));
  await scene.close(GRACE_MS);
  expect(statuses().map(({ state, description }) => `${state}: ${description}`)).toEqual([
    'pending: 0 of 2 applications in sync',
    'success: 2 applications in sync',
  ]);
  expect(statuses()[0]?.path).toBe(`/repos/acme/shop/statuses/${COMMIT}`);
  expect(forge.received[0]?.headers.authorization).toBe('Bearer hunter2-token');
});

test('a failure is told, its recovery too; a commit that is refused or superseded is told of in between', async () => {
  const forge = await startReceiver((response) => response.writeHead(201).end('{}'));
  const api = handMadeApi([application('shop', { lastAppliedRevision: null, failures: 1, lastError: null })]);
  const scene = start(
    [{ name: 'tea', type: 'gitea', url: forge.url, repository: 'acme/shop', token: { env: 'TOKEN' } }],
    // Slow enough that no word of progress is due within the test.
    { api, speed: 20 },
  );
  const said = () =>
    forge.received.map(({ path, body }) => {
      const { state, description } = JSON.parse(body.toString()) as Status;
      return `${path.slice(-40, -33)} ${state}: ${description}`;
    });
  api.emit(event({ type: 'source.accepted', application: null }));
  await scene.sent(1);
  api.emit(event({ type: 'source.refused', application: null, revision: NEWER, message: 'web.yaml:3:1: bad port' }));
  await scene.sent(2);
  api.sourceNow = { ...sourceStatus, acceptedRevision: NEWER };
  api.emit(event({ type: 'source.accepted', application: null, revision: NEWER }));
  await scene.sent(4);
  api.applicationsNow = [application('shop', { lastAppliedRevision: NEWER })];
  api.emit(event({ type: 'application.recovered', revision: NEWER }));
  await scene.sent(5);
  await scene.close(GRACE_MS);
  expect(said()).toEqual([
    '0123456 pending: 0 of 1 application in sync',
    'fffffff failure: rejected: web.yaml:3:1: bad port',
    '0123456 pending: superseded by main@ffffffffffff before all of it was applied',
    'fffffff pending: 0 of 1 application in sync',
    'fffffff success: 1 application in sync',
  ]);
});

test('the result of a commit is sent without an event, and a pending status only by a process that began with it', async () => {
  const forge = await startReceiver((response) => response.writeHead(201).end('{}'));
  const behind = application('shop', { lastAppliedRevision: null, lastAttemptedRevision: null });
  const api = handMadeApi([behind]);
  const scene = start(
    [{ name: 'forge', type: 'github', url: forge.url, repository: 'acme/shop', token: { env: 'TOKEN' } }],
    { api },
  );
  const states = () => forge.received.map(({ body }) => (JSON.parse(body.toString()) as Status).state);
  // A minute and more, with several checks.
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(states()).toEqual([]);
  api.applicationsNow = [application('shop')];
  await scene.sent(1);
  api.sourceNow = { ...sourceStatus, acceptedRevision: NEWER };
  api.emit(event({ type: 'source.accepted', application: null, revision: NEWER }));
  await scene.sent(2);
  api.applicationsNow = [application('shop', { lastAppliedRevision: NEWER })];
  await scene.sent(3);
  expect(states()).toEqual(['success', 'pending', 'success']);
});

test('a status that the forge refuses is not sent again at each check', async () => {
  const forge = await startReceiver((response) => response.writeHead(404).end('{}'));
  const scene = start(
    [{ name: 'forge', type: 'github', url: forge.url, repository: 'acme/shop', token: { env: 'TOKEN' } }],
    { api: handMadeApi([application('shop')]) },
  );
  await forge.count(1);
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(scene.counted).toEqual(['forge dropped refused']);
});

test('GitLab refuses a status that is set already; that is as good as set', async () => {
  const forge = await startReceiver((response) =>
    response.writeHead(400).end('{"message":"Cannot transition status via :enqueue from :pending"}'),
  );
  const scene = start(
    [{ name: 'lab', type: 'gitlab', url: forge.url, repository: 'acme/shop', token: { env: 'TOKEN' } }],
    { api: handMadeApi([application('shop')]) },
  );
  scene.api.emit(event({ type: 'source.accepted' }));
  await scene.close(GRACE_MS);
  expect(scene.counted).toEqual(['lab sent']);
  expect(forge.received[0]?.headers['private-token']).toBe('hunter2-token');
});

test('nothing is said of a commit while the controller starts, or of plain files', async () => {
  const forge = await startReceiver();
  const api = handMadeApi();
  api.statusFacts = { phase: 'starting' };
  const scene = start([{ name: 'forge', type: 'github', url: forge.url, repository: 'a/b', token: { env: 'TOKEN' } }], {
    api,
  });
  api.emit(event({ type: 'controller.started', revision: null }));
  await new Promise((resolve) => setTimeout(resolve, 20));
  api.statusFacts = {};
  api.sourceNow = { ...sourceStatus, acceptedRevision: `files@sha256:${'a'.repeat(64)}` };
  api.emit(event({ type: 'source.accepted', revision: api.sourceNow.acceptedRevision }));
  await scene.close(GRACE_MS);
  expect(forge.received).toEqual([]);
});
