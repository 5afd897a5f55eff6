import { expect, test } from 'vitest';
import { routes } from '../../src/server/routes/table.ts';
import { serve, TOKENS } from './serving.ts';

/** Headers that every answer has, whatever it is. */
const ALWAYS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

test('every route answers with the policy headers, for its callers, for strangers and for other sites', async () => {
  const { url } = await serve({ settings: { maxStreams: 100 } });
  const callers: readonly Record<string, string>[] = [
    {},
    { authorization: `Bearer ${TOKENS.admin}` },
    { origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site', cookie: 'a=b' },
    { 'content-type': 'text/plain' },
  ];
  const paths = routes.map(({ method, path }) => [method, path.replaceAll(/\{\w+\}/g, 'shop')] as const);
  const others = [
    ['GET', '/nothing'],
    ['OPTIONS', '/api/v1/status'],
    ['GET', '/%ff'],
    ['PUT', '/'],
  ] as const;
  for (const [method, path] of [...paths, ...others])
    for (const headers of callers) {
      const stop = new AbortController();
      const body = method === 'POST' ? { body: '{' } : {};
      const answer = await fetch(url + path, { method, headers, signal: stop.signal, redirect: 'manual', ...body });
      stop.abort(); // A stream would go on.
      const what = `${method} ${path} ${answer.status}`;
      for (const [name, value] of Object.entries(ALWAYS))
        expect(answer.headers.get(name), `${what} ${name}`).toBe(value);
      expect(answer.headers.get('content-security-policy'), what).toContain("frame-ancestors 'none'");
      expect(answer.headers.get('cache-control')?.split(', '), what).toContain('no-store');
      expect(answer.headers.get('access-control-allow-origin'), what).toBeNull();
      expect(answer.headers.get('access-control-allow-credentials'), what).toBeNull();
    }
});
