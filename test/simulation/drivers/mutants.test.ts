import { expect, test } from 'vitest';
import { driverDeathOf } from './deaths.ts';
import { driverMutants } from './mutants.ts';

for (const mutant of driverMutants)
  test(`killed: ${mutant.name}`, async () => {
    const death = await driverDeathOf(mutant);
    expect(death, 'it lives').toBeDefined();
    expect(mutant.rightly, 'what may kill it').toContain(death?.by);
  });
