import { expect, test } from 'vitest';
import { resourceId } from '../../src/model/ids.ts';
import type { Action, FieldChange, ScopePlan } from '../../src/model/plan.ts';
import { isSamePlan, planDifference } from '../../src/plan/difference.ts';
import { renderDifference } from '../../src/report/difference.ts';
import { actionOf, planOf, scope } from './plans.ts';

const outer: FieldChange = { path: 'ports[8080].outer', before: false, after: true, cause: 'git' };
const inner = actionOf({ id: 'Component/web#ports/8080/open_inner', summary: 'open inner access of port 8080' });
const deferred = {
  resource: resourceId('HttpGatewayRule', 'www'),
  waitsFor: resourceId('StoreInstall', 'db'),
  desired: { port: 3306 },
  summary: 'after StoreInstall/db, create the rule db.example.com/',
};
const action = (changes: Partial<Action> = {}): Action => actionOf({ changes: [outer], ...changes });
const plan = planOf({ actions: [inner, action()], deferred: [deferred] });
const withAction = (changes: Partial<Action>): ScopePlan => planOf({ ...plan, actions: [inner, action(changes)] });
const WHERE = 'Application/shop  default/team-a/region-1/42\n';
const changed = (facet: string, then: string, now: string): string =>
  `${WHERE}  ~ Component/web: open outer access of port 8080  (not as planned)\n      planned  ${facet}: ${then}\n      now      ${facet}: ${now}\n`;

test.for<readonly [string, ScopePlan, string]>([
  [
    'without an action',
    planOf({ ...plan, actions: [inner] }),
    `${WHERE}  - Component/web: open outer access of port 8080  (planned, and not in the current plan)\n`,
  ],
  [
    'with one more',
    planOf({ ...plan, actions: [...plan.actions, action({ id: 'other', summary: 'x\u001b[2Jy' })] }),
    `${WHERE}  + Component/web: x\\u001b[2Jy  (not planned, and in the current plan)\n`,
  ],
  [
    'without what follows',
    planOf({ ...plan, deferred: [] }),
    `${WHERE}  - HttpGatewayRule/www: after StoreInstall/db, create the rule db.example.com/  (planned, and not in the current plan)\n`,
  ],
  [
    'with another wish that follows',
    planOf({ ...plan, deferred: [{ ...deferred, desired: { port: 3307 } }] }),
    `${WHERE}  ~ HttpGatewayRule/www: after StoreInstall/db, create the rule db.example.com/  (not as planned)\n      planned  desired: {"port":3306}\n      now      desired: {"port":3307}\n`,
  ],
  [
    'with another value before',
    withAction({ changes: [{ ...outer, before: null }] }),
    changed('ports[8080].outer', 'false → true', 'null → true'),
  ],
  [
    'with another id of the platform in what is sent',
    withAction({ step: { type: 'open_outer', serviceId: 't', port: 8080 } }),
    changed(
      'request',
      '{"port":8080,"serviceId":"s","type":"open_outer"}',
      '{"port":8080,"serviceId":"t","type":"open_outer"}',
    ),
  ],
  ['on another object', withAction({ object: 'port/t/8080' }), changed('object', 'port/s/8080', 'port/t/8080')],
  ['with another side effect', withAction({ effects: ['enables 9 rules'] }), changed('effects', '', 'enables 9 rules')],
  ['that takes more along', withAction({ takesAlong: ['rule/a'] }), changed('also removes', '', 'rule/a')],
  [
    'in another order',
    planOf({ ...plan, actions: plan.actions.toReversed() }),
    'The current plan has the same actions in another order.\n',
  ],
])('a plan %s is another plan, and it is said how', ([, other, text]) => {
  const difference = planDifference([plan], [other]);
  expect(isSamePlan(difference)).toBe(false);
  expect(renderDifference(difference, [])).toBe(text);
});

test.for<readonly [string, ScopePlan]>([
  ['why', withAction({ cause: 'drift', changes: [{ ...outer, cause: 'drift', lastApplied: true }] })],
  ['in other words', withAction({ summary: 'publish it' })],
  [
    'beside other things that are held',
    planOf({ ...plan, inSync: [resourceId('Component', 'api')], unchangedFields: 3 }),
  ],
])('the same plan, told differently: %s', ([, other]) => {
  expect(isSamePlan(planDifference([plan], [JSON.parse(JSON.stringify(other)) as ScopePlan]))).toBe(true);
});

test('applications are compared one by one, in whatever order they come; another one is another plan', () => {
  const blog = planOf({
    scope: { ...scope, appId: 7 },
    application: resourceId('Application', 'blog'),
    actions: [inner],
  });
  expect(isSamePlan(planDifference([plan, blog], [blog, plan]))).toBe(true);
  const moved = planDifference([blog], [{ ...blog, scope: { ...scope, appId: 8 } }]);
  expect([moved.vanished.map((entry) => entry.scope), moved.appeared.map((entry) => entry.scope)]).toEqual([
    ['default/team-a/region-1/7'],
    ['default/team-a/region-1/8'],
  ]);
});
