import { expect, test } from 'vitest';
import { canonicalUrl, checkPlatformUrl } from '../../src/platform/url.ts';

test.for([
  ['https://console.example.com', 'https://console.example.com'],
  ['https://console.example.com/', 'https://console.example.com'],
  ['https://CONSOLE.example.com:8443/base//', 'https://console.example.com:8443/base'],
  ['http://localhost:7070', 'http://localhost:7070'],
  ['http://127.0.0.1:7070', 'http://127.0.0.1:7070'],
  ['http://127.1:7070', 'http://127.0.0.1:7070'],
  ['http://[::1]:7070', 'http://[::1]:7070'],
] as const)('%s is a base URL', ([text, url]) => {
  expect(checkPlatformUrl(text)).toEqual({ url, warning: null });
});

test.for([
  ['', 'not an http or https URL'],
  ['console.example.com', 'not an http or https URL'],
  ['ftp://console.example.com', 'not an http or https URL'],
  ['https://user:hunter2@console.example.com', 'holds a user name or password'],
  ['https://console.example.com?x=1', 'query or fragment'],
  ['https://console.example.com/#x', 'query or fragment'],
  ['https://console.example.com/openapi/v1', 'the API’s own prefix'],
  ['http://console.example.com', 'plain http'],
  ['http://localhost.example.com', 'plain http'],
  ['http://127.0.0.1.example.com', 'plain http'],
] as const)('%s is refused with what to do', ([text, words]) => {
  let thrown: unknown;
  try {
    checkPlatformUrl(text);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code: 'platform/invalid-url', disposition: 'invalid' });
  expect(String(thrown)).toContain(words);
  expect(String(thrown)).not.toContain('hunter2');
});

test('plain http is allowed on the operator’s word, with a warning', () => {
  expect(checkPlatformUrl('http://console.example.com', true)).toEqual({
    url: 'http://console.example.com',
    warning: 'http://console.example.com is plain http: the token is readable on the way',
  });
  expect(checkPlatformUrl('http://localhost', true).warning).toBeNull();
});

test.for([
  ['https://console.example.com/', 'https://console.example.com'],
  ['https://Console.Example.COM', 'https://console.example.com'],
  ['HTTPS://console.example.com:443', 'https://console.example.com'],
  ['http://console.example.com:80/', 'http://console.example.com'],
  ['https://console.example.com./', 'https://console.example.com'],
  ['https://console.example.com/base//', 'https://console.example.com/base'],
  ['https://console.example.com/a/../base', 'https://console.example.com/base'],
  ['https://console.example.com/%7Euser/%c3%a4', 'https://console.example.com/~user/%C3%A4'],
  ['https://m\u00fcnchen.example.com', 'https://xn--mnchen-3ya.example.com'],
] as const)('%s is the same platform as %s', ([text, same]) => {
  expect(canonicalUrl(text)).toBe(same);
  expect(canonicalUrl(same)).toBe(same);
});

test.for([
  ['http://console.example.com', 'https://console.example.com'],
  ['https://console.example.com:8443', 'https://console.example.com'],
  ['https://console.example.com/base', 'https://console.example.com/Base'],
  ['https://console.example.com/base', 'https://console.example.com'],
  ['http://localhost', 'http://127.0.0.1'],
] as const)('%s is another platform than %s', ([one, other]) => {
  expect(canonicalUrl(one)).not.toBe(canonicalUrl(other));
});
