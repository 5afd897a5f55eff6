import { expect, test } from 'vitest';
import { hasPgBouncer } from '../support/pgbouncer.ts';
import { replicaCycles } from './replicas/replica-cycles.ts';

test('30 faults of three replicas behind PgBouncer lose nothing and make nothing twice', async (context) => {
  if (!hasPgBouncer()) return context.skip('PgBouncer is missing: the Debian package pgbouncer has it');
  const report = await replicaCycles({ replicas: 3, cycles: 30, seed: 1, lease: '2s', settle: '1s', isPooled: true });
  expect(report.violations).toEqual([]);
  expect(report.writes).toBeGreaterThan(30);
});
