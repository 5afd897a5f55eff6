import { expect, test } from 'vitest';
import { exploreLeases } from './explore.ts';
import { leaseDeathOf, parts } from './report.ts';
import { leaseMutants } from './rules.ts';

/** All of it: npm run test:long, or npm run simulate -- --leases. */
const STATES_MAX = 60_000;

test('every order of steps of the lease protocol, nearest first', () => {
  const [part] = parts;
  const report = part && exploreLeases(part.setting, STATES_MAX);
  expect(report?.violation, report?.path.join('\n')).toBeUndefined();
  expect(report?.states).toBeGreaterThanOrEqual(STATES_MAX);
});

test.for(leaseMutants)('the model finds: $name', (mutant) => {
  const { violation, path } = leaseDeathOf(mutant);
  expect(mutant.rightly, path.join('\n')).toContain(violation?.split(':')[0]);
});
