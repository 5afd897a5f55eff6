import { COMPLETE_COMMAND } from '../../src/cli/session/command.ts';
import { type CommandEntry, type CommandGroup, COMMANDS } from '../../src/cli/program.ts';

/** Words of every command that people call, groups left out: `['ledger', 'list']`. A new command is here at once. */
export function commandPaths(
  entries: readonly (CommandEntry | CommandGroup)[] = COMMANDS,
  before: readonly string[] = [],
): readonly (readonly string[])[] {
  return entries.flatMap((entry) => {
    const path = [...before, entry.name];
    if ('commands' in entry) return commandPaths(entry.commands, path);
    return entry.name === COMPLETE_COMMAND ? [] : [path];
  });
}

/** A row of a table, with the words as its name. */
export function named<Words extends readonly string[]>(words: Words): readonly [name: string, words: Words] {
  return [words.join(' '), words];
}
