import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unexplainedVariables } from '../../src/cli/session/unknown-variables.ts';
import { folderOf } from './platform.ts';
import { runHere } from './running.ts';

const PLATFORM = `apiVersion: portolan/v1
kind: Platform
metadata: { name: default }
spec:
  url: http://127.0.0.1:1
  auth: { header: Authorization, value: { env: PORTOLAN_LEDGERS } }
`;
const APPLICATION = `apiVersion: portolan/v1
kind: Application
metadata: { name: shop }
spec: { team: team-a, region: region-1, appId: 42 }
`;

function validate(env: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const folder = folderOf({ 'portolan.yaml': PLATFORM, 'shop.yaml': APPLICATION });
  const files = ['-f', join(folder, 'shop.yaml'), '--config', join(folder, 'portolan.yaml')];
  return runHere(['validate', ...files, ...args], { env });
}

test.for([
  ['PORTOLAN_LEGER', 'PORTOLAN_LEDGER'],
  ['PORTOLAN_LEDGR', 'PORTOLAN_LEDGER'],
  ['PORTOLAN_CONFGI', 'PORTOLAN_CONFIG'],
  ['PORTOLAN_TOKN', 'PORTOLAN_TOKEN'],
  // A flag of another command than the one that runs.
  ['PORTOLAN_PLAN_PRUN', 'PORTOLAN_PLAN_PRUNE'],
] as const)('%s, within two edits of %s, is an error', async ([name, meant]) => {
  const run = await validate({ [name]: 'x' });
  expect(run.code).toBe(3);
  expect(run.err).toContain(`The environment variable ${name} is unknown. Did you mean ${meant}?`);
  expect(run.err).toContain(`Rename it to ${meant}, or unset it.`);
});

test('an unknown variable that is not near a known one is a warning, without its value', async () => {
  const run = await validate({ PORTOLAN_COLOUR_SCHEME: 'hunter2' });
  expect(run.code).toBe(0);
  expect(run.err.match(/warning: the environment variable PORTOLAN_COLOUR_SCHEME has no effect/g)).toHaveLength(1);
  expect(run.err).not.toContain('hunter2');
});

test.for([
  ['that the configuration refers to', { PORTOLAN_LEDGERS: 'x' }, []],
  ['of a shared flag that the command does not have', { PORTOLAN_LEDGER: 'x.db' }, []],
  ['of a flag of another command', { PORTOLAN_SANDBOX_PORT: '7070' }, []],
  [
    'that a setting refers to',
    { PORTOLAN_ACCESS: 'x', PORTOLAN_SET_SERVER_PORT: '7780' },
    ['--set', 'Store/main:accessKey.env=PORTOLAN_ACCESS'],
  ],
  ['of a manifest', { PORTOLAN_VAR_LEGER: 'x' }, []],
  ['of Kubernetes', { PORTOLAN_PORT: 'tcp://10.0.0.1:7780', PORTOLAN_SERVICE_HOST: '10.0.0.1' }, []],
] as const)('a variable %s is neither an error nor a warning', async ([, env, args]) => {
  const run = await validate(env, args);
  expect(run.err).not.toContain('has no effect');
  expect(run.err).not.toContain('is not known');
});

test('what Kubernetes sets beside services of ours is explained, and the like of it is not', () => {
  expect(
    unexplainedVariables({
      PORTOLAN_PORT: 'tcp://10.0.0.1:7780',
      PORTOLAN_PORT_7780_TCP: 'tcp://10.0.0.1:7780',
      PORTOLAN_PORT_7780_TCP_ADDR: '10.0.0.1',
      PORTOLAN_SERVICE_PORT_HTTP: '7780',
      PORTOLAN_WEBHOOKS_SERVICE_HOST: '10.0.0.2',
      PORTOLAN_WEBHOOKS_PORT: 'tcp://10.0.0.2:80',
      PORTOLAN_TOKEN: 'x',
      PORTOLAN_UNSET: undefined,
      PORTOLAN_SANBOX_PORT: '7070',
      OTHER: 'x',
    }),
  ).toEqual(['PORTOLAN_SANBOX_PORT']);
});
