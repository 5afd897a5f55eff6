import { expect, onTestFinished, test } from 'vitest';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { startWaitingServer } from '../../src/server/waiting.ts';

test('a controller that waits answers with the present reason, and promises nothing of a retry that cannot help', async () => {
  const settings = { ...defaultSettings().server, listen: '127.0.0.1:0' };
  const server = await startWaitingServer(settings, 'ledger/unreachable');
  onTestFinished(() => server.close());
  const ask = async (path: string) => {
    const response = await fetch(`${server.url}${path}`);
    const body = (await response.json()) as { readonly code?: string; readonly remedy?: string };
    return { ...body, status: response.status, retryAfter: response.headers.get('retry-after') };
  };
  for (const code of ['ledger/unreachable', 'ledger/refused']) {
    server.waitFor(code);
    const answer = await ask('/api/v1/status');
    expect(answer).toMatchObject({ status: 503, code, retryAfter: '5' });
    expect(answer.remedy).toMatch(/^Retry in a few seconds/);
  }
  server.waitFor('controller/other-source');
  const answer = await ask('/api/v1/applications?limit=1');
  expect(answer).toMatchObject({ status: 503, code: 'controller/other-source', retryAfter: null });
  expect(answer.remedy).toMatch(/^Ask the operator of this controller/);
  expect(await ask('/readyz')).toMatchObject({ status: 503, retryAfter: '5' });
  expect(await ask('/healthz')).toMatchObject({ status: 200, retryAfter: null });
});
