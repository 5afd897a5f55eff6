import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { Cost } from './bombs.ts';

const measure = fileURLToPath(new URL('measure.ts', import.meta.url));

/** Lets a process of its own read a bomb. */
export async function detonate(name: string, size: 'whole' | 'dense'): Promise<Cost> {
  const { stdout } = await promisify(execFile)(process.execPath, [measure, name, size], { timeout: 300_000 });
  return JSON.parse(stdout) as Cost;
}

/** What no hostile file of 256 KiB may exceed. */
export function expectHarmless(cost: Cost): void {
  // On a busy machine time passes without us, and garbage is collected on another core: the smaller one is ours.
  expect(Math.min(cost.wallMs, cost.cpuMs), 'milliseconds').toBeLessThan(2_000);
  expect(cost.rssMib, 'MiB of memory').toBeLessThan(256);
  expect(cost.outputBytes, 'bytes of output').toBeLessThan(256 * 1024);
}
