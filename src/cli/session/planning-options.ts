import type { Command, OptionValues } from '@commander-js/extra-typings';
import { logFormatOption, logLevelOption } from './options.ts';
import {
  adoptOption,
  allowEmptyOption,
  allowRewindOption,
  allowShrunkOption,
  firstInstallOption,
  ignoreWindowsOption,
  maxPrunesOption,
  maxShareOption,
  overrideReasonOption,
  parallelismOption,
  pruneOption,
  targetOption,
} from './pass-options.ts';
import { expectOption } from '../commands/saved/flags.ts';

/** What a plan may do, the same for `plan` and `apply`. */
export function addPlanningOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return command
    .addOption(expectOption())
    .addOption(targetOption())
    .addOption(pruneOption())
    .addOption(adoptOption())
    .addOption(maxShareOption())
    .addOption(maxPrunesOption())
    .addOption(allowEmptyOption())
    .addOption(allowShrunkOption())
    .addOption(allowRewindOption())
    .addOption(ignoreWindowsOption())
    .addOption(overrideReasonOption())
    .addOption(firstInstallOption())
    .addOption(parallelismOption())
    .addOption(logLevelOption())
    .addOption(logFormatOption());
}
