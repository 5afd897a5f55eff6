import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { runProcess } from '../cli/running.ts';
import { commit } from '../source/repositories.ts';
import { sourceProgram } from '../support/program.ts';
import { API_TOKEN, ENV, web, rules, placed, until, ask, readiness } from './place.ts';

test('a commit is applied, drift made by hand is put right, and what is reported is left', async () => {
  const place = await placed();
  const daemon = await place.daemon();
  await until(
    () => place.domains().length === 2 && place.port().alias === 'WEB',
    () => daemon.outputSoFar().err,
  );
  commit(place.checkout, { 'web.yaml': web('SITE') });
  await until(() => place.port().alias === 'SITE');
  await until(async () => (await readiness(daemon.url)) === 'True InSync');

  place.alterPort('BY_HAND');
  await until(() => place.port().alias === 'SITE');
  const ledger = await openSqliteLedger(place.ledger, {
    clock: systemClock,
    random: systemRandom,
    actor: 'test',
    readOnly: true,
  });
  await until(async () => (await ledger.history({ limit: 50 })).some(({ event }) => event === 'drift-healed'));
  const found = (await ledger.history({ limit: 50 })).find(({ event }) => event === 'drift');
  await ledger.close();
  expect(found?.detail).toMatchObject({
    resource: 'Component/shop-web',
    changes: [{ field: 'ports[8080].alias', before: 'BY_HAND', after: 'SITE', cause: 'drift' }],
  });

  commit(place.checkout, { 'web.yaml': web('SITE', 'portolan/reconcile: report') });
  await until(async () => (await readiness(daemon.url)) === 'True InSync');
  await sleep(1_500);
  place.alterPort('BY_HAND');
  await until(async () => (await readiness(daemon.url)) === 'False Drifted');
  expect(place.port().alias).toBe('BY_HAND');

  commit(place.checkout, { 'web.yaml': web('SITE'), 'rules.yaml': rules(1) });
  await until(() => place.domains().length === 1 && place.port().alias === 'SITE');
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
});

test('TERM in the middle of an apply: what is in flight is recorded, nothing is begun, and the next daemon goes on', async () => {
  const place = await placed();
  place.sandbox.setFaults([{ operation: 'createRule', fault: { type: 'delay', ms: 1_500 } }]);
  commit(place.checkout, { 'rules.yaml': rules(6) });
  const daemon = await place.daemon();
  await until(
    () => place.sandbox.requests().some(({ operation }) => operation === 'createRule'),
    () => daemon.outputSoFar().err,
  );
  daemon.child.kill('SIGTERM');
  const { code, err } = await daemon.ended;
  expect(code, err).toBe(0);
  // The sandbox notes a request when it has answered: one more than was seen may have been in flight, and no other.
  expect(place.sandbox.requests().filter(({ operation }) => operation === 'createRule')).toHaveLength(2);
  expect(place.domains()).toHaveLength(2);
  const ledger = await openSqliteLedger(place.ledger, {
    clock: systemClock,
    random: systemRandom,
    actor: 'test',
    readOnly: true,
  });
  expect(await ledger.intents({ states: ['open', 'unknown'] })).toEqual([]);
  await ledger.close();

  place.sandbox.setFaults([]);
  const next = await place.daemon();
  await until(
    () => place.domains().length === 6,
    () => next.outputSoFar().err,
  );
  expect(place.sandbox.requests().filter(({ operation }) => operation === 'createRule')).toHaveLength(6);
});

test('from its source, as `npm run portolan` starts it, the daemon and a command do what the built ones do', async () => {
  const place = await placed();
  const daemon = await place.daemon(sourceProgram);
  await until(
    async () => (await readiness(daemon.url)) === 'True InSync',
    () => daemon.outputSoFar().err,
  );
  expect(place.domains()).toHaveLength(2);
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  const args = ['plan', '--config', place.config, '-f', place.checkout, '--ledger', place.ledger] as const;
  const fromSource = await runProcess(args, { env: ENV, program: sourceProgram });
  expect(fromSource).toMatchObject({ code: 0, out: expect.stringContaining('No changes') });
  expect((await runProcess(args, { env: ENV })).out).toBe(fromSource.out);
});

