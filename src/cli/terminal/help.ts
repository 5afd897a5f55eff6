import { type CommandUnknownOpts, Help, type HelpConfiguration } from '@commander-js/extra-typings';
import { nearest } from '../../manifest/suggest.ts';
import { safeText } from '../../model/text.ts';
import { habitOf } from '../session/habits.ts';
import type { CommandHelp } from '../session/command.ts';
import { EXIT_MEANINGS } from '../session/exit-codes.ts';
import { HELP_COLUMNS_MAX, layOut, wrapped } from './help-layout.ts';

/** Groups of options in the help. An option that is not listed belongs to the command itself. */
const GROUPS = {
  'Input:': ['filename', 'revision', 'if-empty', 'var', 'var-file', 'source'],
  'Configuration and ledger:': ['config', 'set', 'platform', 'ledger'],
  'Running controller:': ['server', 'token-file'],
  'Limits to override:': [
    'max-share',
    'max-prunes',
    'allow-empty',
    'allow-shrunk',
    'allow-rewind',
    'ignore-windows',
    'ignore-policies',
  ],
  'Output:': ['output', 'compact', 'no-compact', 'detailed-exitcode', 'log-level', 'log-format'],
};

/** If the column of descriptions would be narrower, each description goes below its term. */
const DESCRIPTION_COLUMNS_MIN = 36;

export const helpConfiguration: HelpConfiguration = {
  minWidthToWrap: 20,
  prepareContext(context) {
    this.helpWidth = Math.min(context.helpWidth ?? 80, HELP_COLUMNS_MAX);
  },
  formatHelp(command, helper) {
    const [usage = '', ...rest] = Help.prototype.formatHelp.call(this, command, helper).split('\n');
    return [...wrapped(usage, this.helpWidth ?? 80, '       '), ...rest].join('\n');
  },
  formatItem(term, termWidth, description, helper) {
    const width = this.helpWidth ?? 80;
    if (description === '' || width - termWidth - 4 >= DESCRIPTION_COLUMNS_MIN)
      return Help.prototype.formatItem.call(this, term, termWidth, description, helper);
    const below = wrapped(`    ${description}`, width, '    ');
    return [...wrapped(`  ${term}`, width, '    '), ...below].join('\n');
  },
};

/** Groups the options of a command, and adds exit codes and related commands to its help. */
export function describeCommand(command: CommandUnknownOpts, help: CommandHelp): void {
  command.description(help.about);
  for (const option of command.options) {
    const name = option.long?.replace(/^--/, '') ?? '';
    const group = Object.entries(GROUPS).find(([, names]) => names.includes(name));
    if (group !== undefined) option.helpGroup(group[0]);
  }
  const codes = help.exitCodes.map((code) => `  ${String(code).padEnd(4)} ${EXIT_MEANINGS[code]}`);
  const related = help.seeAlso.map((name) => `portolan ${name}`).join(', ');
  command.addHelpText('after', `\nExit codes:\n${codes.join('\n')}\n\nSee also: ${related}`);
}

/** Formats help: commander has formatted its own part, and this formats the parts that commands add. */
export function helpText(text: string, columns: number): string {
  return text.startsWith('Usage:') ? text : layOut(text, columns);
}

/** Formats a usage error: the typed text cannot move the cursor, and a similar choice is suggested. */
export function usageError(text: string): string {
  const [, typed, choices] =
    /(?:argument|value) '(.*)' is invalid(?: for argument '[^']*')?\. Allowed choices are (.*)\.\n/s.exec(text) ?? [];
  const meant = typed === undefined || choices === undefined ? undefined : nearest(typed, choices.split(', '));
  if (meant !== undefined) return safeText(`${text.trimEnd()}\n(Did you mean ${meant}?)\n`);
  const [, word = ''] = /unknown (?:option|command) '(.*?)'/.exec(text) ?? [];
  // `-out=FILE` reads as `-o ut=FILE`.
  const habit = habitOf(/argument 'ut(?:=|')/.test(text) ? '-out' : word);
  if (habit !== undefined) return safeText(`${(text.split('\n')[0] ?? '').trimEnd()}\n(${habit})\n`);
  return safeText(text);
}
