import { expect, test } from 'vitest';
import { configurationFor, folderOf, sandboxFor } from './platform.ts';
import { runHere, runProcess } from './running.ts';

const OPENSSL = /SSL routines|openssl|0A0001/;

test('https:// against a server of plain http is said in words, and what to write instead', async () => {
  const { url } = await sandboxFor();
  const cwd = folderOf({ 'portolan.yaml': configurationFor(url.replace('http:', 'https:')) });
  const run = await runProcess(['regions'], { cwd, env: { PORTOLAN_TOKEN: 'sandbox-token' } });
  expect(run).toMatchObject({ code: 5 });
  expect(run.err).toContain('the server does not speak TLS there; it probably speaks plain http');
  expect(run.err).toContain('write http:// in spec.url');
  expect(run.err).not.toMatch(OPENSSL);
});

test('so it is for --server', async () => {
  const { url } = await sandboxFor();
  const env = { PORTOLAN_SERVER_TOKEN: 'a-token-of-the-test' };
  const run = await runHere(['status', '--server', url.replace('http:', 'https:')], { env });
  expect(run.code).not.toBe(0);
  expect(run.err).toContain('the server does not speak TLS there');
  expect(run.err).toContain('Write http:// in --server');
  expect(run.err).not.toMatch(OPENSSL);
});
