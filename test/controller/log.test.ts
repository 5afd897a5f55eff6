import { expect, test } from 'vitest';
import type { DaemonWorld } from './daemon.ts';
import { APPLICATION, FILES, portOf, SHOP, started, web } from './shop.ts';

const JSON_TYPE = 'application/json';
const answer = (status: number, body: string) => ({ status, contentType: JSON_TYPE, retryAfter: null, body });

/** Lines of the log about an event, without time; each has a time, a level and one event. */
function linesOf(world: DaemonWorld, event: string): readonly string[] {
  for (const line of world.lines)
    expect(line).toMatch(/^2026-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (?:info |warn |error)  [^\n]+\n$/);
  return world.lines.filter((line) => line.includes(` event=${event}`)).map((line) => line.slice(25, -1));
}

async function inSync(settings?: string): Promise<DaemonWorld> {
  const world = started(settings);
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  world.lines.length = 0;
  return world;
}

test.for([
  ['a missing team', answer(404, '{"code":404,"msg":"no found team"}'), 'application.failed', 'platform/unknown-team'],
  ['a platform without an answer', answer(503, 'down'), 'application.failed', 'platform/server-error'],
  ['a wrong token', answer(401, '{"code":401,"msg":"no"}'), 'application.failed', 'platform/credentials'],
] as const)('%s is one line, with a code and a remedy, however long it lasts', async ([, refusal, event, code]) => {
  const world = await inSync();
  world.answer = () => refusal;
  await world.pass(8 * 3_600_000);
  const about = linesOf(world, event).filter((line) => line.includes('application=shop '));
  expect(about).toHaveLength(1);
  expect(about[0]).toMatch(
    new RegExp(`^error  Application/shop: .* revision=main@sha1:0{39}1 event=${event} code=${code} remedy="[^"]+`),
  );
  world.answer = () => undefined;
  await world.until(() => world.ready(SHOP) === 'True InSync', 'it works again');
  expect(linesOf(world, 'application.recovered').filter((line) => line.includes('application=shop '))).toHaveLength(1);
});

test('an open circuit breaker names its cause, and a source that recovers is reported', async () => {
  const world = await inSync();
  world.answer = () => answer(503, 'down');
  await world.until(() => linesOf(world, 'circuit.opened').length > 0, 'the circuit opens');
  const [opened = ''] = linesOf(world, 'circuit.opened');
  expect(opened).toMatch(/^error {2}region region-1 of default is paused .*; the last one: GET .*HTTP 503/);
  expect(opened).toMatch(/ code=platform\/circuit-open remedy=./);

  await world.commit({ ...FILES, 'web.yaml': 'kind: [' });
  const [refused = ''] = linesOf(world, 'source.refused');
  expect(refused).toMatch(
    /^error {2}main@sha1:0{39}2 was rejected .*: web.yaml:1:7: .* Still running main@sha1:0{39}1\. {2}/,
  );
  expect(refused).toMatch(/ revision=main@sha1:0{39}2 event=source.refused code=source\/faulty remedy="Correct the/);
  await world.sourceFails();
  await world.commit(FILES);
  expect(linesOf(world, 'source.failed')).toHaveLength(1);
  expect(linesOf(world, 'source.recovered')).toHaveLength(1);
  expect(linesOf(world, 'source.recovered')[0]).toContain('(former problem: source/unreachable)');
});

test('before any revision was accepted, no line says that one stays in effect', async () => {
  const world = started();
  await world.sourceFails();
  await world.commit({ 'web.yaml': 'kind: [' });
  expect(world.lines.join('')).not.toMatch(/stays in effect|Still running/);
  for (const event of ['source.failed', 'source.refused'])
    expect(linesOf(world, event)[0]).toContain('No revision was accepted before, so nothing is applied.');
});

test('drift, suspension, removals that wait and a failing action: one line for each event, none for a repetition', async () => {
  const world = await inSync('{ controller: { pruneAfter: 1m } }');
  world.state.ports.put({ ...portOf(world), alias: 'BY_HAND' });
  await world.until(() => world.eventsOf('drift.healed').length === 1, 'drift is healed');
  expect(linesOf(world, 'drift.detected')[0]).toMatch(
    /^warn {3}Component\/shop-web was changed on the platform: .* application=shop .* code=drift\/detected remedy="Make/,
  );
  expect(linesOf(world, 'drift.healed')).toHaveLength(1);

  await world.controller.api.suspend(SHOP, 'alice', 'OPS-17');
  expect(linesOf(world, 'application.suspended')[0]).toMatch(
    / by alice: OPS-17; .* remedy="To resume it: portolan resume shop\."/,
  );
  await world.controller.drain();
  world.restart();
  world.start();
  await world.commit(FILES);
  // The log of the new process says it too, and only there: the event is not published again.
  expect(linesOf(world, 'application.suspended').at(-1)).toMatch(
    /^warn {3}since before the start: .* OPS-17; .* remedy="To/,
  );
  expect(world.eventsOf('application.suspended')).toHaveLength(1);
  await world.controller.api.resume(SHOP, 'alice');

  world.feed.descents.set('0000000000000000000000000000000000000003', 'does-not-descend');
  await world.commit({ 'app.yaml': APPLICATION, 'web.yaml': web('WEB') });
  await world.pass(3_600_000);
  const { digest = '' } = world.application(SHOP).approval ?? {};
  expect(linesOf(world, 'approval.needed')).toHaveLength(1);
  expect(linesOf(world, 'approval.needed')[0]).toContain(
    `code=guard/not-descendant remedy="Run portolan approve shop: it shows the plan ${digest} and asks."`,
  );

  world.lines.length = 0;
  world.answer = ({ isRead }) => (isRead ? undefined : answer(400, '{"code":20400,"msg":"no"}'));
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  await world.pass(3_600_000);
  expect(world.eventsOf('action.failed').length).toBeGreaterThan(2);
  for (const event of ['apply.started', 'action.failed', 'apply.finished', 'application.failed'])
    expect(linesOf(world, event), event).toHaveLength(1);
  // Every line that requires attention says what to do.
  for (const line of world.lines) if (!line.includes('Z info ')) expect(line).toMatch(/ code=\S+ remedy=./);
});
