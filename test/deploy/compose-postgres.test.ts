/** The second compose file: PostgreSQL and two replicas. Its preparation of the database runs here on a real server. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { parseAddress } from '../../src/ledger/postgres/address.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import { temporaryFolder } from '../cli/platform.ts';
import { runProcess } from '../cli/running.ts';
import { PostgresServer } from '../support/postgres.ts';
import { DEPLOY, read } from './chart.ts';
import { ENDS_S, type Part, pinned } from './kubernetes.ts';

const compose = parse(read('compose.postgres.yaml'), { merge: true }) as Part;
const { sandbox, ...services } = compose.services as Readonly<Record<string, Part>>;
const replicas = [services['portolan-1'], services['portolan-2']] as const;

test('compose with PostgreSQL: every service is confined to the network of the sandbox, and pinned', () => {
  expect(Object.keys(services).sort()).toEqual(['grants', 'migrate', 'portolan-1', 'portolan-2', 'postgres', 'proxy']);
  // With its port, which leads to the proxy.
  expect(sandbox).toEqual({ extends: { file: 'compose.yaml', service: 'sandbox' } });
  for (const [name, service] of Object.entries(services)) {
    expect(service, name).toMatchObject({
      network_mode: 'service:sandbox',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(service.user, name).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(service.ports, name).toBeUndefined();
    if (service.image !== 'portolan:local') expect(pinned(name, service.image)).toEqual([]);
    for (const volume of service.volumes ?? []) {
      const [from, , mode] = volume.split(':');
      if (!from.startsWith('.')) expect(Object.keys(compose.volumes)).toContain(from);
      else expect([existsSync(join(DEPLOY, from)), mode], volume).toEqual([true, 'ro']);
    }
    const needs = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
    for (const other of needs) expect(Object.keys(compose.services)).toContain(other);
  }
});

test('compose with PostgreSQL: one command makes a private file with all passwords, and the other commands use it', () => {
  const text = readFileSync(join(DEPLOY, 'compose.postgres.yaml'), 'utf8');
  const [, command = ''] = /^# {3}(\(umask .*)$/m.exec(text) ?? [];
  const cwd = temporaryFolder();
  expect(spawnSync('bash', ['-c', command], { cwd }).status).toBe(0);
  const lines = readFileSync(join(cwd, '.env'), 'utf8').trim().split('\n');
  const required = [...text.matchAll(/\$\{(PORTOLAN_\w+):\?/g)].map(([, name]) => name);
  expect(lines.map((line) => line.replace(/=[0-9a-f]{32}$/, '')).sort()).toEqual(required.sort());
  expect(statSync(join(cwd, '.env')).mode & 0o077).toBe(0);
  const uses = text.match(/docker compose .*compose\.postgres\.yaml/g) ?? [];
  expect(uses.length).toBeGreaterThan(2);
  for (const use of uses) expect(use).toContain(' --env-file .env ');
  expect(readFileSync('.gitignore', 'utf8').split('\n')).toContain('.env');
});

test('compose with PostgreSQL: the proxy leads to both replicas, which share one ledger and nothing else', () => {
  const upstreams = [...read('compose/nginx.conf').matchAll(/^ {2}server (\S+) /gm)].map(([, address]) => address);
  expect(replicas.map(({ command }) => command)).toEqual(upstreams.map((address) => ['run', '--listen', address]));
  expect(read('compose/nginx.conf')).toContain('listen 7780;');
  const [first, second] = replicas.map(({ environment, command, ...rest }) => {
    const { PORTOLAN_HEALTH_URL: health, ...same } = environment as Record<string, string>;
    expect(health).toBe(`http://${command.at(-1)}/healthz`);
    return { ...rest, environment: same };
  });
  expect(first).toEqual(second);
  for (const { environment, volumes, stop_grace_period: grace } of replicas) {
    expect(parseAddress(environment.PORTOLAN_LEDGER)).toMatchObject({ user: 'portolan', tls: 'disable' });
    expect(environment.PORTOLAN_TOKEN).toBe(SANDBOX_TOKEN);
    expect(environment.PORTOLAN_API_TOKEN).toMatch(/^\$\{PORTOLAN_API_TOKEN:\?/);
    expect(environment.PGPASSWORD).toMatch(/^\$\{PORTOLAN_DATABASE_PASSWORD:\?/);
    expect(volumes.every((volume: string) => volume.endsWith(':ro'))).toBe(true);
    expect(Number.parseInt(grace, 10)).toBeGreaterThan(ENDS_S);
  }
});

const hasPsql = spawnSync('psql', ['--version']).error === undefined;
const PASSWORDS = { PORTOLAN_OWNER_PASSWORD: 'of-the-owner-1234', PORTOLAN_DATABASE_PASSWORD: "of-a-controller-'56" };

test.runIf(hasPsql)('compose with PostgreSQL: the database is prepared for the role of a controller', async () => {
  const server = await PostgresServer.create({
    access: ['host all portolan,portolan_owner 127.0.0.1/32 scram-sha-256'],
  });
  onTestFinished(() => server.remove());
  const psql = (user: string, password: string, ...args: readonly string[]) =>
    spawnSync(
      'psql',
      ['--no-psqlrc', '--host=127.0.0.1', `--port=${server.port}`, `--username=${user}`, '--dbname=portolan', ...args],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], PGPASSWORD: password, ...PASSWORDS } },
    );
  // As the image of PostgreSQL runs them, in the order of their names.
  const scripts = services['postgres'].volumes.filter((volume: string) => volume.includes('initdb.d'));
  expect(scripts).toHaveLength(2);
  for (const script of scripts) {
    const [from, to] = script.split(':');
    expect(to).toMatch(/\/docker-entrypoint-initdb\.d\/\d-/);
    const { status, stderr } = psql('administrator', '', '--set=ON_ERROR_STOP=1', `--file=${join(DEPLOY, from)}`);
    expect(status, stderr).toBe(0);
  }
  const here = (text: string): string => text.replace('@127.0.0.1/', `@127.0.0.1:${server.port}/`);
  const passwordOf = (service: Part): string => {
    const [, name = ''] = /^\$\{(\w+)/.exec(service.environment.PGPASSWORD) ?? [];
    return PASSWORDS[name as keyof typeof PASSWORDS];
  };
  const { migrate, grants } = services;
  const migrated = await runProcess(migrate.command.map(here), { env: { PGPASSWORD: passwordOf(migrate) } });
  expect(migrated.code, migrated.err).toBe(0);
  const [, ...given] = grants.command as readonly string[];
  const args = given.filter((arg) => /^--(?:set)=/.test(arg));
  const file = join(DEPLOY, grants.volumes[0].split(':')[0]);
  expect(given).toContain('--username=portolan_owner');
  const granted = psql('portolan_owner', passwordOf(grants), ...args, `--file=${file}`);
  expect(granted.status, granted.stderr).toBe(0);

  const [{ environment }] = replicas;
  const ledger = ['--ledger', here(environment.PORTOLAN_LEDGER)];
  const verified = await runProcess(['ledger', 'verify', ...ledger], { env: { PGPASSWORD: passwordOf(replicas[0]) } });
  expect(verified.code, verified.err).toBe(0);
  const refused = await runProcess(['ledger', 'verify', ...ledger], { env: { PGPASSWORD: 'another' } });
  expect(refused.code).not.toBe(0);
  expect(readFileSync(join(DEPLOY, 'compose.postgres.yaml'), 'utf8')).not.toMatch(/sslmode/);
});
