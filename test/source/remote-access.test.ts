import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { loadConfiguration } from '../../src/configuration/configuration.ts';
import { type Listening, openFeed } from './feeds.ts';
import { allArguments, follow, gitServer, ownCertificate, remote, standInForSsh } from './remotes.ts';
import { git, temporaryFolder } from './repositories.ts';

const PASSWORD = 'canary-token-p@ss/word+1';
const spellings = [PASSWORD, encodeURIComponent(PASSWORD), Buffer.from(`robot:${PASSWORD}`).toString('base64')];

/** Everything that was told, as somebody may read it. */
function said(listening: Listening): string {
  return listening.told
    .map((state) =>
      state.type === 'failed'
        ? `${state.error.code} ${state.error.message} ${state.error.remedy} ${state.error.stack}`
        : `${state.reading.revision}`,
    )
    .join('\n');
}

/** Files below that hold one of these texts. */
function keptWith(folder: string, texts: readonly string[]): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => texts.some((text) => readFileSync(file).includes(text)));
}

test('over http on this machine, without credentials', async () => {
  const { bare, push } = remote({ 'a.yaml': 'one' });
  const server = await gitServer(join(bare, '..'));
  const { next, feed } = follow({ url: `${server.url}/platform.git`, ref: 'main' });
  expect(await next()).toMatch(/^read main@sha1:\w+ a\.yaml=one$/);
  const id = push({ 'a.yaml': 'two' });
  feed.poke();
  expect(await next()).toBe(`read main@sha1:${id} a.yaml=two`);
  const asked = server.requests.length;
  feed.poke();
  await expect.poll(() => server.requests.length).toBe(asked + 2);
  expect(server.requests.slice(asked).map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
    '/platform.git/info/refs',
    '/platform.git/git-upload-pack',
  ]);
});

test('over http with a password, which shows nowhere but in the header', async () => {
  const { bare } = remote({ 'a.yaml': 'one' });
  const server = await gitServer(join(bare, '..'), `robot:${PASSWORD}`);
  const seen: string[] = [];
  const environments: string[] = [];
  server.answer = () => {
    // What anybody on the machine may see while git talks to us.
    seen.push(allArguments());
    environments.push(execFileSync('ps', ['-ww', 'e', '-eo', 'args'], { encoding: 'utf8' }));
    return false;
  };
  const credentials = { username: 'robot', password: { env: 'GIT_TOKEN' } } as const;
  const listening = follow({ url: `${server.url}/platform.git`, ref: 'main', credentials }, { GIT_TOKEN: PASSWORD });
  expect(await listening.next()).toMatch(/^read main@sha1:\w+ a\.yaml=one$/);
  expect(server.requests.at(-1)?.authorization).toBe(`Basic ${spellings[2]}`);
  expect(seen.length).toBeGreaterThan(2);
  expect(seen.join('\n')).toContain('git-remote-http');
  for (const spelling of spellings) expect(seen.join('\n')).not.toContain(spelling);
  expect(environments.join('\n')).toContain(spellings[2]);
  expect(keptWith(listening.cacheFolder, [PASSWORD, spellings[2] ?? ''])).toEqual([]);
});

test('a password that is refused is told without it, though the server repeats it', async () => {
  const { bare } = remote({ 'a.yaml': 'one' });
  const server = await gitServer(join(bare, '..'), 'robot:another');
  const credentials = { username: 'robot', password: { env: 'GIT_TOKEN' } } as const;
  const settings = { url: `${server.url}/platform.git`, ref: 'main', credentials };
  const refused = follow(settings, { GIT_TOKEN: PASSWORD });
  expect(await refused.next()).toBe('failed source/remote-refused');
  server.answer = (request, response) => {
    response.writeHead(500, `no ${PASSWORD}`, { 'content-type': 'text/plain' });
    response.end(`remote: you said ${request.headers.authorization} and ${PASSWORD}`);
    return true;
  };
  const echoed = follow(settings, { GIT_TOKEN: PASSWORD });
  expect(await echoed.next()).toBe('failed source/remote-failed');
  for (const spelling of spellings) expect(said(refused) + said(echoed)).not.toContain(spelling);
  server.answer = undefined;
  expect(await follow({ url: settings.url, ref: 'main' }).next()).toBe('failed source/remote-refused');
});