test('killed with -9, the next one settles what was in flight and goes on', async () => {
  const place = await placed();
  place.sandbox.setFaults([{ operation: 'createRule', fault: { type: 'delay', ms: 1_000 } }]);
  const daemon = await place.daemon();
  await until(() => place.sandbox.requests().some(({ operation }) => operation === 'createRule'));
  daemon.child.kill('SIGKILL');
  await daemon.ended;
  place.sandbox.setFaults([]);
  const next = await place.daemon();
  await until(
    () => place.domains().length === 2,
    () => next.outputSoFar().err,
  );
  await until(async () => (await readiness(next.url)) === 'True InSync');
  expect(place.domains()).toEqual(['r0.example.com', 'r1.example.com']);
});

test('started over a source that is broken, it goes on with what was accepted before', async () => {
  const place = await placed();
  const daemon = await place.daemon();
  await until(
    async () => (await readiness(daemon.url).catch(() => '')) === 'True InSync',
    () => daemon.outputSoFar().err,
  );
  await sleep(300);
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  commit(place.checkout, { 'web.yaml': 'kind: Nonsense\n', 'rules.yaml': undefined });
  place.alterPort('BY_HAND');
  const next = await place.daemon();
  await until(
    () => place.port().alias === 'WEB',
    () => next.outputSoFar().err,
  );
  await sleep(2_500);
  expect(place.domains()).toHaveLength(2);
  const { source } = await ask<{
    source: { error: { code: string }; acceptedRevision: string; observedRevision: string };
  }>(next.url, '/status');
  expect(source.error.code).toBe('source/faulty');
  expect(source.acceptedRevision).not.toBe(source.observedRevision);
});

test('a second daemon, or an apply, on the same ledger ends with 6 and names the way out; the platform hears of nothing twice', async () => {
  const place = await placed();
  const daemon = await place.daemon();
  await until(
    async () => (await readiness(daemon.url).catch(() => '')) === 'True InSync',
    () => daemon.outputSoFar().err,
  );
  const writes = place.writes();
  const shared = ['--config', place.config, '-f', place.checkout, '--ledger', place.ledger];
  const second = await runProcess(['run', ...shared], { env: ENV });
  expect(second.code, second.err).toBe(6);
  const apply = await runProcess(['apply', ...shared, '--yes'], { env: ENV });
  expect(apply.code).toBe(6);
  expect(apply.err).toContain('portolan plan --server');
  expect(place.writes()).toBe(writes);
});

test('a changed configuration is taken up while it runs, and a faulty one is not', async () => {
  const place = await placed();
  const daemon = await place.daemon();
  await until(
    async () => (await readiness(daemon.url).catch(() => '')) === 'True InSync',
    () => daemon.outputSoFar().err,
  );
  const sound = readFileSync(place.config, 'utf8');
  writeFileSync(place.config, 'kind: Nonsense\n');
  daemon.child.kill('SIGHUP');
  await until(
    () => daemon.outputSoFar().err.includes('The former configuration stays in use'),
    () => daemon.outputSoFar().err,
  );
  const events = await runProcess(['events', '--type', 'controller.reload-refused', '--server', daemon.url], {
    env: { ...ENV, PORTOLAN_SERVER_TOKEN: API_TOKEN },
  });
  expect(events.out, events.err).toMatch(
    /The changed configuration has 1 fault\. The former configuration stays in use\. .*portolan\.yaml:1/,
  );
  commit(place.checkout, { 'web.yaml': web('SITE') });
  await until(() => place.port().alias === 'SITE');
  // And without a signal: the file is looked at every few seconds.
  writeFileSync(place.config, `${sound}  prune: { enabled: false }\n`);
  await until(
    () => daemon.outputSoFar().err.includes('the changed configuration prunes nothing'),
    () => daemon.outputSoFar().err,
  );
});
