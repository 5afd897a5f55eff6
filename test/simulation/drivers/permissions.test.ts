import { expect, test } from 'vitest';
import type { LedgerOperation } from '../../../src/ledger/ledger.ts';
import type { Intent } from '../../../src/model/owned.ts';
import type { Action } from '../../../src/model/plan.ts';
import { type Content, ruleOf } from './estate.ts';
import { Git } from './git.ts';
import { contentsOf } from './workbench.ts';
import { type Authority, Permissions, type Pass } from './permissions.ts';
import { type Choices, settingsOf } from './settings.ts';

const empty: Content = { apps: new Map(), isFaulty: false };
const choices: Choices = {
  enabled: true,
  maxObjects: 1,
  maxShare: 1,
  pruneAfterMs: 60_000,
  resyncIntervalMs: 120_000,
  concurrency: 1,
  window: undefined,
};
const limited = settingsOf(choices);

/** One revision after another is accepted; each may remove one rule. */
function ledgerOf() {
  const violations: string[] = [];
  const permissions = new Permissions((invariant, message) => violations.push(`${invariant}: ${message}`));
  const git = new Git(empty, () => contentsOf([]));
  const commit = (...operations: readonly LedgerOperation[]): void =>
    permissions.committed(operations, new Map(), { isAgreed: false, allowsRewind: false });
  const accept = (content = empty): void => {
    git.commit(content);
    permissions.told(git.head, 0);
    const snapshot = { id: `snapshot ${git.head.number}`, source: 'default', commit: git.head.id };
    commit({ op: 'accept-snapshot', snapshot } as unknown as LedgerOperation);
  };
  const pass = (number: number): Pass => ({
    application: 'one',
    number,
    beganMs: 0,
    spent: permissions.spent,
    hasRead: new Set(),
  });
  const remove = (rule: string, during: Pass, more: Partial<Authority> = {}): void => {
    const resource = 'HttpGatewayRule/one-web';
    const action = { object: rule, resource, summary: `remove ${rule}`, verb: 'delete', prune: true, cause: 'prune' };
    const write = {
      action: action as unknown as Action,
      intent: { id: rule, scope: 'default/team/region/1' } as Intent,
    };
    commit({ op: 'open-intent', intent: write.intent });
    const base = { number: 1, pass: during, settings: [limited], unreadableSinceMs: undefined, commit: git.head };
    const authority = { ...base, ...more };
    permissions.sends(write, authority, 0, 0);
    permissions.acted(write, 'one');
  };
  return { violations, accept, pass, remove };
}

test('a removal counts for the revision under which its pass began', () => {
  const { violations, accept, pass, remove } = ledgerOf();
  accept();
  const earlier = pass(2);
  accept();
  remove('rule/a', earlier);
  remove('rule/b', pass(3));
  expect(violations).toEqual([]);
  remove('rule/c', pass(4));
  expect(violations).toEqual([expect.stringContaining('2 removals for one revision, of 1')]);
});

test('nothing is left for a pass that began under a revision which has spent all of it', () => {
  const { violations, accept, pass, remove } = ledgerOf();
  accept();
  remove('rule/a', pass(2));
  remove('rule/b', pass(3));
  expect(violations).toHaveLength(1);
});

const named: Content = {
  apps: new Map([
    [
      'one',
      {
        ports: [8080],
        unlisted: 'keep',
        rules: new Map([['web', { port: 8080, path: '/web', weight: 100 }]]),
        isLabelled: false,
      },
    ],
  ]),
  isFaulty: false,
};
const bare: Content = {
  ...named,
  apps: new Map([...named.apps].map(([name, app]) => [name, { ...app, rules: new Map() }])),
};

test('a removal grows older only while somebody can see what is gone', () => {
  const { violations, accept, pass, remove } = ledgerOf();
  accept(named);
  accept(bare);
  const rule = ruleOf(named, 'one', 'web') ?? '';
  remove(rule, pass(2), { watchedMs: () => 60_000 });
  expect(violations).toEqual([]);
  remove(rule, pass(3), { watchedMs: () => 59_000 });
  expect(violations).toEqual([expect.stringContaining('somebody could see for 59000 ms that it is gone')]);
});

test('a day has a budget, whatever the revision permits', () => {
  const { violations, accept, pass, remove } = ledgerOf();
  const settings = [settingsOf({ ...choices, maxObjects: 10, dailyObjects: 1 })];
  accept(named);
  accept(bare);
  const rule = ruleOf(named, 'one', 'web') ?? '';
  const watchedMs = () => 60_000;
  remove(rule, pass(2), { settings, watchedMs });
  accept(bare);
  expect(violations).toEqual([]);
  remove(rule, pass(3), { settings, watchedMs });
  expect(violations).toEqual([expect.stringContaining('2 rules removed in a day, of 1')]);
});
