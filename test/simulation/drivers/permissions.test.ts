import { expect, test } from 'vitest';
import type { LedgerOperation } from '../../../src/ledger/ledger.ts';
import type { Intent } from '../../../src/model/owned.ts';
import type { Action } from '../../../src/model/plan.ts';
import type { Content } from './estate.ts';
import { Git } from './git.ts';
import { contentsOf } from './workbench.ts';
import { Permissions, type Pass } from './permissions.ts';
import { settingsOf } from './settings.ts';

const empty: Content = { apps: new Map(), isFaulty: false };
const limited = settingsOf({
  enabled: true,
  maxObjects: 1,
  maxShare: 1,
  pruneAfterMs: 60_000,
  resyncIntervalMs: 120_000,
  concurrency: 1,
  window: undefined,
});

/** One revision after another is accepted; each may remove one rule. */
function ledgerOf() {
  const violations: string[] = [];
  const permissions = new Permissions((invariant, message) => violations.push(`${invariant}: ${message}`));
  const git = new Git(empty, () => contentsOf([]));
  const commit = (...operations: readonly LedgerOperation[]): void =>
    permissions.committed(operations, new Map(), { isAgreed: false, allowsRewind: false });
  const accept = (): void => {
    git.commit(empty);
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
  const remove = (rule: string, during: Pass): void => {
    const action = { object: rule, summary: `remove ${rule}`, verb: 'delete', prune: true, cause: 'prune' };
    const write = { action: action as unknown as Action, intent: { id: rule } as Intent };
    commit({ op: 'open-intent', intent: write.intent });
    const authority = { number: 1, pass: during, settings: [limited], unreadableSinceMs: undefined, commit: git.head };
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
