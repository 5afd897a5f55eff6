import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from '../processes/place.ts';

/** Versions 1 and 2 of control groups: where one is made, what bounds it, and where it counts what hit the bound. */
const VERSIONS = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
] as const;

export interface MemoryGroup {
  /** Node's option by which a process joins the group before it does anything else. */
  readonly join: string;
  /** MiB: the processes in it, the git they start, and the files they read. */
  peakMib(): number;
}

/** A control group that ends with the test; undefined where this process may make none. */
export function memoryGroup(limitMib: number): MemoryGroup | undefined {
  for (const { root, limit, peak } of VERSIONS) {
    if (!existsSync(join(root, 'cgroup.procs'))) continue;
    const folder = join(root, `portolan-${process.pid}`);
    try {
      mkdirSync(folder);
      onTestFinished(() => until(() => removed(folder)));
      writeFileSync(join(folder, limit), String(limitMib * 1024 * 1024));
    } catch {
      continue;
    }
    const procs = join(folder, 'cgroup.procs');
    const program = `import{writeFileSync as w}from'node:fs';w('${procs}',String(process.pid))`;
    return {
      join: `--import=data:text/javascript,${encodeURIComponent(program)}`,
      peakMib: () => Number(readFileSync(join(folder, peak), 'utf8')) / 1024 / 1024,
    };
  }
  return undefined;
}

/** A group can be removed once its last process is gone. */
function removed(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
