/** The commands and the numbers of docs/how-to/several-controllers.md, with a real PostgreSQL, real processes and a git checkout. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ReplicaGroup } from '../../src/model/replicas.ts';
import { type Run, runProcess } from '../cli/running.ts';
import { API_TOKEN, ask, ENV, placed, until } from '../processes/place.ts';
import { PostgresServer } from '../support/postgres.ts';
import { root, textOf } from './markdown.ts';

const PAGE = 'docs/how-to/several-controllers.md';
const page = textOf(PAGE);

/** Lines of all shell blocks, also of those in lists. */
const commands = [...page.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].flatMap(([, block = '']) =>
  block
    .trim()
    .split('\n')
    .map((line) => line.trim()),
);

/** Returns the only command of the page that begins so. */
function command(beginning: string): string {
  const found = [...new Set(commands)].filter((line) => line.startsWith(beginning));
  expect(found, beginning).toHaveLength(1);
  return found[0] ?? '';
}

test('every test and file that the page names exists, and every metric', () => {
  const files = [...page.matchAll(/`((?:test|examples)\/[\w./-]+)`/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(15);
  for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
  const known = textOf('docs/reference/metrics.md');
  const metrics = [...page.matchAll(/`(portolan_\w+)/g)].map(([, name = '']) => name);
  expect(metrics.length).toBeGreaterThan(5);
  for (const metric of metrics) expect(known).toContain(metric);
});

const hasPsql = spawnSync('psql', ['--version']).error === undefined;

test('from one controller to two and back, with the commands of the page', async (context) => {
  if (!hasPsql) return context.skip('psql is missing: the Debian package postgresql-client has it');
  const server = await PostgresServer.create();
  onTestFinished(() => server.remove());
  const place = await placed();
  const cwd = dirname(place.ledger);
  const here = (line: string): string =>
    line
      .replaceAll('db.example.com/', `127.0.0.1:${server.port}/`)
      .replaceAll('--host db.example.com', `--host 127.0.0.1 --port ${server.port}`)
      .replaceAll('--username postgres', '--username administrator')
      .replaceAll('examples/', `${root}/examples/`);
  const words = (line: string): string[] =>
    [...here(line).matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const portolan = async (line: string): Promise<Run> => {
    const [program, ...args] = words(line);
    expect(program).toBe('portolan');
    return runProcess(args, { env: ENV, cwd });
  };
  const succeeds = async (line: string): Promise<Run> => {
    const run = await portolan(line);
    expect(run.code, `${line}: ${run.err}`).toBe(0);
    return run;
  };
  const psql = (line: string): void => {
    const [program = '', ...args] = words(line);
    const { status, stderr } = spawnSync(program, ['--set=ON_ERROR_STOP=1', ...args], { encoding: 'utf8' });
    expect(status, `${line}: ${stderr}`).toBe(0);
  };

  // One controller with a file.
  const alone = await place.daemon();
  await until(
    () => place.domains().length === 2 && place.port().alias === 'WEB',
    () => alone.outputSoFar().err,
  );
  alone.child.kill('SIGTERM');
  expect((await alone.ended).code).toBe(0);
  if (place.ledger !== join(cwd, 'portolan.db')) copyFileSync(place.ledger, join(cwd, 'portolan.db'));

  psql(command('psql --host db.example.com --username postgres'));
  await succeeds(command('portolan ledger migrate'));
  psql(command('psql --host db.example.com --username portolan_owner'));
  await succeeds(command('portolan ledger copy portolan.db'));
  await succeeds(command("portolan ledger verify --ledger 'postgres:"));

  // Two replicas, by the URL of the page.
  const [, , , url = ''] = words(command('portolan run'));
  place.ledger = url;
  const replicas = [await place.daemon(), await place.daemon()];
  const said = (): string => replicas.map(({ outputSoFar }) => outputSoFar().err).join('\n');
  const group = async (): Promise<ReplicaGroup> => ask<ReplicaGroup>(replicas[0]?.url ?? '', '/replicas');
  await until(async () => {
    const { replicas: live, units } = await group();
    return live.length === 2 && units.length > 1 && units.every(({ leader }) => leader !== null);
  }, said);
  // The second replica may take over a unit at this moment.
  await until(async () => {
    const listed = await succeeds(command('portolan replicas --ledger'));
    return listed.out.includes('Every platform and source has a leader.');
  }, said);
  const [{ count = 0 } = {}] = await server.query(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'portolan'",
  );
  expect(Number(count) / 2).toBeLessThanOrEqual(8);
  const scrape = await fetch(`${replicas[1]?.url}/metrics`, { headers: { authorization: `Bearer ${API_TOKEN}` } });
  const metrics = await scrape.text();
  for (const name of ['portolan_shared_state_age_seconds', 'portolan_database_silence_seconds'])
    expect(metrics).toMatch(new RegExp(`^${name} [0-9.]+$`, 'm'));
  expect(metrics).toMatch(/^portolan_lease_held\{unit="platform:default"\} [01]$/m);
  await succeeds(command('portolan ledger backup'));
  const early = await portolan(command("portolan ledger copy 'postgres:"));
  expect([early.code, early.err], early.err).toEqual([6, expect.stringContaining('portolan run')]);

  for (const { child } of replicas) child.kill('SIGTERM');
  for (const { ended } of replicas) expect((await ended).code, said()).toBe(0);
  const silent = await succeeds(command('portolan replicas --ledger'));
  expect(silent.out).toContain('have no leader');
  await succeeds(command("portolan ledger copy 'postgres:"));
  await succeeds(command('portolan ledger verify --ledger back.db'));
  place.ledger = join(cwd, 'back.db');
  const back = await place.daemon();
  await until(async () => (await ask<{ phase: string }>(back.url, '/status')).phase === 'running');
  back.child.kill('SIGTERM');
  expect((await back.ended).code).toBe(0);
  // Nothing was done twice on the way.
  expect(place.sandbox.requests().filter(({ operation }) => operation === 'createRule')).toHaveLength(2);
  expect(readFileSync(place.config, 'utf8')).not.toContain('postgres');
});
