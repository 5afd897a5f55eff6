import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { projectRoot, runProcess } from '../cli/running.ts';
import { commit, temporaryFolder } from '../source/repositories.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { ENV, placed, until, web } from './place.ts';

/** The step of the schema whose former version runs beside this one. */
const STEP = 'to: 4';

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-C', projectRoot, ...args], { encoding: 'utf8' }).trim();

/** Returns the program of the last commit before the step. */
function olderProgram(): string {
  const folder = join(temporaryFolder(), 'older');
  const first = git('log', '--reverse', '--format=%H', `-S${STEP}`, '--', 'src/ledger/migrations.ts').split('\n')[0];
  git('worktree', 'add', '--quiet', '--detach', folder, `${first}^`);
  onTestFinished(() => void git('worktree', 'remove', '--force', folder));
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, [join(folder, '.config', 'build.ts'), join(folder, 'dist')], { stdio: 'pipe' });
  return join(folder, 'dist', 'main.js');
}

test('a controller of the version before works beside this one, and ends before it would take a lease again', async () => {
  const older = olderProgram();
  const server = await PostgresServer.create();
  onTestFinished(() => server.remove());
  const place = await placed();
  place.ledger = postgresUrl(server.port, 'upgrade');
  const old = await place.daemon(older);
  await until(
    () => place.domains().length === 2 && place.port().alias === 'WEB',
    () => old.outputSoFar().err,
  );
  const schema = async (): Promise<unknown> =>
    (await server.query("SELECT v FROM upgrade.meta WHERE k = 'schema'"))[0]?.['v'];
  expect(await schema()).toBe('3');

  const next = await place.daemon();
  expect(await schema()).toBe('4');
  commit(place.checkout, { 'web.yaml': web('SITE') });
  await until(
    () => place.port().alias === 'SITE',
    () => old.outputSoFar().err,
  );
  expect(next.outputSoFar().err).not.toContain('leads platform');
  old.child.kill('SIGTERM');
  expect((await old.ended).code).toBe(0);

  commit(place.checkout, { 'web.yaml': web('SHOP') });
  await until(
    () => place.port().alias === 'SHOP',
    () => next.outputSoFar().err,
  );
  expect(next.outputSoFar().err).toContain('leads platform:default');
  const run = ['run', '--config', place.config, '-f', place.checkout, '--ledger', place.ledger];
  const ended = await runProcess(run, { env: ENV, program: older });
  expect([ended.code, ended.err]).toEqual([3, expect.stringContaining('ledger/newer')]);
  expect(place.sandbox.requests().filter(({ operation }) => operation === 'createRule')).toHaveLength(2);
  next.child.kill('SIGTERM');
  expect((await next.ended).code).toBe(0);
});
