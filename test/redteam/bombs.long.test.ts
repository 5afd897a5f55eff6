import { afterAll, test } from 'vitest';
import { bombs, type Cost } from './bombs.ts';
import { detonate, expectHarmless } from './detonate.ts';

const costs: [name: string, cost: Cost][] = [];

afterAll(() => {
  const worst = costs.toSorted(([, left], [, right]) => right.rssMib - left.rssMib);
  for (const [name, { bytes, wallMs, cpuMs, rssMib, exitCode, codes }] of worst)
    console.log(
      `${rssMib} MiB  ${cpuMs} ms of CPU in ${wallMs} ms  ${bytes} bytes  exit ${exitCode}  ${name}: ${codes.join(', ')}`,
    );
});

test.for(Object.keys(bombs).flatMap((name) => [[name, 'whole'] as const, [name, 'dense'] as const]))(
  'could take all time and memory: %s, %s',
  async ([name, size]) => {
    const cost = await detonate(name, size);
    costs.push([`${name}, ${size}`, cost]);
    expectHarmless(cost);
  },
);
