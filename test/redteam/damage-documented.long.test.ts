import { expect, test } from 'vitest';
import { attacks } from './attacks.ts';
import { Account, suffer } from './suffering.ts';

const account = new Account();

// What is refused before anything is asked is the same in every dialect.
test.for(attacks.losses)('could destroy $name', (attack) => suffer(attack, 'documented', account));
test.for(attacks.changes)('could change $name', (attack) => suffer(attack, 'documented', account));
test.for(attacks.takeovers)('could take over $name', (attack) => suffer(attack, 'documented', account));

test('the measured damage is the one that was looked at', async () => {
  await expect(String(account)).toMatchFileSnapshot('golden/damage-documented.md');
});
