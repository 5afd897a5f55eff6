import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { follow, remote } from './remotes.ts';
import { git, temporaryFolder } from './repositories.ts';

const SSHD = '/usr/sbin/sshd';

interface SshServer {
  /** `ssh://user@127.0.0.1:port` */
  readonly url: string;
  /** Private key that it lets in. */
  readonly key: string;
  /** Its own public key, as known_hosts has it. */
  readonly knownHosts: string;
  readonly port: number;
}

/** OpenSSH's own server for the user of this process, on this machine only. */
async function sshServer(): Promise<SshServer> {
  const folder = temporaryFolder();
  const [host, key] = [newKey(folder, 'host'), newKey(folder, 'deploy')];
  const port = await freePort();
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${host}`,
    `AuthorizedKeysFile ${key}.pub`,
    'PasswordAuthentication no',
    'UsePAM no',
    // The folder of a test is anybody's.
    'StrictModes no',
    `PidFile ${join(folder, 'pid')}`,
  ];
  writeFileSync(join(folder, 'sshd_config'), `${settings.join('\n')}\n`);
  // As root, it wants a folder of its own to lock itself into.
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true });
  const server = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void server.kill());
  let said = '';
  server.stderr.on('data', (data: Buffer) => (said += data.toString()));
  await expect.poll(() => said).toContain('Server listening');
  const knownHosts = join(folder, 'known_hosts');
  writeFileSync(knownHosts, knownHost(port, host));
  return { url: `ssh://${userInfo().username}@127.0.0.1:${port}`, key, knownHosts, port };
}

function newKey(folder: string, name: string): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', join(folder, name)]);
  return join(folder, name);
}

function knownHost(port: number, key: string): string {
  return `[127.0.0.1]:${port} ${readFileSync(`${key}.pub`, 'utf8')}`;
}

const canServe = existsSync(SSHD) && spawnSync('ssh-keygen', ['-?']).error === undefined;

test.skipIf(!canServe)('from a real server of ssh: what is pushed there, also by force, is read', async () => {
  const { bare, work, push } = remote({ 'a.yaml': 'one' });
  const server = await sshServer();
  const credentials = { sshKey: { env: 'DEPLOY_KEY' }, knownHosts: server.knownHosts };
  const secrets = { DEPLOY_KEY: readFileSync(server.key, 'utf8').trimEnd() };
  const { next, feed } = follow({ url: `${server.url}${bare}`, ref: 'main', credentials }, secrets);
  expect(await next()).toBe(`read main@sha1:${git(work, 'rev-parse', 'HEAD')} a.yaml=one`);
  const second = push({ 'a.yaml': 'two' });
  feed.poke();
  expect(await next()).toBe(`read main@sha1:${second} a.yaml=two`);
  git(work, 'reset', '--quiet', '--hard', 'HEAD~1');
  const forced = push({ 'a.yaml': 'three' }, '--force');
  feed.poke();
  expect(await next()).toBe(`read main@sha1:${forced} a.yaml=three`);
});

test.skipIf(!canServe)('a server of ssh with another key than the known one is told nothing', async () => {
  const { bare } = remote({ 'a.yaml': 'one' });
  const server = await sshServer();
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'known_hosts'), knownHost(server.port, newKey(folder, 'other')));
  const credentials = { sshKey: { file: server.key }, knownHosts: join(folder, 'known_hosts') };
  const { next } = follow({ url: `${server.url}${bare}`, ref: 'main', credentials });
  expect(await next()).toBe('failed source/remote-host-key');
});

test.skipIf(!canServe)('a key that the server of ssh does not take is told as such', async () => {
  const { bare } = remote({ 'a.yaml': 'one' });
  const server = await sshServer();
  const credentials = { sshKey: { file: newKey(temporaryFolder(), 'stranger') }, knownHosts: server.knownHosts };
  const { next } = follow({ url: `${server.url}${bare}`, ref: 'main', credentials });
  expect(await next()).toBe('failed source/remote-refused');
});