test.skipIf(!existsSync('/usr/bin/openssl'))(
  'over https, only from a server whose certificate is trusted',
  async () => {
    const { bare } = remote({ 'a.yaml': 'one' });
    const { file, ...tls } = ownCertificate();
    const server = await gitServer(join(bare, '..'), `robot:${PASSWORD}`, tls);
    const credentials = { username: 'robot', password: { env: 'GIT_TOKEN' } } as const;
    const settings = { url: `${server.url}/platform.git`, ref: 'main', credentials };
    const trusting = follow({ ...settings, tls: { caFile: file } }, { GIT_TOKEN: PASSWORD });
    expect(await trusting.next()).toMatch(/^read main@sha1:\w+ a\.yaml=one$/);
    const requests = server.requests.length;
    const wary = follow(settings, { GIT_TOKEN: PASSWORD });
    expect(await wary.next()).toBe('failed source/remote-tls');
    expect(server.requests).toHaveLength(requests);
  },
);

test('a redirect to another address is not followed', async () => {
  const { bare } = remote({ 'a.yaml': 'one' });
  const elsewhere = await gitServer(join(bare, '..'));
  const server = await gitServer(join(bare, '..'));
  server.answer = (request, response) => {
    response.writeHead(302, { location: `${elsewhere.url}${request.url}` }).end();
    return true;
  };
  const { next } = follow({ url: `${server.url}/platform.git`, ref: 'main' });
  expect(await next()).toBe('failed source/remote-redirect');
  expect(elsewhere.requests).toEqual([]);
});

test('a server that does not answer is left, and nothing of git stays behind', async () => {
  const { bare } = remote({ 'a.yaml': 'one' });
  const server = await gitServer(join(bare, '..'));
  const asked = Promise.withResolvers<void>();
  server.answer = () => {
    asked.resolve();
    return true;
  };
  const { feed } = follow({ url: `${server.url}/platform.git`, ref: 'main' });
  await asked.promise;
  expect(allArguments()).toContain(server.url);
  await feed.close();
  await expect.poll(allArguments).not.toContain(server.url);
});

test.for(['env', 'file'] as const)('over ssh, with a key by %s that shows nowhere', async (where) => {
  const { bare, work } = remote({ 'a.yaml': 'one' });
  const key = `-----BEGIN KEY-----\ncanary-token-key\n-----END KEY-----\n`;
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'key'), key, { mode: 0o600 });
  const ssh = standInForSsh();
  const credentials = {
    sshKey: where === 'env' ? { env: 'DEPLOY_KEY' } : { file: join(folder, 'key') },
    knownHosts: '/etc/portolan/known_hosts',
  };
  const url = `ssh://git@git.example.com:2222${bare}`;
  const listening = follow({ url, ref: 'main', credentials }, { DEPLOY_KEY: key.trimEnd() }, { path: ssh.path });
  expect(await listening.next()).toBe(`read main@sha1:${git(work, 'rev-parse', 'HEAD')} a.yaml=one`);
  const lines = ssh.noted().split('\n');
  const args = lines.filter((line) => line.startsWith('args '));
  expect(args).toHaveLength(2);
  for (const option of [
    '-F /dev/null',
    '-o BatchMode=yes',
    '-o StrictHostKeyChecking=yes',
    '-o UserKnownHostsFile=/etc/portolan/known_hosts',
    '-o IdentitiesOnly=yes',
    '-p 2222 git@git.example.com',
  ])
    expect(args[0]).toContain(option);
  expect(args.join('\n')).not.toContain('canary');
  expect(lines.filter((line) => line.startsWith('env ') && line.includes('canary'))).toEqual([]);
  expect(lines.filter((line) => line.startsWith('key '))).toContain('key canary-token-key');
  expect(lines).toContain('mode 600');
  // The key that was made for one command is gone with it.
  expect(readdirSync(listening.cacheFolder, { recursive: true }).filter((name) => `${name}`.includes('key'))).toEqual(
    [],
  );
  expect(keptWith(listening.cacheFolder, ['canary'])).toEqual([]);
});

