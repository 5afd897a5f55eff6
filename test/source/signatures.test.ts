import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SignaturePolicy } from '../../src/configuration/settings/source-spec.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Git } from '../../src/source/git.ts';
import { requireSignature } from '../../src/source/signatures.ts';
import { git, repository, temporaryFolder, trap } from './repositories.ts';

/** Where the programs are not, git could not check a signature either. */
const has = (program: string): boolean =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));

async function verdict(root: string, policy: SignaturePolicy): Promise<string> {
  const around = { clock: systemClock, path: process.env.PATH, signal: new AbortController().signal };
  try {
    await requireSignature(new Git(root, around), git(root, 'rev-parse', 'HEAD'), policy);
    return 'good';
  } catch (error) {
    return (error as Error).message;
  }
}

function sshKey(name: string): string {
  const file = join(temporaryFolder(), name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file]);
  return file;
}

/** An empty commit, signed with an SSH key if there is one. */
function sign(root: string, key?: string): void {
  const signing = key === undefined ? [] : ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${key}`];
  git(root, ...signing, 'commit', '--quiet', '--allow-empty', '-m', 'x', ...(key === undefined ? [] : ['-S']));
}

/** A keyring with one secret key, removed with its agent when the test ends. */
function keyring(): string {
  const folder = join(temporaryFolder(), 'g');
  mkdirSync(folder, { mode: 0o700 });
  const gpg = (...args: string[]) =>
    execFileSync('gpg', ['--batch', '--quiet', ...args], {
      env: { PATH: process.env.PATH, GNUPGHOME: folder },
      stdio: 'pipe',
    });
  gpg('--passphrase', '', '--quick-gen-key', 'Tester <tester@example.com>', 'ed25519', 'sign');
  onTestFinished(() => {
    execFileSync('gpgconf', ['--kill', 'all'], { env: { PATH: process.env.PATH, GNUPGHOME: folder } });
  });
  return folder;
}

function signByGpg(root: string, home: string): void {
  const program = join(temporaryFolder(), 'gpg-of-mine');
  writeFileSync(program, `#!/bin/sh\nexec env GNUPGHOME=${home} gpg "$@"\n`);
  chmodSync(program, 0o755);
  git(
    root,
    '-c',
    `gpg.program=${program}`,
    '-c',
    'user.signingKey=tester@example.com',
    'commit',
    '--quiet',
    '--allow-empty',
    '-S',
    '-m',
    'x',
  );
}

test('signatures are looked at only where the operator asks for them', async () => {
  expect(await verdict(repository({ 'a.yaml': '' }), { by: 'nobody' })).toBe('good');
});

test.skipIf(!has('ssh-keygen'))('a commit must be signed with an SSH key that the operator allows', async () => {
  const [trusted, stranger] = [sshKey('trusted'), sshKey('stranger')];
  const keys = join(temporaryFolder(), 'allowed');
  writeFileSync(keys, `tester@example.com ${readFileSync(`${trusted}.pub`, 'utf8')}`);
  const policy = { by: 'ssh', keys } as const;
  const root = repository({ 'a.yaml': '' });
  expect(await verdict(root, policy)).toContain('has no signature that can be checked');
  sign(root, stranger);
  expect(await verdict(root, policy)).toContain('is signed with an untrusted key');
  sign(root, trusted);
  expect(await verdict(root, policy)).toBe('good');
  expect(await verdict(root, { by: 'gpg', keys: temporaryFolder() })).not.toBe('good');
  expect(await verdict(root, { by: 'ssh', keys: '/nowhere/allowed' })).toContain('untrusted');
  // The signature of an earlier commit says nothing about this one.
  sign(root);
  expect(await verdict(root, policy)).not.toBe('good');
});

test.skipIf(!has('ssh-keygen'))('the repository does not say who is trusted, nor what checks it', async () => {
  const stranger = sshKey('stranger');
  const keys = join(temporaryFolder(), 'allowed');
  writeFileSync(keys, `tester@example.com ${readFileSync(`${sshKey('trusted')}.pub`, 'utf8')}`);
  const root = repository({ allowed: `tester@example.com ${readFileSync(`${stranger}.pub`, 'utf8')}` });
  const { program, sprung } = trap();
  sign(root, stranger);
  git(root, 'config', 'gpg.ssh.allowedSignersFile', join(root, 'allowed'));
  for (const name of [
    'gpg.program',
    'gpg.openpgp.program',
    'gpg.x509.program',
    'gpg.ssh.program',
    'gpg.ssh.defaultKeyCommand',
  ])
    git(root, 'config', name, program);
  expect(await verdict(root, { by: 'ssh', keys })).toContain('untrusted');
  expect(await verdict(root, { by: 'ssh', keys: join(root, 'allowed') })).toContain('are in the checkout');
  expect(existsSync(sprung)).toBe(false);
});

test.skipIf(!has('gpg') || !has('gpgconf'))(
  'a commit must be signed with a key of the keyring that the operator names',
  async () => {
    const root = repository({ 'a.yaml': '' });
    const keys = keyring();
    const policy = { by: 'gpg', keys } as const;
    expect(await verdict(root, policy)).not.toBe('good');
    signByGpg(root, keyring());
    expect(await verdict(root, policy)).toContain('is signed with an unknown key');
    signByGpg(root, keys);
    expect(await verdict(root, policy)).toBe('good');
    expect(await verdict(root, { by: 'ssh', keys: '/nowhere/allowed' })).not.toBe('good');
  },
);
