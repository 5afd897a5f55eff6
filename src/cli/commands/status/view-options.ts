import type { Command, OptionValues } from '@commander-js/extra-typings';
import { asciiOption } from '../../terminal/drawing/glyphs.ts';
import {
  configOption,
  filenameOption,
  ledgerOption,
  logFormatOption,
  logLevelOption,
  outputOption,
  parallelismOption,
  revisionOption,
  sourceOption,
  varFileOption,
  varOption,
} from '../../session/options.ts';
import { serverOption, tokenFileOption } from '../../server/options.ts';

/** What `status` and `tree` show, from here or from a server. */
export function addViewedOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return command
    .addOption(filenameOption())
    .addOption(revisionOption())
    .addOption(configOption())
    .addOption(ledgerOption())
    .addOption(sourceOption())
    .addOption(serverOption())
    .addOption(tokenFileOption());
}

/** How `status` and `tree` read and show it. */
export function addViewOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return command
    .addOption(asciiOption())
    .addOption(varOption())
    .addOption(varFileOption())
    .addOption(outputOption(['text', 'json']))
    .addOption(parallelismOption())
    .addOption(logLevelOption())
    .addOption(logFormatOption());
}
