import { expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import {
  addressMasks,
  isSecretName,
  secretLineMasks,
  secretMasks,
  shownAddress,
  shownAddresses,
  type Trust,
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
  ['what stands behind the host', 'operator', 'hook: { url: c.example.com/abc }', 'hook: { url: c.example.com**** }'],
  ['what stands behind the host of a link', 'operator', 'link: c.example.com/abc', 'link: c.example.com****'],
  ['no host alone', 'operator', 'url: c.example.com', 'url: c.example.com'],
  ['a secret within an address', 'operator', 'url: [ { token: abc } ]', 'url: [ { token: *** } ]'],
  ['no path of any other field', 'operator', 'name: c.example.com/abc', 'name: c.example.com/abc'],
  ['nobody else’s path', 'manifest', 'url: c.example.com/abc', 'url: c.example.com/abc'],
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

test.for([
  ['https://a:b@c.example.com/x and http://d@e', 'https://***@c.example.com/*** and http://***@e'],
  ['https://c.example.com/a@b mail@x', 'https://c.example.com/*** mail@x'],
  ['https://c.example.com:8443?token=abc', 'https://c.example.com:8443?***'],
  ['https://c.example.com/a,bcd,e f', 'https://c.example.com/*** f'],
  ['https://c.example.com/ and https://c', 'https://c.example.com/ and https://c'],
  ['c.example.com/abc', 'c.example.com/abc'],
] as const)('of addresses only scheme and host are shown: %j as %j', ([text, shown]) => {
  expect(shownAddresses(text)).toBe(shown);
});

test.for([
  ['c.example.com/abc', 'c.example.com/***'],
  ['c.example.com:80#abc\ndef', 'c.example.com:80#***'],
  ['https://c.example.com/abc', 'https://c.example.com/***'],
  ['c.example.com', 'c.example.com'],
  ['see c.example.com/abc', 'see c.example.com/abc'],
] as const)('in a field of addresses, where the scheme was forgotten too: %j as %j', ([text, shown]) => {
  expect(shownAddress(text)).toBe(shown);
});

test.for<readonly [string, Trust, string]>([
  ['url: https://a:b@c.example.com/x # http://d@e', 'manifest', 'url: https://***@c.example.com/x # http://*@e'],
  ['url: https://a:b@c.example.com/x # http://d@e', 'operator', 'url: https://***@c.example.com/* # http://*@e'],
  ['{ url: "https:\\/\\/c.example.com\\/abc" }', 'operator', '{ url: "https:\\/\\/c.example.com\\/***" }'],
  ["url: 'https://c.example.com?abc'", 'operator', "url: 'https://c.example.com?***'"],
  ['url: https://c', 'operator', 'url: https://c'],
])('of %j, a %s’s, %j is left', ([text, trust, shown]) => {
  expect(masked(text, addressMasks(text, trust))).toBe(shown);
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
