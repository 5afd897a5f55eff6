import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { real } from '../ledger/fixtures.ts';
import { repository } from '../source/repositories.ts';
import { applications, openRealThread } from '../source/threads.ts';
import { sharedUrl, trusting } from '../support/postgres-shared.ts';
import { type DaemonHere, startDaemonHere } from './daemon-here.ts';
import { configurationFor, folderOf, temporaryFolder } from './platform.ts';

/** Replicas that share a ledger, and a commit that none of them reads within the limit. */

const TIMEOUT_MS = 77_000;
/** The deadline of a read passes at once. */
const hastyClock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === TIMEOUT_MS ? 0 : ms, signal),
};
/** A feed repeats a failed read after one second, and then after two. */
const THREE_READS_MS = 4_000;
const SETTINGS = `---
apiVersion: portolan/v1
kind: Settings
metadata: { name: settings }
spec: { source: { limits: { timeout: ${TIMEOUT_MS / 1_000}s } } }
`;

interface ReplicaHere {
  readonly daemon: DaemonHere;
  /** Number of attempts to read the commit: each one ends its thread. */
  reads(): number;
}

async function replica(root: string, ledger: string): Promise<ReplicaHere> {
  const folder = folderOf({ 'portolan.yaml': `${configurationFor('http://127.0.0.1:1')}${SETTINGS}` });
  const given = ['-f', root, '--config', join(folder, 'portolan.yaml'), '--ledger', ledger, '--listen', '127.0.0.1:0'];
  let threads = 0;
  const daemon = await startDaemonHere(given, { PORTOLAN_TOKEN: 'a-token' }, hastyClock, (limits) => {
    threads += 1;
    return openRealThread(limits);
  });
  return { daemon, reads: () => threads };
}

function cloneOf(root: string): string {
  const folder = join(temporaryFolder(), 'clone');
  execFileSync('git', ['clone', '--quiet', root, folder]);
  return folder;
}

test('a replica remembers an unreadable commit, records it once it leads, and no other replica reads it', async () => {
  const root = repository(applications(3));
  const url = await sharedUrl();
  const other = await openSharedLedger(trusting(url), { ...real, actor: 'another replica', replica: 'other' });
  onTestFinished(() => other.close());
  const lead = await other.lead('source:default');
  const recorded = async () => (await other.reader.fact('unreadable default')) ?? 'nothing';

  const first = await replica(root, url);
  await expect.poll(first.reads).toBe(1);
  await sleep(THREE_READS_MS);
  expect(first.reads(), 'while another replica leads the source').toBe(1);
  expect(await recorded()).toBe('nothing');

  await lead?.ledger.close();
  await expect.poll(recorded).toContain('"code":"source/too-slow"');
  expect(first.reads(), 'once more when it leads').toBe(2);

  const second = await replica(cloneOf(root), url);
  expect(await first.daemon.stop()).toBe(0);
  await expect.poll(second.daemon.log).toContain('leads source:default');
  await sleep(THREE_READS_MS);
  expect([first.reads(), second.reads()]).toEqual([2, 0]);
  const ready = await fetch(`${second.daemon.url}/readyz`);
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('source/too-slow')]);
});
