import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from '../../src/model/secret.ts';

const secret = new Secret('hunter-two', 'env PORTOLAN_TOKEN');

test.for([
  ['a template', `${secret}`, '[secret]'],
  ['String()', String(secret), '[secret]'],
  ['JSON', JSON.stringify({ secret }), '{"secret":"[secret]"}'],
  ['inspect', inspect(secret), '[secret from env PORTOLAN_TOKEN]'],
  [
    'inspect of what holds it',
    inspect({ deep: [secret] }, { showHidden: true }),
    '{ deep: [ [secret from env PORTOLAN_TOKEN], [length]: 1 ] }',
  ],
  ['its own keys', Object.keys(secret).join(), 'origin'],
])('%s shows no secret', ([, shown, expected]) => {
  expect(shown).toBe(expected);
});

test('only reveal gives the value', () => {
  expect(secret.reveal()).toBe('hunter-two');
});
