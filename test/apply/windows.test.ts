import { expect, test } from 'vitest';
import { startWindows } from '../../src/reconcile/resolution/resolve.ts';
import type { Intent } from '../../src/model/owned.ts';
import { addition, key, leftBehind, portAction, scope, ScriptedWorld, timing } from './scripted-world.ts';

// The client of the scripted world is of the platform `default`; its scope is region-1, application 42.
test.for<readonly [string, Partial<Intent>, { region: string; appId?: number }, boolean]>([
  ['open, of the application', { state: 'open' }, scope, true],
  ['unknown since another start of the machine', { state: 'unknown' }, scope, true],
  ['of a team that is written otherwise', { state: 'open', scope: 'default/0a1b/region-1/42' }, scope, true],
  ['of another platform', { state: 'open', scope: 'other/team-a/region-1/42' }, scope, false],
  ['of another region', { state: 'open', scope: 'default/team-a/region-2/42' }, scope, false],
  ['of another application', { state: 'open', scope: 'default/team-a/region-1/43' }, scope, false],
  ['of a scope that is none', { state: 'open', scope: 'somewhere' }, scope, false],
  ['of an application whose id is not known', { state: 'open' }, { region: 'region-1' }, false],
])('where an application cannot be read, the window of an intent %s begins: %j', async ([, changes, where, begins]) => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('open_inner'), changes);
  world.clock.reboot();
  world.clock.advance(1);
  await startWindows(world.apply, where);
  const lengthMs = timing.settleTargetStateMs + (intent.state === 'open' ? timing.sendWithinMs : 0);
  const settleMark = `boot-2 ${world.clock.monotonic() + lengthMs}`;
  const begun = { ...intent, state: 'unknown', settleMs: world.clock.now() + lengthMs, settleMark };
  expect(world.intents()).toEqual([begins ? begun : intent]);
  // In the application that it was sent to, and nowhere else.
  expect(world.commits.at(-1)).toMatchObject({ scope: intent.scope, actor: begins ? 'test' : 'earlier' });
});

test('where an application cannot be read, a window that runs or is over stays as it is', async () => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('open_inner'));
  for (const passedMs of [0, timing.settleTargetStateMs]) {
    world.clock.advance(passedMs);
    await startWindows(world.apply, scope);
    expect(world.intents()).toEqual([intent]);
  }
});

test('where an application cannot be read, what is settled is not looked at, and each intent has its own window', async () => {
  const world = new ScriptedWorld();
  const settled = await leftBehind(world, portAction('open_inner'), { id: 'settled' });
  await world.ledger.commit({
    scope: key,
    actor: 'earlier',
    atMs: world.clock.now(),
    operations: [{ op: 'move-intent', id: settled.id, state: 'superseded' }],
  });
  await leftBehind(world, portAction('open_inner'), { id: 'far', scope: 'default/team-a/region-1/43', state: 'open' });
  await leftBehind(world, portAction('add_port'), { ...addition, id: 'added', state: 'open' });
  await leftBehind(world, portAction('open_outer'), { id: 'opened', uid: 'another', state: 'open' });
  world.clock.reboot();
  const nowMs = world.clock.now() + timing.sendWithinMs;
  await startWindows(world.apply, scope);
  expect(Object.fromEntries(world.intents().map(({ id, state, settleMs }) => [id, [state, settleMs]]))).toEqual({
    settled: ['superseded', settled.settleMs],
    far: ['open', 0],
    added: ['unknown', nowMs + timing.settleCreationMs],
    opened: ['unknown', nowMs + timing.settleTargetStateMs],
  });
});
