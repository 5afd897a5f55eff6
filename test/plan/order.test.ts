import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Need, StepProposal } from '../../src/kinds/reconciled.ts';
import type { ResourceId } from '../../src/model/ids.ts';
import { type OrderedSteps, orderSteps, type PlacedStep, stepId } from '../../src/plan/order.ts';
import { stepOf } from './plans.ts';

const KIND_ORDER: Readonly<Record<string, number>> = { StoreInstall: 10, Component: 20, HttpGatewayRule: 30 };

/** A step by its id, `Component/web#open`. */
function step(id: string, proposal: Partial<StepProposal> = {}): PlacedStep {
  const [resource, key] = id.split('#') as [ResourceId, string];
  return stepOf(resource, key, proposal, KIND_ORDER[resource.slice(0, resource.indexOf('/'))]);
}

const nobody = (condition: string) => ({
  code: 'test/unmet',
  message: `nobody gives ${condition}`,
  remedy: 'give it',
});
const need = (condition: string, met = false): Need => ({ condition, met, otherwise: nobody(condition) });
const idsOf = ({ steps }: OrderedSteps) => steps.map((ordered) => ordered.step.id);
const blockedOf = ({ blocked }: OrderedSteps) =>
  Object.fromEntries(blocked.map((entry) => [entry.step.id, 'step' in entry.by ? entry.by.step : entry.by.message]));

test.for<readonly [string, readonly PlacedStep[], readonly string[]]>([
  [
    'of several kinds: from the ground up',
    [step('HttpGatewayRule/www#create'), step('Component/web#add'), step('StoreInstall/db#install')],
    ['StoreInstall/db#install', 'Component/web#add', 'HttpGatewayRule/www#create'],
  ],
  [
    'of one kind: by name',
    [step('Component/b#add'), step('Component/c#add'), step('Component/a#add')],
    ['Component/a#add', 'Component/b#add', 'Component/c#add'],
  ],
  [
    'of one resource: as its kind gave them',
    [step('Component/web#z'), step('Component/web#a'), step('Component/web#m')],
    ['Component/web#z', 'Component/web#a', 'Component/web#m'],
  ],
  [
    'removals: last, and from the top down',
    [
      step('StoreInstall/db#gone', { prune: true }),
      step('Component/old#close', { prune: true }),
      step('HttpGatewayRule/old#delete', { prune: true }),
      step('Component/web#add'),
      step('HttpGatewayRule/www#create'),
    ],
    [
      'Component/web#add',
      'HttpGatewayRule/www#create',
      'HttpGatewayRule/old#delete',
      'Component/old#close',
      'StoreInstall/db#gone',
    ],
  ],
  [
    'removals of one resource: after its other steps, in the order of their own',
    [
      step('Component/web#close', { prune: true }),
      step('Component/web#delete', { prune: true }),
      step('Component/web#add'),
    ],
    ['Component/web#add', 'Component/web#close', 'Component/web#delete'],
  ],
  [
    'what gives a condition comes before what needs it, whatever their kinds',
    [step('Component/web#add', { needs: [need('rule')] }), step('HttpGatewayRule/www#create', { provides: ['rule'] })],
    ['HttpGatewayRule/www#create', 'Component/web#add'],
  ],
  [
    'what is met already is waited for all the same, where somebody changes it',
    [
      step('Component/a#use', { needs: [need('port', true)] }),
      step('HttpGatewayRule/www#touch', { provides: ['port'] }),
    ],
    ['HttpGatewayRule/www#touch', 'Component/a#use'],
  ],
  [
    'a removal that something needs first is not put off',
    [
      step('Component/web#add', { needs: [need('alias is free')] }),
      step('Component/old#delete', { prune: true, provides: ['alias is free'] }),
    ],
    ['Component/old#delete', 'Component/web#add'],
  ],
  [
    'one that waits keeps back the later ones of its resource, and of no other',
    [
      step('Component/a#first', { needs: [need('rule')] }),
      step('Component/a#second'),
      step('Component/b#other'),
      step('HttpGatewayRule/www#create', { provides: ['rule'] }),
    ],
    ['Component/b#other', 'HttpGatewayRule/www#create', 'Component/a#first', 'Component/a#second'],
  ],
  [
    'one that gives what it needs itself waits for nobody',
    [step('Component/web#add', { needs: [need('port', true)], provides: ['port'] })],
    ['Component/web#add'],
  ],
])('steps %s', ([, steps, ids]) => {
  const ordered = orderSteps(steps);
  expect(idsOf(ordered)).toEqual(ids);
  expect(ordered.blocked).toEqual([]);
});

