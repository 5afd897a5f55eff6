import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Origin } from '../../../configuration/provenance.ts';
import { variableOf } from '../../session/env-options.ts';
import { commandsOf } from '../../session/unknown-variables.ts';

/** One flag, with its value before any command line. */
export interface FlagInForce {
  readonly flag: string;
  /** The only command with this flag; undefined for a flag and variable that several commands share. */
  readonly commands: string | undefined;
  readonly variable: string;
  /** The value for people; empty for none. */
  readonly shown: string;
  readonly origin: Origin;
}

/** The values of these flags are, or may be, secrets. */
const SECRET_FLAGS = /token$|password|secret|key$/;

/** Returns every flag that has a variable, in the order of the help. A shared flag appears once. */
export function flagsInForce(
  program: CommandUnknownOpts,
  env: Readonly<Record<string, string | undefined>>,
): readonly FlagInForce[] {
  const flags = new Map<string, FlagInForce>();
  for (const { command, path } of commandsOf(program)) {
    for (const option of command.options) {
      const variable = variableOf(path.join('-'), option);
      if (variable === undefined || option.hidden) continue;
      const isOwn = variable.startsWith(`PORTOLAN_${path.join('_').toUpperCase()}_`);
      const set = env[variable];
      const isSet = set !== undefined && set !== '';
      const hidden = SECRET_FLAGS.test(option.long ?? '') && isSet;
      const fallback = defaultOf(option);
      const origin: Origin = isSet
        ? { type: 'option', option: `$${variable}` }
        : { type: fallback === '' ? 'absent' : 'default' };
      if (flags.has(variable)) continue;
      flags.set(variable, {
        flag: option.long ?? option.flags,
        commands: isOwn ? path.join(' ') : undefined,
        variable,
        shown: hidden ? '(set, not shown)' : isSet ? set : fallback,
        origin,
      });
    }
  }
  return [...flags.values()].sort(
    (left, right) => Number(left.commands !== undefined) - Number(right.commands !== undefined),
  );
}

function defaultOf({ defaultValue, defaultValueDescription }: Option): string {
  if (defaultValue === undefined) return '';
  return defaultValueDescription ?? (typeof defaultValue === 'string' ? defaultValue : JSON.stringify(defaultValue));
}
