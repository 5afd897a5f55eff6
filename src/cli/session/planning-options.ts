import { type Command, InvalidArgumentError, Option, type OptionValues } from '@commander-js/extra-typings';
import { addServerOptions, type ServerFlags } from '../server/options.ts';
import { asciiOption } from '../terminal/drawing/glyphs.ts';
import { type EmptyFlags, ifEmptyOption } from './empty-input.ts';
import {
  addLogOptions,
  addVariableOptions,
  collect,
  collectOrAll,
  configOption,
  filenameOption,
  integerArgument,
  ledgerOption,
  outputOption,
  parallelismOption,
  revisionOption,
  sourceOption,
} from './options.ts';
import type { OutputOptions } from './outputs.ts';
import type { SessionOptions } from './session.ts';
import { PLAN_FORMATS } from '../../report/formats.ts';

/** Options of `plan`, here and on a server, and of `apply`. */
export interface PlanOptions extends SessionOptions, OutputOptions, EmptyFlags, ServerFlags {
  readonly detailedExitcode?: boolean | undefined;
  /** Digest of the only plan that is accepted. */
  readonly expect?: string | undefined;
}

/** Adds the options that name manifests and ledger. */
export function addManifestOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return command
    .addOption(filenameOption())
    .addOption(ifEmptyOption())
    .addOption(revisionOption())
    .addOption(configOption())
    .addOption(ledgerOption())
    .addOption(sourceOption());
}

/** Adds the options that select what `status` and `tree` show. */
export function addViewedOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return addServerOptions(
    command
      .addOption(filenameOption())
      .addOption(revisionOption())
      .addOption(configOption())
      .addOption(ledgerOption())
      .addOption(sourceOption()),
  );
}

/** Adds the options that say how `status` and `tree` read and draw it. */
export function addViewOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return addLogOptions(
    addVariableOptions(command.addOption(asciiOption()))
      .addOption(outputOption(['text', 'json']))
      .addOption(parallelismOption()),
  );
}

/** Adds the options for variables and outputs. */
export function addOutputOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return addVariableOptions(command)
    .addOption(outputOption(PLAN_FORMATS))
    .option(
      '--out <file>',
      'also write the result to this file, in the format of its extension or as FORMAT=FILE; may be repeated',
      collect,
    );
}

export const expectOption = () =>
  new Option(
    '--expect <digest>',
    'refuse any plan but the one with this digest (exit code 4), before anything is sent',
  ).argParser(digestArgument);

/** Adds the options that permit and limit changes, the same for `plan` and `apply`. */
export function addPlanningOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  const permitted = command
    .option('--compact', 'text with one line for each change (default: on a terminal, from 51 changes)')
    .option('--no-compact', 'text with all fields, values and remedies')
    .addOption(expectOption())
    .option('--target <resource>', 'only this Kind/name; may be repeated; never prunes', collect)
    .option('--prune', 'also remove owned resources that were removed from git; without it, nothing is removed')
    .option(
      '--adopt [resource]',
      'adopt existing resources: all, or Kind/name (may be repeated). On a server that cannot list rules, only Kind/name records a change that was made in the console',
      collectOrAll,
    );
  return addLogOptions(
    addLimitOptions(permitted)
      .option(
        '--first-install <scope>',
        'confirm the first install into an application that this ledger does not know: platform/team/region/appId (may be repeated)',
        collect,
      )
      .addOption(parallelismOption()),
  );
}

/** Adds the options that override guards. */
export function addLimitOptions<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  const limited = command
    .option(
      '--max-share <share>',
      'override: maximum share of owned objects that one run may change, 0 to 1, for any number of objects (default: 0.3, from ten objects on)',
      shareArgument,
    )
    .option(
      '--max-prunes <n>',
      'override: maximum number of objects that one run may remove',
      integerArgument(0, 1_000_000),
    );
  return addSourceOverrides(limited)
    .option(
      '--ignore-windows',
      'override: apply outside the windows of Settings; requires --reason, which the history keeps',
    )
    .option(
      '--ignore-policies',
      'override: apply what policies of Settings deny; requires --reason, which the history keeps',
    )
    .option('--reason <text>', 'reason for the override, for the history');
}

/** Adds the options that override guards of the source. */
export function addSourceOverrides<Args extends unknown[], Own extends OptionValues>(command: Command<Args, Own>) {
  return command
    .option('--allow-empty', 'override: proceed although the source is empty and the ledger holds objects of it')
    .option('--allow-shrunk', 'override: prune although the source has less than half of its former objects')
    .option('--allow-rewind', 'override: prune although the commit does not descend from the one applied before');
}

function shareArgument(text: string): number {
  const share = /^(?:0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?)$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(share)) throw new InvalidArgumentError('Expected a number from 0 to 1, such as 0.5.');
  return share;
}

function digestArgument(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Expected the whole digest of a plan: 64 characters of 0-9 and a-f.');
}
