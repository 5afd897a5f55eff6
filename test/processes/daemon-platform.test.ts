import { expect, test } from 'vitest';
import { runProcess } from '../cli/running.ts';
import { commit } from '../source/repositories.ts';
import { sandboxFor } from '../cli/platform.ts';
import { API_TOKEN, ask, placed, readiness, rules, until } from './place.ts';

interface Shown {
  readonly lastError: { readonly code: string; readonly message: string; readonly remedy: string } | null;
}

test('a daemon with the ledger of another platform writes nothing to it until an admin rebinds it', async () => {
  const place = await placed();
  const first = await place.daemon();
  await until(
    async () => (await readiness(first.url).catch(() => '')) === 'True InSync',
    () => first.outputSoFar().err,
  );
  first.child.kill('SIGTERM');
  expect((await first.ended).code).toBe(0);

  const staging = await sandboxFor();
  const writes = (): number => staging.requests().filter(({ isWrite }) => isWrite).length;
  place.configure(staging.url);
  commit(place.checkout, { 'rules.yaml': rules(3) });
  const daemon = await place.daemon();
  const shown = async (): Promise<Shown> => ask<Shown>(daemon.url, '/applications/shop');
  await until(
    async () => (await shown().catch(() => undefined))?.lastError?.code === 'ledger/other-platform',
    () => daemon.outputSoFar().err,
  );
  const { lastError } = await shown();
  expect(lastError?.message).toContain(`Platform/default has the URL ${staging.url}`);
  expect(lastError?.message).toContain(place.sandbox.url);
  expect(lastError?.remedy).toContain('portolan ledger rebind default --reason');
  expect(writes()).toBe(0);
  const { items } = await ask<{ items: readonly { kind: string }[] }>(daemon.url, '/applications/shop/objects');
  expect(items.filter(({ kind }) => kind === 'HttpGatewayRule')).toHaveLength(2);

  const rebind = ['ledger', 'rebind', 'default', '--reason', 'moved, see OPS-17', '--server', daemon.url] as const;
  const rebound = await runProcess(rebind, { env: { PORTOLAN_SERVER_TOKEN: API_TOKEN } });
  expect(rebound.code, rebound.err).toBe(0);
  expect(rebound.out).toContain(`from ${place.sandbox.url} to ${staging.url}`);
  await until(
    async () => (await readiness(daemon.url)) === 'True InSync',
    () => daemon.outputSoFar().err,
  );
  expect(writes()).toBeGreaterThan(0);
  const { items: history } = await ask<{ items: readonly { event: string; detail: unknown }[] }>(
    daemon.url,
    '/history?limit=200',
  );
  expect(history.find(({ event }) => event === 'platform.rebound')?.detail).toMatchObject({
    platform: 'default',
    reason: 'moved, see OPS-17',
    by: 'test',
    url: staging.url,
  });
});
