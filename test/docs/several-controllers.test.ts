/** The commands and the numbers of docs/how-to/several-controllers.md, with a real PostgreSQL, real processes and a git checkout. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { migrations, newestSchema } from '../../src/ledger/migrations.ts';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import type { ReplicaGroup } from '../../src/model/replicas.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { type Run, runProcess } from '../cli/running.ts';
import { builtProgram } from '../support/program.ts';
import { install } from '../cli/scene.ts';
import { real } from '../ledger/fixtures.ts';
import { API_TOKEN, APPLICATION, ask, ENV, type Place, placed, until } from '../processes/place.ts';
import { PostgresServer } from '../support/postgres.ts';
import { trusting } from '../support/postgres-shared.ts';
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

test('every test and file that the page names exists, every metric and every alert', () => {
  const files = [...page.matchAll(/`((?:test|examples)\/[\w./-]+)`/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(15);
  for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
  const known = textOf('docs/reference/metrics.md');
  const metrics = [...page.matchAll(/`(portolan_\w+)/g)].map(([, name = '']) => name);
  expect(metrics.length).toBeGreaterThan(5);
  for (const metric of metrics) expect(known).toContain(metric);
  const rules = textOf('examples/deploy/monitoring/prometheus-rules.yaml');
  const alerts = [...page.matchAll(/`(Portolan[A-Z]\w+)`/g)].map(([, name = '']) => name);
  expect(alerts.length).toBeGreaterThan(5);
  for (const alert of alerts) expect(rules).toContain(`alert: ${alert}\n`);
});

const hasPsql = spawnSync('psql', ['--version']).error === undefined;
const NO_PSQL = 'psql is missing: the Debian package postgresql-client has it';
const hasJq = spawnSync('jq', ['--version']).error === undefined;
/** The time in the names of files, where the page has the time of the command. */
const NOW = '20261120-030000';

/** Runs a line in bash, without a terminal that it could ask on. @param answers what a person types. */
function shell(line: string, { cwd, answers = '' }: { readonly cwd: string; readonly answers?: string }): string {
  // In a session of its own, which has no terminal even if this process has one.
  const settings = { cwd, input: answers, detached: true, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line], settings);
  expect(status, `${line}: ${stderr}`).toBe(0);
  return stdout;
}

/** A server and a checkout, and the commands of the page on them. */
async function scene() {
  const server = await PostgresServer.create();
  onTestFinished(() => server.remove());
  const place = await placed();
  const cwd = dirname(place.ledger);
  const here = (line: string): string =>
    line
      .replaceAll('db.example.com/', `127.0.0.1:${server.port}/`)
      .replaceAll('--host db.example.com', `--host 127.0.0.1 --port ${server.port}`)
      .replaceAll('--username postgres', '--username administrator')
      .replaceAll('examples/', `${root}/examples/`)
      .replaceAll('$(date +%Y%m%d-%H%M%S)', NOW);
  const words = (line: string): string[] =>
    shell(`now=${NOW}; printf '%s\\0' ${here(line)}`, { cwd })
      .split('\0')
      .slice(0, -1);
  /** @param more arguments that a terminal does not need. */
  const portolan = async (line: string, ...more: readonly string[]): Promise<Run> => {
    const [program, ...args] = words(line);
    expect(program).toBe('portolan');
    return runProcess([...args, ...more], { env: ENV, cwd });
  };
  const succeeds = async (line: string, ...more: readonly string[]): Promise<Run> => {
    const run = await portolan(line, ...more);
    expect(run.code, `${line}: ${run.err}`).toBe(0);
    return run;
  };
  const psql = (line: string, answers = ''): void => void shell(here(line), { cwd, answers });
  const [, , , url = ''] = words(command('portolan run'));
  const grants = (): void => psql(command('psql --host db.example.com --username portolan_owner'));
  const prepare = async (): Promise<void> => {
    await server.query('DROP DATABASE portolan', 'postgres');
    const administrator = 'psql --host db.example.com --username postgres --dbname portolan';
    psql(command('createdb --host db.example.com --username postgres --encoding UTF8 --template template0 portolan'));
    psql(command(`${administrator} --set`));
    for (const role of ['portolan_owner', 'portolan'])
      psql(command(`${administrator} --command '\\password ${role}'`), 'a-password\na-password\n');
    await succeeds(command('portolan ledger migrate'));
    grants();
  };
  const putAside = (): void =>
    psql(command('psql --host db.example.com --username postgres --dbname portolan --command "'));
  return { server, place, cwd, here, words, portolan, succeeds, url, grants, prepare, putAside };
}

/** Starts one controller, and ends it when it has applied everything. */
async function runUntilApplied(place: Place): Promise<void> {
  const daemon = await place.daemon();
  await until(
    () => place.domains().length === 2 && place.port().alias === 'WEB',
    () => daemon.outputSoFar().err,
  );
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
}

