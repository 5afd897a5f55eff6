import { expect, test } from 'vitest';
import { runHere } from './running.ts';

/** An explicit flag takes precedence over a variable that names another place. Nothing answers at any of these. */

const SERVER = 'http://127.0.0.1:9';
const LEDGER = '/nowhere/portolan.db';
const REASON = ['--reason', 'checked'] as const;

const DECISIONS: readonly (readonly string[])[] = [
  ['ledger', 'resolve', '3f9c21a07b54', '--applied', ...REASON],
  ['ledger', 'retry', 'Component/shop-web'],
  ['ledger', 'forget', 'Component/shop-web', ...REASON],
  ['ledger', 'adopt', 'Component/shop-web', ...REASON],
  ['ledger', 'rebind', 'default', ...REASON],
  ['orphans', 'prune', 'default/team-a/region-1/42', ...REASON, '--yes'],
];
const VIEWS: readonly (readonly string[])[] = [
  ['status'],
  ['tree'],
  ['orphans', 'list'],
  ['history', 'Component/shop-web'],
  ['plan', 'shop'],
];

test.for([...DECISIONS, ...VIEWS])('%j: --server and --ledger take precedence over variables', async (args) => {
  const onServer = await runHere([...args, '--server', SERVER], { env: { PORTOLAN_LEDGER: LEDGER } });
  expect([onServer.code, onServer.err], onServer.err).toEqual([5, expect.stringContaining('cli/server-unreachable')]);
  const onLedger = await runHere([...args, '--ledger', LEDGER], { env: { PORTOLAN_SERVER: SERVER } });
  expect(onLedger.code, onLedger.err).not.toBe(0);
  expect(onLedger.out + onLedger.err).not.toContain('cli/server-unreachable');
  const both = await runHere([...args, '--ledger', LEDGER, '--server', SERVER]);
  expect([both.code, both.err], both.err).toEqual([3, expect.stringContaining('cli/flag-of-the-server')]);
  const variables = await runHere([...args], { env: { PORTOLAN_LEDGER: LEDGER, PORTOLAN_SERVER: SERVER } });
  expect([variables.code, variables.err], variables.err).toEqual([
    5,
    expect.stringContaining('cli/server-unreachable'),
  ]);
});

test.for([['status'], ['tree'], ['orphans', 'list']])(
  '%j: files on the command line take precedence over the variable of a server',
  async (args) => {
    const run = await runHere([...args, '-f', '/nowhere'], { env: { PORTOLAN_SERVER: SERVER } });
    expect(run.code, run.err).toBe(3);
    expect(run.out + run.err).not.toContain('cli/server-unreachable');
  },
);

test('replicas reads an explicit ledger although the environment names a server', async () => {
  const ledger = 'postgres://portolan@127.0.0.1:9/portolan';
  const explicit = await runHere(['replicas', '--ledger', ledger], { env: { PORTOLAN_SERVER: SERVER } });
  expect(explicit.err).toContain('ledger/unreachable');
  expect(explicit.err).not.toContain('This is read from the ledger.');
  const fallback = await runHere(['replicas', '--server', SERVER], { env: { PORTOLAN_LEDGER: ledger } });
  expect(fallback.err).toContain('This is read from the ledger.');
});