test('an ordered step names what it waits for, once each', () => {
  const { steps } = orderSteps([
    step('Component/web#add', { provides: ['port', 'port inner'] }),
    step('Component/web#open', { after: ['add'], needs: [need('port inner')], provides: ['port outer'] }),
    step('HttpGatewayRule/www#create', { needs: [need('port'), need('port inner'), need('port outer')] }),
  ]);
  expect(steps.map(({ after }) => after)).toEqual([
    [],
    ['Component/web#add'],
    ['Component/web#add', 'Component/web#open'],
  ]);
});

test.for<readonly [string, readonly PlacedStep[], readonly PlacedStep[], Readonly<Record<string, string>>]>([
  [
    'what nobody gives',
    [step('Component/a#x', { needs: [need('port')] })],
    [],
    { 'Component/a#x': 'nobody gives port' },
  ],
  [
    'the first of several that nobody gives',
    [step('Component/a#x', { needs: [need('met', true), need('port'), need('rule')] })],
    [],
    { 'Component/a#x': 'nobody gives port' },
  ],
  [
    'what only it gives itself',
    [step('Component/a#x', { needs: [need('port')], provides: ['port'] })],
    [],
    { 'Component/a#x': 'nobody gives port' },
  ],
  [
    'a held step that would give it',
    [step('Component/a#x', { needs: [need('port')] })],
    [step('Component/b#held', { provides: ['port'] })],
    { 'Component/a#x': 'Component/b#held' },
  ],
  [
    'a step of its own that is held',
    [step('Component/a#x', { after: ['first'] })],
    [step('Component/a#first')],
    { 'Component/a#x': 'Component/a#first' },
  ],
  [
    'one another in a row, down to the one that nothing meets',
    [
      step('HttpGatewayRule/www#create', { needs: [need('port outer')] }),
      step('Component/a#open', { after: ['add'], provides: ['port outer'] }),
      step('Component/a#add', { needs: [need('install')] }),
    ],
    [],
    {
      'Component/a#add': 'nobody gives install',
      'Component/a#open': 'Component/a#add',
      'HttpGatewayRule/www#create': 'Component/a#open',
    },
  ],
])('steps are blocked by %s', ([, steps, held, blocked]) => {
  const ordered = orderSteps(steps, held);
  expect(blockedOf(ordered)).toEqual(blocked);
  expect(ordered.steps).toEqual([]);
});

test('one of two that give the same is enough, and what is met needs nobody', () => {
  const ordered = orderSteps([
    step('Component/a#x', { needs: [need('port'), need('other', true)] }),
    step('Component/b#stuck', { needs: [need('nothing')], provides: ['port', 'other'] }),
    step('Component/c#gives', { provides: ['port'] }),
  ]);
  expect(idsOf(ordered)).toEqual(['Component/c#gives', 'Component/a#x']);
  expect(blockedOf(ordered)).toEqual({ 'Component/b#stuck': 'nobody gives nothing' });
});

test('steps that wait for each other are a fault of their kinds, and are named', () => {
  expect(() =>
    orderSteps([
      step('Component/a#x', { needs: [need('two')], provides: ['one'] }),
      step('Component/b#y', { needs: [need('one')], provides: ['two'] }),
      step('Component/c#free'),
    ]),
  ).toThrow('steps wait for each other in a circle: Component/a#x, Component/b#y');
});

interface Drawn {
  readonly resource: string;
  readonly prune: boolean;
  /** How far back, from this step, is what it comes after. */
  readonly after: readonly number[];
  readonly needs: readonly { readonly back: number; readonly met: boolean }[];
  readonly gives: boolean;
  readonly isHeld: boolean;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  resource: fc.constantFrom('StoreInstall/a', 'Component/a', 'Component/b', 'HttpGatewayRule/a', 'HttpGatewayRule/b'),
  prune: fc.boolean(),
  after: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }),
  needs: fc.array(fc.record({ back: fc.integer({ min: 1, max: 6 }), met: fc.boolean() }), { maxLength: 2 }),
  gives: fc.boolean(),
  isHeld: fc.boolean(),
});

