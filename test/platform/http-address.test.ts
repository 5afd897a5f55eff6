import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressOf, httpBase } from '../../src/platform/http-address.ts';
import { type PlatformRequest, TransportError } from '../../src/platform/transport.ts';

const ORIGIN = 'https://console.example.test:8443';

function asked(path: string, prefix = '', query: PlatformRequest['query'] = {}): string {
  const request = { operation: 'listPorts', method: 'GET', path, query, isRead: true, timeoutMs: 1_000 } as const;
  return addressOf(request, httpBase(`${ORIGIN}${prefix}`));
}

test.for([
  ['/openapi/v1/regions', '', {}, '/openapi/v1/regions'],
  ['/openapi/v1/regions', '/console', {}, '/console/openapi/v1/regions'],
  ['/openapi/v1/regions', '/console/', {}, '/console/openapi/v1/regions'],
  ['/openapi/v1/teams/a%2Fb/regions/%E5%8C%BA', '', {}, '/openapi/v1/teams/a%2Fb/regions/%E5%8C%BA'],
  ['/openapi/v1/a.b/c~d', '/con.sole', {}, '/con.sole/openapi/v1/a.b/c~d'],
  ['/openapi/v1/monitor', '', { start: '1', is_outer: 'a&b c#' }, '/openapi/v1/monitor?start=1&is_outer=a%26b+c%23'],
] as const)('%s under %j with %j is asked as %s', ([path, prefix, query, expected]) => {
  expect(asked(path, prefix, query)).toBe(expected);
});

const LEADING_ELSEWHERE = [
  '//evil.example.com/openapi/v1',
  '//',
  '/\\evil.example.com/x',
  '/openapi/v1/../../admin',
  '/openapi/v1/./x',
  '/openapi/v1/..',
  '/openapi/v1/%2e%2e/x',
  '/openapi/v1/%2E./x',
  '/openapi?x=1',
  '/openapi#x',
  '/openapi?',
  '/openapi#',
  '/open\tapi',
  '/openapi\n',
  '/openapi\r\nx-injected: 1',
  '/open api',
  '/openapi/\u0000',
  '/openapi/区',
  '@evil.example.com/',
  ':80@evil.example.com/x',
  '.evil.example.com/x',
];

test.for(LEADING_ELSEWHERE)('the address %j is not asked', (path) => {
  for (const query of [{}, { a: '1' }]) {
    expect(() => asked(path, '', query)).toThrow(expect.objectContaining({ failure: 'unsent', code: 'ADDRESS' }));
  }
});

test('a prefix that would be taken for a host is not asked either', () => {
  expect(() => asked('/openapi', '//evil.example.com')).toThrow(TransportError);
});

test('whatever the path: it is refused, or a parser leads it to the same origin and leaves it as it is', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '//',
      '..',
      '.',
      '%2e',
      '%2F',
      '%',
      '?',
      '#',
      '\\',
      '@',
      ':',
      '\n',
      '\t',
      ' ',
      '\u0000',
      '区',
      'é',
    ),
    fc.stringMatching(/^[A-Za-z0-9_-]{1,5}$/),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.constantFrom('', '/console', '/con.sole'), (pieces, prefix) => {
      const path = `/${pieces.join('')}`;
      let address: string;
      try {
        address = asked(path, prefix);
      } catch (error) {
        expect(error).toMatchObject({ failure: 'unsent', code: 'ADDRESS' });
        return;
      }
      const url = new URL(address, ORIGIN);
      expect([url.origin, url.pathname, url.search, url.hash]).toEqual([ORIGIN, prefix + path, '', '']);
    }),
    { numRuns: 2_000 },
  );
});
