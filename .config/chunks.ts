import { join } from 'node:path';
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown';

/**
 * Which modules share a file, each time all that these entries import: to find, read and link a file takes a good
 * millisecond, and a plan would do it fifty times. A group leaves to those above it what they have already.
 */
const GROUPS: readonly (readonly [name: string, entries: readonly string[]])[] = [
  // Not main.ts: it waits for the command, whose file would wait for a file that has main.ts in it.
  ['start', ['src/cli/program.ts', 'src/runtime/clock.ts', 'src/runtime/random.ts']],
  ['manifest', ['src/cli/session/configuration.ts', 'src/manifest/load.ts']],
  ['pass', ['src/cli/commands/plan.ts']],
  ['ledger', ['src/ledger/sqlite.ts']],
];

/** The groups for `codeSplitting`, those that take first first; what is in none is split as the bundler likes. */
export function chunkGroups(root: string): CodeSplittingGroup[] {
  let groups: ReadonlyMap<string, string> | undefined;
  return GROUPS.map(([name], index) => ({
    debugName: name,
    priority: GROUPS.length - index,
    name(id, modules) {
      groups ??= grouped(root, modules);
      return groups.get(id) === name ? name : null;
    },
  }));
}

function grouped(root: string, modules: ChunkingContext): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  for (const [name, entries] of GROUPS) {
    const left = entries.map((entry) => join(root, entry));
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const info = modules.getModuleInfo(id);
      if (groups.has(id) || info === null) continue;
      groups.set(id, name);
      left.push(...info.importedIds);
    }
  }
  return groups;
}