/** Steps that wait for earlier ones only, so that there is an order for them. */
const graphs = fc.array(drawn, { maxLength: 14 }).map((all) => {
  const steps = all.map(({ resource, prune, after, needs, gives }, at) =>
    step(`${resource}#${at}`, {
      prune,
      after: after.filter((back) => all[at - back]?.resource === resource).map((back) => String(at - back)),
      needs: needs.map(({ back, met }) => need(`c${Math.floor((at - back) / 2)}`, met)),
      // Two steps in a row may give the same: c0 is given by 0 and 1.
      provides: gives ? [`c${Math.floor(at / 2)}`] : [],
    }),
  );
  return {
    steps: steps.filter((_, at) => all[at]?.isHeld !== true),
    held: steps.filter((_, at) => all[at]?.isHeld === true),
  };
});

test('whatever waits for whatever: all of it is either ordered or blocked, and every prefix is allowed', () => {
  fc.assert(
    fc.property(graphs, ({ steps, held }) => {
      const ordered = orderSteps(steps, held);
      const ids = idsOf(ordered);
      expect([...ids, ...ordered.blocked.map((entry) => entry.step.id)].sort()).toEqual(
        steps.map(({ id }) => id).sort(),
      );
      // Steps were drawn so that each waits for earlier ones only: one walk decides which of them can run.
      const runs: PlacedStep[] = [];
      for (const one of steps) {
        const isGiven = (condition: string) => runs.some(({ proposal }) => proposal.provides.includes(condition));
        const isPlaced = (key: string) => runs.some(({ id }) => id === stepId(one.resource, key));
        const { needs, after } = one.proposal;
        if (needs.every(({ condition, met }) => met || isGiven(condition)) && after.every(isPlaced)) runs.push(one);
      }
      expect([...ids].sort()).toEqual(runs.map(({ id }) => id).sort());
      for (const [at, { step: one, after }] of ordered.steps.entries()) {
        const earlier = new Set(ids.slice(0, at));
        const waitsFor = runs.filter(
          (other) =>
            other !== one &&
            (one.proposal.after.some((key) => stepId(one.resource, key) === other.id) ||
              one.proposal.needs.some(({ condition }) => other.proposal.provides.includes(condition))),
        );
        expect([...after].sort()).toEqual(waitsFor.map(({ id }) => id).sort());
        expect(waitsFor.filter(({ id }) => !earlier.has(id))).toEqual([]);
      }
      for (const resource of new Set(runs.map((one) => one.resource))) {
        for (const prune of [false, true]) {
          const mine = (one: PlacedStep) => one.resource === resource && one.proposal.prune === prune;
          expect(ordered.steps.map((entry) => entry.step).filter(mine)).toEqual(runs.filter(mine));
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('what blocks a step is a step that does not run, or the need itself where no step would meet it', () => {
  fc.assert(
    fc.property(graphs, ({ steps, held }) => {
      const ordered = orderSteps(steps, held);
      const out = [...held, ...ordered.blocked.map((entry) => entry.step)];
      for (const { step: one, by } of ordered.blocked) {
        if ('step' in by) {
          const blocker = out.find(({ id }) => id === by.step) ?? expect.fail(`${by.step} runs`);
          const isNeeded = one.proposal.needs.some(
            ({ condition, met }) => !met && blocker.proposal.provides.includes(condition),
          );
          expect(isNeeded || one.proposal.after.some((key) => stepId(one.resource, key) === blocker.id)).toBe(true);
        } else {
          const unmet = one.proposal.needs.find(({ otherwise, met }) => otherwise === by && !met);
          const condition = unmet?.condition ?? expect.fail('not a need of this step');
          const giving = [...steps, ...held].filter(({ proposal }) => proposal.provides.includes(condition));
          expect(giving.filter((giver) => giver !== one)).toEqual([]);
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('the order does not depend on which resource was looked at first', () => {
  fc.assert(
    fc.property(graphs, fc.infiniteStream(fc.nat({ max: 1000 })), ({ steps, held }, random) => {
      const byResource = [...Map.groupBy(steps, ({ resource }) => resource).values()];
      const shuffled = byResource
        .map((group) => ({ group, place: random.next().value as number }))
        .sort((left, right) => left.place - right.place)
        .flatMap(({ group }) => group);
      expect(idsOf(orderSteps(shuffled, held))).toEqual(idsOf(orderSteps(steps, held)));
    }),
    { numRuns: 1000 },
  );
});
