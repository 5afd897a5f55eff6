import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { serve, type Serving, WEBHOOK_SECRET } from './serving.ts';

/** Deliveries as the forges send them, shortened: what is in them is not read. */
const PAYLOADS = {
  github:
    '{"ref":"refs/heads/main","before":"6113728f27ae82c7b1a177c8d03f9e96e0adf246","after":"59b20b8d5c6ff8d09518454d4dd8b7b30f095ab5","repository":{"id":186853002,"full_name":"octo-org/octo-repo"},"pusher":{"name":"octocat"},"commits":[]}',
  gitlab:
    '{"object_kind":"push","event_name":"push","before":"95790bf891e76fee5e1747ab589903a6a1f80f22","after":"da1560886d4f094c3e6c9ef40349f7d38b5d27d7","ref":"refs/heads/main","project_id":15,"project":{"path_with_namespace":"mike/diaspora"}}',
  gitea:
    '{"ref":"refs/heads/main","before":"28e1879d029cb852e4844d9c718537df08844e03","after":"bffeb74224043ba2feb48d137756c8a9331c449a","repository":{"id":140,"full_name":"gitea/webhooks"}}',
  generic: '{"ref":"main"}',
} as const;

type Kind = keyof typeof PAYLOADS;
const KINDS = Object.keys(PAYLOADS) as Kind[];

function hmac(body: string, key: string = WEBHOOK_SECRET, algorithm = 'sha256'): string {
  return createHmac(algorithm, key).update(body).digest('hex');
}

/** The headers of a genuine delivery of a kind. */
function headersFor(kind: Kind, body: string, key: string = WEBHOOK_SECRET): Record<string, string> {
  switch (kind) {
    case 'github':
      return {
        'content-type': 'application/json',
        'user-agent': 'GitHub-Hookshot/044aadd',
        'x-github-event': 'push',
        'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
        'x-hub-signature': `sha1=${hmac(body, key, 'sha1')}`,
        'x-hub-signature-256': `sha256=${hmac(body, key)}`,
      };
    case 'gitlab':
      return {
        'content-type': 'application/json',
        'user-agent': 'GitLab/17.5.0',
        'x-gitlab-event': 'Push Hook',
        'x-gitlab-event-uuid': '13792a34-cac6-4fda-95a8-c58e00a3954e',
        'x-gitlab-token': key,
      };
    case 'gitea':
      return {
        'content-type': 'application/json',
        'x-gitea-event': 'push',
        'x-gitea-delivery': 'f6266f16-1bf3-46a5-9ea4-602e06ead473',
        'x-gitea-signature': hmac(body, key),
      };
    case 'generic':
      return { 'x-portolan-signature': `sha256=${hmac(body, key)}` };
  }
}

async function deliver(serving: Serving, name: string, headers: Record<string, string>, body: string) {
  return serving.ask(`/webhooks/${name}`, {
    method: 'POST',
    role: null,
    headers: { authorization: '', ...headers },
    body,
  });
}

test.for(KINDS)('a genuine delivery of %s is a hint to look, and nothing else', async (kind) => {
  const serving = await serve();
  const body = PAYLOADS[kind];
  expect((await deliver(serving, `my-${kind}`, headersFor(kind, body), body)).status).toBe(202);
  expect(serving.api.asked).toEqual([`poke: webhook my-${kind}`]);
});

const SIGNATURE_HEADER: Readonly<Record<Kind, string>> = {
  github: 'x-hub-signature-256',
  gitlab: 'x-gitlab-token',
  gitea: 'x-gitea-signature',
  generic: 'x-portolan-signature',
};

/** What a forger may try; undefined where it makes no sense for a kind. */
const FORGERIES: Readonly<
  Record<string, (kind: Kind, body: string) => readonly [Record<string, string>, string] | undefined>
