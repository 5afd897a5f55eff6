import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSecret } from '../../src/cli/session/secrets.ts';
import { createRedaction } from '../../src/cli/session/redaction.ts';
import { decryptSops } from '../../src/configuration/sops.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { configurationFor, folderOf, sandboxFor } from './platform.ts';
import { runHere } from './running.ts';

// Written by SOPS 3.8 and 3.9 themselves: test data of the projects sops-age (MIT) and kustomize-controller (Apache-2.0), with
// the age identities that they publish for it.
const file = (name: string): string => join(import.meta.dirname, 'sops', name);
const read = (name: string): string => readFileSync(file(name), 'utf8');
const identities = {
  'all-types': 'AGE-SECRET-KEY-1QXRVEJH9S4NQU0FPD6V79ESZQ8S6PXH3L8V40EVPTHFH6KNKD4DQ7SKC4P',
  'some-values': 'AGE-SECRET-KEY-1RH87A5Z54ZGUR9S0AS3R6WHFSEFNPLYMAKF5Z2CEU7R06VRJ0A3Q7242AM',
  other: 'AGE-SECRET-KEY-1K4D6SYCRQLZQD868WJ7CC3C2ZKUJ9HMLH73ETJW6MFDF24YCSC6QGMZ4JY',
};

test('every type of value that SOPS has written is read', () => {
  const values = { secret: 'this is a secret', string: 'string', int: '7', float: '3.14', boolean: 'True' };
  const yaml = decryptSops(read('all-types.yaml'), identities['all-types']);
  expect(Object.fromEntries(yaml)).toEqual({ ...values, 'complex.value': 'this is a secret' });
  // An identity among comments and other identities, as age-keygen writes them.
  const lines = `# created: today\n${identities.other}\n${identities['all-types']}\r\n`;
  expect(Object.fromEntries(decryptSops(read('all-types.json'), lines))).toEqual({
    ...values,
    '0word': 'gotta match go',
    'complex.value': 'this is a secret',
  });
  // Only some values of this file are encrypted; the code covers the others, too.
  const some = decryptSops(read('some-values.yaml'), identities['some-values']);
  expect(Object.fromEntries(some)).toEqual({ 'stringData.key': 'value' });
});

test.for([
  [
    'other identities',
    (text: string) => text,
    identities.other,
    /no age identity matches its recipients \(identities: 1, recipients: 3;/,
  ],
  ['no identity', (text: string) => text, '# none', /there is no age identity/],
  [
    'a misspelt identity',
    (text: string) => text,
    identities['all-types'].replace('QXRV', 'QXRW'),
    /misspelt or cut off/,
  ],
  ['a value removed', (text: string) => text.replace(/^string:.*\n/m, ''), '', /authentication code does not match/],
  [
    'two values swapped',
    (text: string) => text.replace(/^(string:.*\n)(int:.*\n)/m, '$2$1'),
    '',
    /code does not match/,
  ],
  [
    'a value under another key',
    (text: string) => text.replace(/^string:/m, 'text:'),
    '',
    /text: was changed, or was moved/,
  ],
  ['a value changed', (text: string) => text.replace('data:LNzA', 'data:LNzB'), '', /string: was changed/],
  ['a plain value added', (text: string) => `more: 1\n${text}`, '', /code does not match/],
  ['no code', (text: string) => text.replace(/^ {2}mac: .*\n/m, ''), '', /not in the format of SOPS/],
  ['no metadata', (text: string) => text.slice(0, text.indexOf('sops:')), '', /there is no key "sops"/],
  ['no YAML', () => '{ sops: [', '', /there is no key "sops"/],
  [
    'other recipients',
    (text: string) => text.replace(/^ {2}age:\n(?: {4}.*\n)+/m, '  age: []\n'),
    '',
    /sops\.age is empty/,
  ],
  ['a damaged recipient', (text: string) => text.replaceAll('YWdlLWVuY3J5', 'YWdlLWVuY3J6'), '', /not an age file/],
] as const)('a file is refused, without a word of its values: %s', ([, change, identity, message]) => {
  const open = (): unknown =>
    decryptSops(change(read('all-types.yaml')), identity === '' ? identities['all-types'] : identity);
  expect(open).toThrow(message);
  expect(open).not.toThrow(/this is a secret|3\.14/);
});

test('a secret of the configuration is taken from an encrypted file', async () => {
  const sandbox = await sandboxFor({ token: 'this is a secret' });
  const reference = `{ sops: "${file('all-types.yaml')}#complex.value" }`;
  const cwd = folderOf({
    'portolan.yaml': configurationFor(sandbox.url).replace('{ env: PORTOLAN_TOKEN }', reference),
    'keys.txt': `${identities['all-types']}\n`,
  });
  const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    runHere([...args, '--config', join(cwd, 'portolan.yaml')], { env });

  const regions = await run(['regions', '--log-level', 'debug'], { SOPS_AGE_KEY_FILE: join(cwd, 'keys.txt') });
  expect(regions).toMatchObject({ code: 0, out: expect.stringContaining('region-1') });
  const config = await run(['config'], { SOPS_AGE_KEY: identities['all-types'] });
  expect(config.out).toMatch(/auth\.value\.sops .*all-types\.yaml#complex\.value \(can be read\)/);
  expect(regions.out + regions.err + config.out + config.err).not.toMatch(/this is a secret|AGE-SECRET-KEY/);

  const locked = await run(['regions'], { HOME: cwd });
  expect(locked.code).toBe(3);
  expect(locked.err).toMatch(/Platform\/default spec\.auth\.value .*cannot be decrypted: there is no age identity/);
  expect(locked.err).toMatch(/SOPS_AGE_KEY_FILE/);
  const nowhere = { env: { SOPS_AGE_KEY: identities['all-types'] }, clock: systemClock, redaction: createRedaction() };
  expect(() => openSecret({ sops: `${file('all-types.yaml')}#complex` }, 'here', nowhere)).toThrow(
    /all-types\.yaml, which has no text at the key complex\./,
  );
  const unreadable = await run(['regions'], { SOPS_AGE_KEY_FILE: join(cwd, 'no-keys.txt') });
  expect(unreadable).toMatchObject({ code: 3, err: expect.stringMatching(/SOPS_AGE_KEY_FILE .*no-keys\.txt/) });
});

test('an inline secret is refused in place of a reference to an encrypted file', async () => {
  const cwd = folderOf({
    'portolan.yaml': configurationFor('https://console.example.com').replace(
      '{ env: PORTOLAN_TOKEN }',
      '{ sops: canary-inline-4 }',
    ),
  });
  const { code, out, err } = await runHere(['regions', '--config', join(cwd, 'portolan.yaml')]);
  expect(code).toBe(3);
  expect(out + err).toContain('a # and a key in it');
  expect(out + err).not.toContain('canary-inline-4');
});
