import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { sharedUrl } from '../support/postgres-shared.ts';
import { configurationFor, folderOf } from './platform.ts';
import { startDaemonHere } from './daemon-here.ts';
import { shop, web } from './scene.ts';

const NO_BOOT = /the removal budget is not renewed/;

async function logOf(clock: Clock, ledger?: string): Promise<string> {
  const folder = folderOf({
    'portolan.yaml': configurationFor('http://127.0.0.1:1'),
    'shop.yaml': shop(web('ports: []')),
  });
  const file = (name: string): string => join(folder, name);
  const given = ['-f', file('shop.yaml'), '--config', file('portolan.yaml'), '--ledger', ledger ?? file('portolan.db')];
  const daemon = await startDaemonHere([...given, '--listen', '127.0.0.1:0'], { PORTOLAN_TOKEN: 'a-token' }, clock);
  expect(await daemon.stop(), daemon.log()).toBe(0);
  return daemon.log();
}

test('a controller warns where the system has no id for its start, and nowhere else', async () => {
  const { now, monotonic, sleep } = systemClock;
  const clock = { now, monotonic, sleep, sinceBoot: () => ({ boot: '', uptimeMs: 1_000 }) };
  expect(await logOf(clock)).toMatch(NO_BOOT);
  expect(await logOf({ ...clock, sinceBoot: () => ({ boot: 'an-id', uptimeMs: 1_000 }) })).not.toMatch(NO_BOOT);
});

test('a replica warns if the role of its connections may change the history', async () => {
  const log = await logOf(systemClock, await sharedUrl());
  expect(log).toContain('the role administrator may change and remove the history of the ledger');
  expect(log).toContain('grants.sql');
});
