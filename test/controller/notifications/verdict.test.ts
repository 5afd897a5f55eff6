import { expect, test } from 'vitest';
import { commitVerdict } from '../../../src/controller/notifications/commit-status.ts';
import { commitOf } from '../../../src/model/revision.ts';
import type { ApplicationStatus } from '../../../src/model/status.ts';
import { application, COMMIT, condition, NOON_MS, resource, REVISION, sourceStatus } from '../hand-made.ts';

const OLD = `main@sha1:${'e'.repeat(40)}`;
const done = application('done');
const behind = application('behind', { lastAppliedRevision: OLD, lastAttemptedRevision: OLD });
const lastError = { code: 'platform/unavailable', message: '503', remedy: 'Wait.', atMs: NOON_MS };
const failing = application('failing', { lastAppliedRevision: OLD, failures: 2, lastError });
const stalled = application('stalled', {
  lastAppliedRevision: null,
  conditions: [condition('Ready', 'False'), condition('Stalled', 'True')],
});
const suspended = application('suspended', {
  lastAppliedRevision: OLD,
  pause: { type: 'suspended', by: 'alice', reason: 'a test', sinceMs: NOON_MS },
});
const windowed = application('windowed', {
  lastAppliedRevision: OLD,
  pause: { type: 'window', window: 'nights', untilMs: null },
});
const guarded = application('guarded', {
  lastAppliedRevision: OLD,
  conditions: [condition('Stalled', 'True')],
  approval: { digest: 'd', refusals: [], sinceMs: NOON_MS },
});

const drift = { sinceMs: NOON_MS, changes: [] };
const reported = application('reported', {
  lastAppliedRevision: OLD,
  conditions: [condition('Ready', 'False'), condition('Reconciling', 'False')],
  resources: [resource('web', { drift, mode: 'report' })],
});

test.for<[string, readonly ApplicationStatus[], string]>([
  ['all applied', [done, done], 'success: 2 applications in sync'],
  ['one applied', [done], 'success: 1 application in sync'],
  ['none at all', [], 'success: 0 applications in sync'],
  ['one under way', [done, behind], 'pending: 1 of 2 applications in sync'],
  ['one that waits for its window', [done, windowed], 'pending: 1 of 2 applications in sync'],
  ['one that waits for approval', [done, guarded], 'pending: 1 of 2 applications in sync; 1 waiting for approval'],
  ['one that fails', [done, behind, failing], 'failure: 1 of 3 failed: Application/failing (platform/unavailable)'],
  ['one that needs a person', [done, stalled], 'failure: 1 of 2 failed: Application/stalled'],
  ['one suspended', [done, suspended], 'success: 1 application in sync; 1 suspended'],
  [
    'one suspended, one failing',
    [suspended, failing],
    'failure: 1 of 1 failed: Application/failing (platform/unavailable); 1 suspended',
  ],
  ['drift that is only reported', [done, reported], 'success: 2 applications in sync; 1 drifted (only reported)'],
  [
    'drift that is to be healed',
    [done, { ...reported, resources: [resource('web', { drift })] }],
    'pending: 1 of 2 applications in sync',
  ],
  [
    'a failure that is of the commit before',
    [{ ...failing, lastAttemptedRevision: OLD }],
    'pending: 0 of 1 application in sync',
  ],
  ['a failure after it was applied', [{ ...failing, lastAppliedRevision: REVISION }], 'success: 1 application in sync'],
  [
    'drift after it was applied',
    [{ ...done, conditions: [condition('Ready', 'False')] }],
    'success: 1 application in sync',
  ],
])('%s', ([, applications, expected]) => {
  const verdict = commitVerdict(sourceStatus, applications, {});
  expect(`${verdict?.state}: ${verdict?.description}`).toBe(expected);
  expect(verdict?.commit).toBe(COMMIT);
});

test('labels say which applications count', () => {
  const other = { ...failing, labels: { env: 'test' } };
  expect(commitVerdict(sourceStatus, [done, other], { env: 'prod' })?.state).toBe('success');
  expect(commitVerdict(sourceStatus, [done, other], { env: 'test' })?.state).toBe('failure');
});

test.for([
  [REVISION, COMMIT],
  [`v1.2@sha256:${'a'.repeat(64)}`, 'a'.repeat(64)],
  [`files@sha256:${'a'.repeat(64)}`, undefined],
  ['main@sha1:abc', undefined],
  [`main@sha1:${'A'.repeat(40)}`, undefined],
  [null, undefined],
] as const)('the commit of %s', ([revision, commit]) => {
  expect(commitOf(revision)).toBe(commit);
  const verdict = commitVerdict({ ...sourceStatus, acceptedRevision: revision }, [], {});
  expect(verdict?.commit).toBe(commit);
});