/** Starts one controller with a ledger in PostgreSQL, ends it when it has applied everything, and returns a plan of an install. */
async function applied({ place, cwd, url }: Awaited<ReturnType<typeof scene>>): Promise<() => Promise<Run>> {
  place.ledger = url;
  await runUntilApplied(place);
  const store = `---
apiVersion: portolan/v1
kind: Store
metadata: { name: main }
spec: { url: "${demo.storeUrl}", domain: ${demo.storeDomain}, type: ${demo.storeType}, accessKey: { env: STORE_ACCESS_KEY } }
`;
  writeFileSync(join(cwd, 'install.yaml'), `${APPLICATION}---\n${install('db')}`);
  writeFileSync(join(cwd, 'with-store.yaml'), `${readFileSync(place.config, 'utf8')}${store}`);
  const args = ['plan', '--config', 'with-store.yaml', '-f', 'install.yaml', '--ledger', url];
  return async () => runProcess(args, { env: { ...ENV, STORE_ACCESS_KEY: 'demo-store-key' }, cwd });
}

test('from one controller to two and back, with the commands of the page', async (context) => {
  if (!hasPsql) return context.skip(NO_PSQL);
  const { server, place, cwd, here, words, portolan, succeeds, prepare, grants, putAside, url } = await scene();

  // One controller with a file.
  await runUntilApplied(place);
  if (place.ledger !== join(cwd, 'portolan.db')) copyFileSync(place.ledger, join(cwd, 'portolan.db'));

  await prepare();
  const passwords = await server.query(
    "SELECT rolname FROM pg_authid WHERE rolname ~ 'portolan' AND rolpassword ~ 'SCRAM'",
  );
  expect(passwords).toHaveLength(2);
  // A fault in the middle of a file is an error: the roles exist already.
  const roles = here(command('psql --host db.example.com --username postgres --dbname portolan --set'));
  expect(spawnSync('bash', ['-c', roles]).status).not.toBe(0);
  shell(
    here(command('createdb --host db.example.com --username postgres --encoding UTF8 --template template0 --owner')),
    {
      cwd,
    },
  );
  await succeeds(command('portolan ledger backup rehearsal.db'));
  await succeeds(command('portolan ledger copy rehearsal.db'));
  await succeeds(commands.find((line) => /ledger verify .*portolan_test/.test(line)) ?? '');
  await succeeds(command('portolan ledger copy portolan.db'));
  await succeeds(command("portolan ledger verify --ledger 'postgres://portolan@"));

  // Two replicas, by the URL of the page.
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
  const [, perProcess] = /At most (\d+) for each process/.exec(page) ?? [];
  expect(Number(count)).toBeLessThanOrEqual(2 * Number(perProcess));
  let metrics = '';
  // The second replica may not have read yet what the first one stored.
  await until(async () => {
    const scrape = await fetch(`${replicas[1]?.url}/metrics`, { headers: { authorization: `Bearer ${API_TOKEN}` } });
    metrics = await scrape.text();
    return /^portolan_shared_state_age_seconds /m.test(metrics);
  }, said);
  for (const name of ['portolan_shared_state_age_seconds', 'portolan_database_silence_seconds'])
    expect(metrics).toMatch(new RegExp(`^${name} [0-9.]+$`, 'm'));
  expect(metrics).toMatch(/^portolan_lease_held\{unit="platform:default"\} [01]$/m);
  // The owner may migrate and grant while they lead.
  await succeeds(command('portolan ledger migrate'));
  grants();
  await succeeds(command('portolan ledger backup "ledger-'));
  for (const [line, ...more] of [
    [command("portolan ledger copy 'postgres:")],
    [command(`portolan ledger restore ledger-${NOW}.db`), '--yes'],
    [command('portolan ledger confirm')],
    [command('portolan ledger compact')],
  ] as const) {
    const early = await portolan(line, ...more);
    expect([early.code, early.err], early.err).toEqual([6, expect.stringContaining('portolan run')]);
  }

  for (const { child } of replicas) child.kill('SIGTERM');
  for (const { ended } of replicas) expect((await ended).code, said()).toBe(0);
  const silent = await succeeds(command('portolan replicas --ledger'));
  expect(silent.out).toContain('have no leader');
  await succeeds(command('portolan ledger compact'));
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
  expect(words(command('portolan run'))[3]).toBe(url);

  // A second move, and back onto the path of the first file, as in Kubernetes.
  const copyBack = command('portolan ledger copy portolan.db').replace('portolan.db', 'back.db');
  const occupied = await portolan(copyBack);
  expect([occupied.code, occupied.err]).toEqual([3, expect.stringContaining('[ledger/not-empty]')]);
  putAside();
  await succeeds(command('portolan ledger migrate'));
  grants();
  await succeeds(copyBack);
  const owner = url.replace('portolan@', 'portolan_owner@');
  const inPod = (line: string): string =>
    `export PORTOLAN_LEDGER='${owner}'; ${line.replace('node /app/dist/portolan.js', `'${process.execPath}' '${builtProgram()}'`)}`;
  const [move = '', copy = ''] = [...textOf('examples/deploy/README.md').matchAll(/sh -c '(.*portolan\.db.*)'$/gm)]
    .map(([, line = '']) => line)
    .slice(-2);
  expect([move, copy]).toEqual([expect.stringMatching(/mv portolan\.db\* /), expect.stringMatching(/ portolan\.db$/)]);
  expect(spawnSync('bash', ['-c', inPod(copy)], { cwd }).status).toBe(3);
  shell(inPod(move), { cwd });
  shell(inPod(copy), { cwd });
  place.ledger = join(cwd, 'portolan.db');
  const moved = await place.daemon();
  await until(async () => (await ask<{ phase: string }>(moved.url, '/status')).phase === 'running');
  moved.child.kill('SIGTERM');
  const { code, err } = await moved.ended;
  expect([code, err], err).toEqual([0, expect.not.stringContaining('older')]);
  putAside();
});

