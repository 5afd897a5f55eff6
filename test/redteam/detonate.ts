import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { Cost, Time } from './bombs.ts';

/** What a bomb cost, beside what the YAML library alone takes for an ordinary file of the greatest size. */
export interface Detonation extends Cost {
  readonly ordinary: Time;
}

/** Lets a process of its own read a bomb, and another one an ordinary file, which says how fast this machine is now. */
export async function detonate(name: string, size: 'whole' | 'dense'): Promise<Detonation> {
  const cost = (await answerOf('measure.ts', name, size)) as Cost;
  return { ...cost, ordinary: (await answerOf('ordinary.ts')) as Time };
}

/** What no hostile file of 256 KiB may exceed. */
export function expectHarmless(cost: Detonation): void {
  // At most two seconds on a machine at rest; a slower machine needs more for both.
  expect(ownMs(cost) / ownMs(cost.ordinary), 'times an ordinary file').toBeLessThan(3.2);
  expect(cost.rssMib, 'MiB of memory').toBeLessThan(256);
  expect(cost.outputBytes, 'bytes of output').toBeLessThan(256 * 1024);
}

async function answerOf(program: string, ...args: readonly string[]): Promise<unknown> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [path, ...args], { timeout: 300_000 });
  return JSON.parse(stdout);
}

/** On a busy machine time passes without us, and garbage is collected on another core: the smaller one is ours. */
function ownMs({ wallMs, cpuMs }: Time): number {
  return Math.min(wallMs, cpuMs);
}
