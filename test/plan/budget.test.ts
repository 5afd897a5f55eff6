import { expect, test } from 'vitest';
import { resourceId } from '../../src/model/ids.ts';
import type { Action } from '../../src/model/plan.ts';
import type { DesiredState, Resource } from '../../src/model/resource.ts';
import { reconciledKinds } from '../../src/kinds/registry.ts';
import { expensesOf } from '../../src/plan/budget.ts';
import { actionOf, objectOf, scope } from './plans.ts';

const WEB = resourceId('Component', 'web');
const RULE = resourceId('HttpGatewayRule', 'www');
const PRUNE = { prune: true, cause: 'prune' } as const;
const closing = (port: number, changes: Partial<Action> = {}): Action =>
  actionOf({ id: `close ${port}`, object: `port/s/${port}`, step: { type: 'close_outer' }, ...changes });
const opening = (port: number, changes: Partial<Action> = {}): Action =>
  actionOf({ id: `open ${port}`, object: `port/s/${port}`, step: { type: 'open_outer' }, ...changes });
const deleting = (port: number): Action =>
  actionOf({ ...PRUNE, id: `delete ${port}`, object: `port/s/${port}`, verb: 'delete', step: { type: 'delete_port' } });
const creating = (port: number): Action =>
  actionOf({ id: `add ${port}`, object: `port/s/${port}`, verb: 'create', step: { type: 'add_port' } });
const rule = (verb: Action['verb'], object: string, changes: Partial<Action> = {}): Action =>
  actionOf({ id: `${verb} ${object}`, resource: RULE, verb, object, step: { type: verb }, ...changes });

const documents = (...resources: readonly (readonly [id: Resource['id'], spec: object])[]): DesiredState =>
  new Map(resources.map(([id, spec]) => [id, { id, spec } as unknown as Resource]));

interface Case {
  readonly actions: readonly Action[];
  /** Of the application, and of the whole source. */
  readonly here?: DesiredState;
  readonly source?: DesiredState;
  readonly earlier?: readonly string[];
}

function spent({ actions, here = documents([WEB, {}]), source = here, earlier = [] }: Case): string[] {
  const ledgerView = {
    objects: [objectOf({ kind: 'HttpGatewayRule', resource: RULE, naturalKey: 'rule/s/8080/www' })],
  };
  const planned = { scope, plan: { actions }, ledgerView, work: { resources: here } };
  return expensesOf(reconciledKinds, planned, actions, source, earlier).map(
    ({ object, class: kind }) => `${kind} ${object.split(' ')[1]}`,
  );
}

test.for<readonly [what: string, of: Case, spent: readonly string[]]>([
  ['a rule that is removed', { actions: [rule('delete', 'rule/s/8080/www', PRUNE)] }, ['access rule/s/8080/www']],
  ['a port that git closes', { actions: [closing(8080)] }, ['access port/s/8080']],
  ['a port that is deleted', { actions: [deleting(8080)] }, ['other port/s/8080']],
  [
    'a port that is closed and deleted, with its rule',
    {
      actions: [
        closing(8080, { ...PRUNE, takesAlong: ['rule/s/8080/www'] }),
        { ...deleting(8080), takesAlong: ['rule/s/8080/www'] },
      ],
    },
    ['access port/s/8080', 'access rule/s/8080/www'],
  ],
  ['a creation', { actions: [creating(8080), opening(8080), rule('create', 'rule/s/8080/www')] }, []],
  [
    'a recreation',
    { actions: [rule('delete', 'rule/s/8080/www'), rule('create', 'rule/s/8080/www', { continues: 'x' })] },
    [],
  ],
  ['a temporary closing', { actions: [closing(8080, { obligation: { outer: true } })] }, []],
  ['a temporary step', { actions: [closing(8080, { step: { type: 'close_outer', temporary: true } })] }, []],
  ['closing what others opened', { actions: [closing(8080, { cause: 'drift' })] }, []],
  ['closing what was open before the first apply', { actions: [closing(8080, { cause: 'first-apply' })] }, []],
  ['paying what is owed', { actions: [closing(8080, { cause: 'obligation' })] }, []],
  [
    'a rule that gets another address',
    { actions: [rule('delete', 'rule/s/8080/www', PRUNE)], here: documents([RULE, {}]) },
    [],
  ],
  [
    'a rule whose manifest is of another application now',
    { actions: [rule('delete', 'rule/s/8080/www', PRUNE)], source: documents([WEB, {}], [RULE, {}]) },
    [],
  ],
  ['an outer port in place of another', { actions: [closing(8080, PRUNE), creating(9090), opening(9090)] }, []],
  [
    'an outer port in place of another, whose default rule goes along with two that others made',
    {
      actions: [
        closing(8080, { ...PRUNE, takesAlong: ['rule/s/8080/d', 'rule/s/8080/x', 'rule/s/8080/y'] }),
        { ...deleting(8080), takesAlong: ['rule/s/8080/d', 'rule/s/8080/x', 'rule/s/8080/y'] },
        opening(9090),
      ],
    },
    ['access rule/s/8080/x', 'access rule/s/8080/y'],
  ],
  ['a port in place of another', { actions: [deleting(8080), creating(9090)] }, []],
  [
    'one outer port in place of two',
    { actions: [closing(8080, PRUNE), closing(8081, PRUNE), opening(9090)] },
    ['access port/s/8081'],
  ],
  [
    'an inner port in place of an outer one',
    { actions: [closing(8080, PRUNE), creating(9090)] },
    ['access port/s/8080'],
  ],
  [
    'a port that is opened again in place of another',
    { actions: [closing(8080, PRUNE), opening(9090, { cause: 'drift' })] },
    ['access port/s/8080'],
  ],
  [
    'a port of another manifest in place of it',
    { actions: [closing(8080, PRUNE), opening(9090, { resource: resourceId('Component', 'api') })] },
    ['access port/s/8080'],
  ],
  [
    'a port that moves with its rule',
    {
      actions: [
        closing(8080, { ...PRUNE, takesAlong: ['rule/s/8080/www'] }),
        { ...deleting(8080), takesAlong: ['rule/s/8080/www'] },
        opening(9090),
        rule('create', 'rule/s/9090/www'),
      ],
    },
    [],
  ],
  [
    'ports of a component whose manifest lists one of them in another application now',
    {
      actions: [closing(8080, PRUNE), closing(8081, PRUNE)],
      here: documents(),
      source: documents([WEB, { ports: [{ port: 8080, outer: true }] }]),
    },
    ['access port/s/8081'],
  ],
  [
    'the port whose creation an earlier plan has done',
    { actions: [closing(8080, PRUNE)], earlier: ['port/s/8080'] },
    [],
  ],
])('%s spends %3$j', ([, of, expected]) => {
  expect(spent(of)).toEqual(expected);
});