test('a database that its own tools restored holds installs only after a backup of it was restored', async (context) => {
  if (!hasPsql) return context.skip(NO_PSQL);
  const all = await scene();
  const { server, cwd, words, succeeds, prepare } = all;
  await prepare();
  const plan = await applied(all);
  await server.query('CREATE DATABASE earlier TEMPLATE portolan', 'postgres');
  await server.query('DROP DATABASE portolan', 'postgres');
  await server.query('ALTER DATABASE earlier RENAME TO portolan', 'postgres');
  const unaware = await plan();
  expect([unaware.code, unaware.out], unaware.err).toEqual([0, expect.stringContaining('+ install 0a1b2c')]);

  await succeeds(command('portolan ledger backup "restored-'));
  await succeeds(command('portolan ledger restore "restored-'), '--yes');
  const held = await plan();
  expect([held.code, held.out], held.err).toEqual([4, expect.stringContaining('portolan ledger confirm')]);
  const [list = '', filter = ''] = command('portolan ledger list').split(' | jq -r ');
  const { out } = await succeeds(list);
  if (hasJq) {
    writeFileSync(join(cwd, 'list.json'), out);
    const [scope] = words(command('portolan ledger confirm')).slice(3);
    expect(shell(`jq -r ${filter} list.json`, { cwd })).toBe(`${scope}\n`);
  }
  await succeeds(command('portolan ledger confirm'));
  expect((await plan()).code).toBe(0);
});

test('the former version goes back over a step of the schema with the backup from before it', async (context) => {
  if (!hasPsql) return context.skip(NO_PSQL);
  const all = await scene();
  const { server, place, cwd, portolan, succeeds, prepare, putAside, grants, url } = all;
  await prepare();
  const plan = await applied(all);
  await succeeds(command('portolan ledger backup "ledger-'));
  const owner = trusting(url.replace('portolan@', 'portolan_owner@'));
  const step = {
    to: newestSchema(migrations) + 1,
    sql: 'ALTER TABLE fact ADD COLUMN note TEXT',
    expands: true,
  } as const;
  await (await openPostgresLedger(owner, { ...real, migrations: [...migrations, step] })).close();

  const restore = command(`portolan ledger restore ledger-${NOW}.db`);
  const run = ['--config', place.config, '-f', place.checkout];
  for (const refused of [await portolan(command('portolan run'), ...run), await portolan(restore, '--yes')])
    expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('[ledger/newer]')]);
  putAside();
  await succeeds(restore, '--yes');
  grants();
  expect((await plan()).code).toBe(4);
  await succeeds(command('portolan ledger confirm'));
  expect((await plan()).code).toBe(0);
  const daemon = await place.daemon();
  await until(async () => (await ask<{ phase: string }>(daemon.url, '/status')).phase === 'running');
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  const [{ name } = {}] = await server.query("SELECT nspname AS name FROM pg_namespace WHERE nspname ~ '^portolan_2'");
  const [{ schema } = {}] = await server.query(`SELECT v AS schema FROM ${String(name)}.meta WHERE k = 'schema'`);
  expect(schema).toBe(String(step.to));

  // A backup of another schema is refused before anything is replaced.
  for (const [schemaOfFile, code] of [
    [9, 'ledger/newer'],
    [2, 'ledger/older'],
  ] as const) {
    const file = new DatabaseSync(join(cwd, `ledger-${NOW}.db`));
    file.exec(`UPDATE meta SET v = '${schemaOfFile}' WHERE k = 'schema'`);
    file.close();
    expect((await portolan(restore, '--yes')).err).toContain(`[${code}]`);
  }
  expect((await plan()).code).toBe(0);
});
