import { expect, test } from 'vitest';
import type { StepProposal } from '../../src/kinds/reconciled.ts';
import { planScope } from '../../src/plan/plan-scope.ts';
import { creation, holdOf, otherwise, proposal, wanting } from './scripted-kinds.ts';

/** What is held where `Also/b` relies on others for a condition that `First/a` may give. */
function held(gives: Partial<StepProposal> | undefined, parts: Parameters<typeof wanting>[1] = {}, holds = false) {
  const steps = gives === undefined ? [] : [proposal('open', { provides: ['outer'], ...gives })];
  const relying = { expects: [{ condition: 'outer', otherwise }], holds: holds ? [holdOf('test/held')] : [] };
  const { plan } = planScope(wanting({ 'First/a': { found: { steps } }, 'Also/b': { found: relying } }, parts));
  return { holds: plan.holds.filter(({ resource }) => resource === 'Also/b'), inSync: plan.inSync };
}

test('what is relied upon and given by a step of the plan holds nothing', () => {
  expect(held({})).toEqual({ holds: [], inSync: ['Also/b'] });
});

test.for<readonly [string, Partial<StepProposal> | undefined]>([
  ['nothing is done', undefined],
  ['something else is done', { provides: ['inner'] }],
])('what is relied upon and given by nobody, while %s, is held in the words of who relies on it', ([, gives]) => {
  const expected = { holds: [{ ...otherwise, resource: 'Also/b', changes: [] }] };
  expect(held(gives)).toStrictEqual({ ...expected, inSync: gives === undefined ? ['First/a'] : [] });
  // Whatever else is held of it.
  expect(held(gives, {}, true).holds.map(({ code }) => code)).toEqual(['test/held', otherwise.code]);
});

test('what is relied upon and would be given by a step that is held waits for that, unless it is held already', () => {
  expect(held({}, { inDoubt: [creation] })).toStrictEqual({
    holds: [
      {
        code: 'plan/blocked',
        resource: 'Also/b',
        message: 'Also/b waits for "open" of First/a, which is held',
        remedy: 'Release what it waits for first.',
        changes: [],
      },
    ],
    inSync: [],
  });
  expect(held({}, { inDoubt: [creation] }, true).holds.map(({ code }) => code)).toEqual(['test/held']);
});
