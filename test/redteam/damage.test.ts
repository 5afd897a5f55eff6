import { expect, test } from 'vitest';
import { attacks } from './attacks.ts';
import { Account, expectBounded, ownedBy, refuse, strike, suffer } from './suffering.ts';
import { appliedScene, plant, ruleFile, ruleNumbers } from './world.ts';

const account = new Account();
test.for(attacks.losses)('could destroy $name', (attack) => suffer(attack, 'extended', account));
test.for(attacks.changes)('could change $name', (attack) => suffer(attack, 'extended', account));
test.for(attacks.takeovers)('could take over $name', (attack) => suffer(attack, 'extended', account));
test.for(attacks.secrets)('could get hold of $name', (attack) => refuse(attack, account));
test.for(attacks.malformed)('could break $name', (attack) => refuse(attack, account));

test('could destroy all rules, some in each run: every run is bounded by itself, and all runs of a day together', async () => {
  const scene = await appliedScene('extended');
  const removed: number[] = [];
  for (const upTo of [8, 13, 16, 18, 20]) {
    plant(scene, Object.fromEntries(ruleNumbers.filter((at) => at <= upTo).map((at) => [ruleFile(at), null])));
    const owned = await ownedBy(scene);
    const blow = await strike(scene, ['--prune']);
    account.add(`all rules, some in each run: up to the ${upTo}th`, 'extended --prune', blow, owned);
    expectBounded(blow, owned, true);
    removed.push(blow.damage.removed.length);
  }
  // Ten in a day: the second run would go over that.
  expect(removed).toEqual([8, 0, 0, 0, 0]);
});

test('the measured damage is the one that was looked at', async () => {
  await expect(String(account)).toMatchFileSnapshot('golden/damage-extended.md');
});
