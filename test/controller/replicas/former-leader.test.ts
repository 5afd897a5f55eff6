import { expect, test } from 'vitest';
import type { ScopeKey } from '../../../src/model/ids.ts';
import { application, type Group, type Replica } from './hand-led.ts';
import { both, EAST, twoLeaders } from './two-leaders.ts';

const never = new AbortController().signal;
const author = { by: 'ops', reason: 'a test' };

/** Two replicas in sync. The first one leads the east. */
async function scene() {
  const { group, one, two } = await twoLeaders('{ prune: { maxShare: 1 } }');
  await group.commit(both('www.example.com', 'b.example.com'));
  await group.until(() => two.ready(EAST) === 'True InSync', 'in sync');
  await group.pass(20_000);
  return { group, one, two };
}

/** Cuts the first replica off at the first statement of which this is so, and lets the other one take over. */
async function killedOnce(
  isSo: (operation: string) => boolean | Promise<boolean>,
  { group, one, two }: { readonly group: Group; readonly one: Replica; readonly two: Replica },
): Promise<void> {
  const killed = Promise.withResolvers<void>();
  let isKilled = false;
  one.beforeStatement = async (operation) => {
    if (!isKilled && !(await isSo(operation))) return;
    isKilled = true;
    one.isDatabaseAway = true;
    killed.resolve();
  };
  await killed.promise;
  for (const unit of ['source:default', 'platform:east'] as const)
    while (!(await two.leadership.take(unit))) await group.pass(500);
}

/** @param ending of the message, which claims nothing about a former leader. */
const refusedAs = (code: string, ending: string) => ({
  code,
  message: expect.stringContaining(
    `${ending} A former leader of Platform/east may have carried the command out, or a part of it.`,
  ),
  remedy: expect.stringMatching(/^See first whether it did: portolan history and portolan status show that\./),
});

test('a forget that a leader carried out before it was killed is not refused as if nothing was forgotten', async () => {
  const { group, one, two } = await scene();
  const isForgotten = async (): Promise<boolean> => {
    const rows = await two.shared.reader.objects({ source: 'default' });
    return rows.every(({ resource, state }) => resource !== 'HttpGatewayRule/east-www' || state === 'gone');
  };
  const killed = killedOnce((operation) => operation === 'finish' && isForgotten(), { group, one, two });
  const answer = two.controller.api.forget(EAST, 'HttpGatewayRule/east-www', author, never);
  await expect(answer).rejects.toMatchObject(refusedAs('ledger/no-object', '. Nothing more was recorded.'));
  await killed;
  expect(await isForgotten()).toBe(true);
});

test('a prune of which a leader sent a part before it was killed is not refused as if nothing was removed', async () => {
  const { group, one, two } = await scene();
  // The east is removed from git, so its resources are orphans.
  await group.commit(application('west', 'www.example.com', 'b.example.com'));
  await group.until(() => two.controller.api.orphans().length > 0, 'it has orphans');
  await group.pass(20_000);
  const scope = two.controller.api.orphans()[0]?.scope as ScopeKey;
  const { digest } = await two.controller.api.planPrune(scope, never);
  const before = group.writes.length;
  const killed = killedOnce(() => group.writes.length > before, { group, one, two });
  const answer = two.controller.api.prune(scope, { ...author, digest }, never);
  await expect(answer).rejects.toMatchObject(refusedAs('controller/other-plan', '. Nothing more was removed.'));
  await killed;
  expect(group.writes.slice(before).map(({ by, request }) => `${by} ${request.method}`)).toEqual(['one DELETE']);
});
