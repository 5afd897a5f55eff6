import { tmpdir } from 'node:os';
import { reconciledKinds } from '../src/kinds/registry.ts';
import { kindDeclarations } from '../src/configuration/declarations.ts';
import { runProgram } from '../src/cli/program.ts';
import type { Output } from '../src/cli/terminal/terminal.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { type Random, systemRandom } from '../src/runtime/random.ts';

/** Settings of one run in this process. */
export interface Surroundings {
  readonly columns: number;
  readonly color?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly random?: Random;
}

/** Runs the program in this process. @returns its exit code, and the texts of its two outputs. */
export async function runProgramHere(
  words: readonly string[],
  root: string,
  { columns, color = false, env = {}, random = systemRandom }: Surroundings,
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const text = { out: '', err: '' };
  const output = (name: 'out' | 'err'): Output => ({
    write: (part) => {
      text[name] += part;
    },
    // Progress is drawn over itself, so only the result is for a terminal.
    isTerminal: color && name === 'out',
    rows: 24,
    columns,
    color,
  });
  const code = await runProgram(words, {
    terminal: { out: output('out'), err: output('err'), async *input() {} },
    env,
    packageRoot: root,
    who: 'the reference',
    temporaryFolder: tmpdir(),
    kinds: { declared: async () => kindDeclarations, reconciled: async () => reconciledKinds },
    clock: systemClock,
    random,
    signal: new AbortController().signal,
    runtimeVersions: { node: process.versions.node, platform: 'any' },
    usage: () => ({ rssBytes: 0, heapBytes: 0, heapLimitBytes: 0 }),
  });
  return { code, ...text };
}
