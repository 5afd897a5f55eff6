import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import { formatDuration } from '../model/duration.ts';
import { PortolanError } from '../model/errors.ts';
import { safeLine } from '../model/text.ts';
import type { Limits } from './contents.ts';
import type { ThreadFailure } from './thread-workbench.ts';
import { UNREADABLE_REMEDY } from './unreadable.ts';

/** What is said of a source that ended its thread. */
export function sourceFailure(limits: Limits): (why: ThreadFailure, label: string) => PortolanError {
  return (why, label) => {
    const what = label === '' ? 'The source that was accepted before the restart' : label;
    const stands = 'It was not applied; what was accepted before stays in force.';
    if (why.type === 'failed') {
      return new PortolanError({
        code: 'source/thread-failed',
        disposition: 'invalid',
        message: `${what} ended the thread that read it: ${safeLine(why.reason)}. ${stands}`,
        remedy: `Report this as a bug. ${UNREADABLE_REMEDY}`,
      });
    }
    const { setting, text } = exceeded(why.type, limits());
    return new PortolanError({
      code: `source/${why.type}`,
      disposition: 'invalid',
      message: `${what} takes ${text} to read and parse. ${stands}`,
      remedy: `${UNREADABLE_REMEDY} spec.source.limits.${setting} of Settings is the limit.`,
    });
  };
}

/** What is said of manifests that were sent for a plan, and ended the thread. */
export function planFailure(limits: Limits): (why: ThreadFailure) => PortolanError {
  return (why) => {
    if (why.type === 'failed') {
      return new PortolanError({
        code: 'plan/thread-failed',
        disposition: 'give-up',
        message: `The manifests ended the thread that parsed them: ${safeLine(why.reason)}. Nothing was planned.`,
        remedy: 'Report this as a bug.',
      });
    }
    const { setting, text } = exceeded(why.type, limits());
    return new PortolanError({
      code: `plan/${why.type}`,
      disposition: 'invalid',
      message: `The manifests take ${text} to parse. Nothing was planned.`,
      remedy: `Send fewer or smaller manifests; spec.source.limits.${setting} of Settings is the limit.`,
    });
  };
}

function exceeded(type: 'out-of-memory' | 'too-slow', { heapMib, timeoutMs }: SourceLimits) {
  return type === 'too-slow'
    ? { setting: 'timeout', text: `longer than ${formatDuration(timeoutMs)}` }
    : { setting: 'heapMib', text: `more than ${heapMib} MiB of memory` };
}