> = {
  'another key': (kind, body) => [headersFor(kind, body, 'another-another-another'), body],
  'an empty key': (kind, body) => [headersFor(kind, body, ''), body],
  'no header': (kind, body) => [{ ...headersFor(kind, body), [SIGNATURE_HEADER[kind]]: '' }, body],
  'a byte changed': (kind, body) =>
    kind === 'gitlab' ? undefined : [headersFor(kind, body), body.replace('main', 'mein')],
  'a byte more': (kind, body) => (kind === 'gitlab' ? undefined : [headersFor(kind, body), `${body}\n`]),
  'sha1 only': (kind, body) =>
    kind === 'gitlab'
      ? undefined
      : [{ 'x-hub-signature': `sha1=${hmac(body, WEBHOOK_SECRET, 'sha1')}`, 'content-type': 'application/json' }, body],
  'sha1 in the place of sha256': (kind, body) =>
    kind === 'gitlab'
      ? undefined
      : [{ [SIGNATURE_HEADER[kind]]: `sha256=${hmac(body, WEBHOOK_SECRET, 'sha1')}` }, body],
  'another algorithm by name': (kind, body) =>
    kind === 'gitlab' ? undefined : [{ [SIGNATURE_HEADER[kind]]: `md5=${hmac(body, WEBHOOK_SECRET, 'md5')}` }, body],
  'the right signature by the name of another algorithm': (kind, body) =>
    kind === 'gitlab' ? undefined : [{ [SIGNATURE_HEADER[kind]]: `sha512=${hmac(body)}` }, body],
  'half of the signature': (kind, body) => {
    const headers = headersFor(kind, body);
    const value = headers[SIGNATURE_HEADER[kind]] ?? '';
    return [{ ...headers, [SIGNATURE_HEADER[kind]]: value.slice(0, value.length / 2) }, body];
  },
  'an empty body under the signature of another': (kind, body) =>
    kind === 'gitlab' ? undefined : [headersFor(kind, body), ''],
  'the signature of another kind': (kind, body) => {
    const other = kind === 'gitlab' ? 'github' : 'gitlab';
    return [headersFor(other, body), body];
  },
};

test.for(KINDS.flatMap((kind) => Object.keys(FORGERIES).map((forgery) => [kind, forgery] as const)))(
  '%s: %s is refused without a word of why',
  async ([kind, forgery]) => {
    const forged = FORGERIES[forgery]?.(kind, PAYLOADS[kind]);
    if (forged === undefined) return expect(kind).toBe('gitlab'); // It signs nothing.
    const serving = await serve();
    const [headers, body] = forged;
    const answer = await deliver(serving, `my-${kind}`, headers, body);
    const unknown = await deliver(serving, 'nobody', headers, body);
    expect(answer).toMatchObject({ status: 401, body: { code: 'server/webhook-refused' } });
    expect(unknown.text).toBe(answer.text);
    expect(serving.api.asked).toEqual([]);
  },
);

test('an empty body that is signed is as good as any', async () => {
  const serving = await serve();
  expect((await deliver(serving, 'my-generic', headersFor('generic', ''), '')).status).toBe(202);
});

test('replays do no harm: within a second they are one look more, and none is lost', async () => {
  const serving = await serve({ limits: { pokeMs: 150 } });
  const body = PAYLOADS.github;
  for (let times = 0; times < 20; times += 1) {
    expect((await deliver(serving, 'my-github', headersFor('github', body), body)).status).toBe(202);
  }
  await expect.poll(() => serving.api.asked.length).toBeGreaterThan(1);
  expect(serving.api.asked.length).toBeLessThan(20);
});

test('forged deliveries have a limit of their own and never use up that of a genuine sender', async () => {
  const serving = await serve({ limits: { webhookBurst: 3, webhookPerSecond: 0.001 } });
  const body = PAYLOADS.github;
  const forge = async () =>
    (await deliver(serving, 'my-github', headersFor('github', body, 'another-another-another'), body)).status;
  const statuses: number[] = [];
  for (let times = 0; times < 20; times += 1) statuses.push(await forge());
  expect(statuses).toEqual([401, 401, 401, ...Array.from({ length: 17 }, () => 429)]);
  for (let times = 0; times < 3; times += 1)
    expect((await deliver(serving, 'my-github', headersFor('github', body), body)).status).toBe(202);
});

test('bodies that never arrive keep no genuine delivery out', async () => {
  const serving = await serve({ limits: { webhooksUnread: 2, headersMs: 600_000, requestMs: 600_000 } });
  const { port } = new URL(serving.url);
  const closed = Array.from({ length: 3 }, async () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {}); // It may be closed to make room.
    socket.write('POST /webhooks/my-github HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{');
    await once(socket, 'close');
  });
  await closed[0];
  const body = PAYLOADS.github;
  expect((await deliver(serving, 'my-github', headersFor('github', body), body)).status).toBe(202);
});

test('more than a sender may deliver are refused', async () => {
  const serving = await serve({ limits: { webhookBurst: 3, webhookPerSecond: 0.001 } });
  const body = PAYLOADS.github;
  const statuses: number[] = [];
  for (let times = 0; times < 5; times += 1) {
    statuses.push((await deliver(serving, 'my-github', headersFor('github', body), body)).status);
  }
  expect(statuses).toEqual([202, 202, 202, 429, 429]);
  // The others are not touched by it.
  expect((await deliver(serving, 'my-generic', headersFor('generic', body), body)).status).toBe(202);
});

test('a secret that was exchanged counts at once, the former no more', async () => {
  const serving = await serve();
  serving.secrets.set('hook', 'another-another-another');
  const body = PAYLOADS.github;
  expect((await deliver(serving, 'my-github', headersFor('github', body), body)).status).toBe(401);
  const headers = headersFor('github', body, 'another-another-another');
  expect((await deliver(serving, 'my-github', headers, body)).status).toBe(202);
});
