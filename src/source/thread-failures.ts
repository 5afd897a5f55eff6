import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import { formatDuration } from '../model/duration.ts';
import { invalidInput, PortolanError } from '../model/errors.ts';
import { safeLine } from '../model/text.ts';
import type { Limits } from './contents.ts';
import type { ThreadFailure } from './thread-workbench.ts';
import { UNREADABLE_REMEDY } from './unreadable.ts';

/** Returns the error for a source that ended its thread. */
export function sourceFailure(limits: Limits): (why: ThreadFailure, label: string) => PortolanError {
  return (why, label) => {
    const { code, happened, advice } = explain(why, limits());
    const source = label === '' ? 'the source that was accepted before the restart' : label;
    return invalidInput(`source/${code}`, `Reading ${source} ${happened}.`, `${UNREADABLE_REMEDY} ${advice}`);
  };
}

/** Returns the error for manifests of a plan request that ended the thread. */
export function planFailure(limits: Limits): (why: ThreadFailure) => PortolanError {
  return (why) => {
    const { code, happened, advice } = explain(why, limits());
    const message = `Parsing the manifests ${happened}. Nothing was planned.`;
    if (why.type !== 'failed')
      return invalidInput(`plan/${code}`, message, `Send fewer or smaller manifests. ${advice}`);
    return new PortolanError({ code: `plan/${code}`, disposition: 'give-up', message, remedy: advice });
  };
}

function explain(why: ThreadFailure, { heapMib, timeoutMs }: SourceLimits) {
  if (why.type === 'failed')
    return {
      code: 'thread-failed',
      happened: `ended its thread: ${safeLine(why.reason)}`,
      advice: 'Report this as a bug.',
    };
  const [limit, setting] =
    why.type === 'too-slow'
      ? [`longer than ${formatDuration(timeoutMs)}`, 'timeout']
      : [`more than ${heapMib} MiB of memory`, 'heapMib'];
  return {
    code: why.type,
    happened: `took ${limit}`,
    advice: `The limit is spec.source.limits.${setting} of Settings.`,
  };
}