test('the real ssh takes every option, and refuses a host that is not known', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'known_hosts'), '');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')]);
  const credentials = { sshKey: { file: join(folder, 'key') }, knownHosts: join(folder, 'known_hosts') };
  // Nothing listens there: ssh gets as far as connecting, past all of its options.
  const listening = follow({ url: 'ssh://git@127.0.0.1:1/x.git', ref: 'main', credentials });
  expect(await listening.next()).toBe('failed source/remote-failed');
  expect(said(listening)).toContain('Connection refused');
});

test.for([
  ['url: https://user:password@git.example.com/x.git', 'url'],
  ['url: git@git.example.com:x.git', 'url'],
  ['url: ext::sh', 'url'],
  ['url: git://git.example.com/x.git', 'url'],
  ['url: http://git.example.com/x.git', 'plain http'],
  ['url: "https://git.example.com/x.git?token=1"', 'url'],
  ['url: ssh://git@git.example.com/x.git', 'sshKey and knownHosts'],
  ['{ url: https://git.example.com/x.git, credentials: { username: x } }', 'password is missing'],
  ['{ url: https://git.example.com/x.git, credentials: { sshKey: { env: K }, knownHosts: /k } }', 'for ssh'],
  ['{ url: "ssh://git.example.com/x.git", credentials: { password: { env: P } } }', 'not a password'],
  ['{ url: "file:///srv/x.git", credentials: { password: { env: P } } }', 'need no credentials'],
  ['credentials: { password: { env: P } }', 'need spec.source.url'],
  ['{ url: https://git.example.com/x.git, credentials: { password: planted-inline-1 } }', 'password'],
  ['{ url: https://git.example.com/x.git, paths: [../x] }', 'leads out'],
  ['{ url: https://git.example.com/x.git, paths: [/etc] }', 'leads out'],
  ['{ interval: 0s }', 'interval'],
  ['{ debounce: 99s }', 'debounce'],
  ['{ debounce: 1h }', 'debounce'],
  ['{ ref: -x }', 'ref'],
  ['{ ref: "a b" }', 'ref'],
] as const)('source: %s is refused', ([source, expected]) => {
  const text = `apiVersion: portolan/v1\nkind: Settings\nspec:\n  source: ${source.startsWith('{') ? source : `{ ${source} }`}\n`;
  const { problems } = loadConfiguration(kindDeclarations, text, 'portolan.yaml');
  expect(problems.map(({ message, path }) => `${path} ${message}`).join('\n')).toContain(expected);
  expect(JSON.stringify(problems)).not.toContain('planted-inline');
});

test('what a whole configuration of a source may say', () => {
  const text = `apiVersion: portolan/v1
kind: Settings
spec:
  source:
    url: https://git.example.com/team/platform.git
    ref: main
    paths: [ manifests/prod ]
    credentials: { username: portolan, password: { env: GIT_TOKEN } }
    tls: { caFile: /etc/ssl/git.pem }
---
apiVersion: portolan/v1
kind: Platform
spec: { url: https://console.example.com }
`;
  const { problems, configuration } = loadConfiguration(kindDeclarations, text, 'portolan.yaml');
  expect(problems).toEqual([]);
  expect(configuration.settings.source).toMatchObject({
    intervalMs: 60_000,
    debounceMs: 100,
    signatures: { by: 'nobody' },
  });
});

test('-f together with a url is refused, and so is a ref that no remote has', () => {
  const settings = { url: 'https://git.example.com/x.git' };
  expect(() => follow({ ...settings, ref: 'HEAD~1' })).toThrowError(
    expect.objectContaining({ code: 'source/bad-revision' }),
  );
  expect(() => openFeed(['/srv'], { settings })).toThrowError(expect.objectContaining({ code: 'source/several' }));
});
