import packageFile from '../../../package.json' with { type: 'json' };
import type { Limits, Workbench } from '../../source/contents.ts';
import { planFailure, sourceFailure } from '../../source/thread-failures.ts';
import { ThreadWorkbench } from '../../source/thread-workbench.ts';
import { Unreadable, type UnreadableOptions } from '../../source/unreadable.ts';
import { LocalWorkbench } from '../../source/workbench.ts';
import type { Surroundings } from './command.ts';

/**
 * Time after which an idle thread is closed to free its memory. Until then, another plan of the same viewer reuses it.
 */
const PLAN_IDLE_MS = 60_000;

/** Opens two threads: one reads the daemon's source, the other parses manifests that are sent to it. */
export function openWorkbenches(
  { clock, env, declarations, openThread }: Surroundings,
  limits: Limits,
  memory: Omit<UnreadableOptions, 'version'>,
): { readonly workbench: Workbench; readonly planWorkbench: Workbench } {
  if (openThread === undefined) {
    const local = (): Workbench => new LocalWorkbench({ kinds: declarations, clock, path: env.PATH, limits });
    return { workbench: local(), planWorkbench: local() };
  }
  const unreadable = new Unreadable({ ...memory, version: packageFile.version });
  return {
    workbench: new ThreadWorkbench({ openThread, clock, limits, unreadable, failure: sourceFailure(limits) }),
    planWorkbench: new ThreadWorkbench({
      openThread,
      clock,
      limits,
      idleMs: PLAN_IDLE_MS,
      failure: planFailure(limits),
    }),
  };
}
