import { expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import {
  addressMasks,
  isSecretName,
  secretLineMasks,
  secretMasks,
  type Trust,
  withoutUserInfo,
} from '../../src/manifest/secrets.ts';

/** The text with what is masked written as stars. */
function masked(text: string, masks: readonly (readonly [number, number])[]): string {
  let shown = text;
  for (const [from, to] of masks) {
    expect(from).toBeLessThan(to);
    shown = shown.slice(0, from) + '*'.repeat(to - from) + shown.slice(to);
  }
  return shown;
}
const maskedDocument = (text: string, trust: Trust) => masked(text, secretMasks(parseDocument(text).contents, trust));

test.for([
  'accessKey',
  'access_key',
  'ACCESSKEY',
  'token',
  'password',
  'passwd',
  'secret',
  'apiKey',
  'api_key',
  'Authorization',
  'privateKey',
  'private_key',
])('%s is what people call a secret', (name) => {
  expect(isSecretName(name)).toBe(true);
});

test.for(['tokens', 'mytoken', 'port', 'value', 'access', 'key', ''])('%s is not', (name) => {
  expect(isSecretName(name)).toBe(false);
});

test.for<readonly [string, Trust, string, string]>([
  ['a value', 'manifest', 'token: abc', 'token: ***'],
  ['a value in quotes', 'manifest', 'token: "abc"', 'token: *****'],
  ['deep inside', 'manifest', 'spec: { auth: { token: abc } }', 'spec: { auth: { token: *** } }'],
  ['in a list', 'manifest', 'list: [ { token: abc }, { b: c } ]', 'list: [ { token: *** }, { b: c } ]'],
  ['at the top, in a list', 'manifest', '[ { token: abc } ]', '[ { token: *** } ]'],
  ['a list of them', 'manifest', 'token: [ abc, [ def ] ]', 'token: [ ***, [ *** ] ]'],
  ['within a map', 'manifest', 'token: { inline: abc, 7: def }', 'token: { inline: ***, 7: *** }'],
  ['but not a reference', 'operator', 'token: { env: ABC, file: def }', 'token: { env: ABC, file: def }'],
  ['the operator’s value', 'operator', 'auth: { header: A, value: abc }', 'auth: { header: A, value: *** }'],
  ['the operator’s address', 'operator', 'hook: { name: A, urlFrom: abc }', 'hook: { name: A, urlFrom: *** }'],
  ['nobody else’s address', 'manifest', 'hook: { urlFrom: abc }', 'hook: { urlFrom: abc }'],
  ['nobody else’s', 'manifest', 'headers: [ { key: A, value: abc } ]', 'headers: [ { key: A, value: abc } ]'],
  ['no other field', 'manifest', 'port: 80\nname: abc', 'port: 80\nname: abc'],
  ['a key that is none', 'manifest', '? [ token ]\n: abc', '? [ token ]\n: abc'],
  ['a reference with a key that is none', 'manifest', 'token: { ? [ env ] : abc }', 'token: { ? [ env ] : *** }'],
  ['a key without a value', 'manifest', '{ token, a: { token } }', '{ token, a: { token } }'],
  ['nothing at all', 'manifest', '', ''],
])('%s is masked', ([, trust, text, shown]) => {
  expect(maskedDocument(text, trust)).toBe(shown);
});

test('users and passwords are taken out of addresses', () => {
  expect(withoutUserInfo('https://a:b@c.example.com/x and http://d@e')).toBe(
    'https://***@c.example.com/x and http://***@e',
  );
  expect(withoutUserInfo('https://c.example.com/a@b mail@x')).toBe('https://c.example.com/a@b mail@x');
  const text = 'url: https://a:b@c.example.com # http://d@e';
  expect(masked(text, addressMasks(text))).toBe('url: https://***@c.example.com # http://*@e');
  expect(addressMasks('url: https://c')).toEqual([]);
});

test.for([
  ['token: abc', 'token: ***'],
  ['  accessKey: "abc', '  accessKey: ****'],
  ['{ token: abc, a: b }', '{ token: ************'.slice(0, '{ token: abc, a: b }'.length)],
  ['"token": abc', '"token": ***'],
  ["'token' : abc", "'token' : ***"],
  ['value:\tabc', 'value:\t***'],
  ['TOKEN: abc', 'TOKEN: ***'],
  ['mytoken: abc', 'mytoken: abc'],
  ['a: b\nabc\nc: d', 'a: b\n***\nc: d'],
  ['a: |\n  abc', 'a: |\n*****'],
  ['a: b\n---\nc: d', 'a: b\n---\nc: d'],
  ['a: b\n--- x', 'a: b\n--- x'],
  ['accessKey: { env: A }', 'accessKey: { env: A }'],
  ['port: 80\ntoken: abc\npassword: def', 'port: 80\ntoken: ***\npassword: ***'],
] as const)('of a broken configuration, %j is shown as %j', ([text, shown]) => {
  expect(masked(text, secretLineMasks(text))).toBe(shown);
});
