import type { Argument, CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { collect, collectOrAll } from '../../session/options.ts';

/** One word that can stand at the cursor. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** The possible words, or `files`: then the shell completes paths, which it does better. */
export type Completion = { readonly type: 'words'; readonly words: readonly Candidate[] } | { readonly type: 'files' };

type NameSource = 'resources' | 'applications' | 'platforms' | 'kinds';
type Source = NameSource | 'files';

/**
 * Returns the names of manifests, configuration and kinds that a command line may use. `resources`: `Kind/name`, as
 * `--target` takes it.
 * @param files the paths of `-f`.
 * @param config the file of `--config`.
 */
export type LocalNames = Readonly<
  Record<NameSource, (files: readonly string[], config: string | undefined) => readonly Candidate[]>
>;

/** Maps an option by its long name, or an argument by its name, to the source of its values. */
const NAMES_OF: Readonly<Record<string, Source>> = {
  target: 'resources',
  adopt: 'resources',
  resource: 'resources',
  application: 'applications',
  app: 'applications',
  name: 'applications',
  platform: 'platforms',
  plan: 'files',
  kind: 'kinds',
};

const PATH_PLACEHOLDER = /[<[](?:file|files|path|paths|dir|folder|checkout)(?:\.\.\.)?[>\]]/;

/** Describes the cursor: the command, the words before it, and the start of the word at it. */
interface CursorPlace {
  readonly command: CommandUnknownOpts;
  /** Values of options before the cursor, by long name. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly operands: number;
  /** The option whose value is at the cursor. */
  readonly pending: Option | undefined;
  /** True after `--`: no further word is an option. */
  readonly ended: boolean;
}

/**
 * Returns the words that can stand at the cursor.
 * @param words the words after the program's name, up to the cursor. The last one is incomplete and may be empty.
 * @param program the tree of commands, with the options of the command that `words` names.
 */
export function complete(words: readonly string[], program: CommandUnknownOpts, names: LocalNames): Completion {
  const current = words.at(-1) ?? '';
  const place = placeOf(words.slice(0, -1), program);
  const { command, pending } = place;
  if (pending !== undefined && takes(pending, current)) return valuesOf(pending, '', current, place, names);
  if (!place.ended && current.startsWith('-')) {
    const equals = current.indexOf('=');
    if (equals === -1) return matching(flagsOf(place), current);
    const option = optionNamed(command, current.slice(0, equals));
    if (option === undefined || takesNoValue(option)) return NOTHING;
    return valuesOf(option, current.slice(0, equals + 1), current, place, names);
  }
  if (command.commands.length > 0) return matching(place.operands === 0 ? commandsOf(command) : [], current);
  const argument = command.registeredArguments[place.operands] ?? variadic(command);
  return argument === undefined ? NOTHING : valuesOf(argument, '', current, place, names);
}

const NOTHING: Completion = { type: 'words', words: [] };

function placeOf(words: readonly string[], program: CommandUnknownOpts): CursorPlace {
  let command = program;
  let operands = 0;
  let pending: Option | undefined;
  let ended = false;
  const given = new Map<string, readonly string[]>();
  const give = (option: Option, value: string): void =>
    void given.set(nameOf(option), [...(given.get(nameOf(option)) ?? []), value]);
  for (const word of words) {
    const awaited = pending;
    pending = undefined;
    if (awaited !== undefined && takes(awaited, word)) give(awaited, word);
    else if (!ended && word === '--') ended = true;
    else if (!ended && word.startsWith('-') && word !== '-') {
      const [flag = '', value] = splitAtEquals(word);
      const option = optionNamed(command, flag);
      if (option === undefined) continue;
      if (value !== undefined || takesNoValue(option)) give(option, value ?? '');
      else pending = option;
    } else {
      const isFirst = operands === 0;
      const next = isFirst ? commandNamed(command, word) : undefined;
      if (next !== undefined) command = next;
      // After `help`, a command follows as if `help` were not there.
      else if (!(isFirst && word === 'help' && command.commands.length > 0)) operands += 1;
    }
  }
  return { command, given, operands, pending, ended };
}

function splitAtEquals(word: string): readonly [flag: string, value?: string] {
  const equals = word.indexOf('=');
  return equals === -1 ? [word] : [word.slice(0, equals), word.slice(equals + 1)];
}

function commandNamed(parent: CommandUnknownOpts, word: string): CommandUnknownOpts | undefined {
  return parent.commands.find((command) => command.name() === word || command.aliases().includes(word));
}

function optionNamed(command: CommandUnknownOpts, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => long === flag || short === flag);
}

function nameOf(option: Option): string {
  return (option.long ?? option.short ?? '').replace(/^-+/, '');
}

function takesNoValue(option: Option): boolean {
  return !option.required && !option.optional;
}

/** Returns whether a word can be the value of an option. An optional value is absent when another flag follows. */
function takes(option: Option, word: string): boolean {
  return option.required || !word.startsWith('-');
}

function variadic(command: CommandUnknownOpts): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return last?.variadic === true ? last : undefined;
}

function commandsOf(command: CommandUnknownOpts): readonly Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command as never)
    .map((one) => ({ value: one.name(), description: one.summary() || one.description() }));
}

/** Returns the flags of the command. A flag that was already given is left out, unless it may be repeated. */
function flagsOf({ command, given }: CursorPlace): readonly Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command as never)
    .filter((option) => isRepeatable(option) || !given.has(nameOf(option)))
    .map((option) => ({ value: option.long ?? option.short ?? '', description: firstWords(option.description) }));
}

function isRepeatable({ parseArg }: Option): boolean {
  return parseArg === collect || parseArg === collectOrAll;
}

/** Returns a description without its variable and without the part after a semicolon: a menu has short lines. */
function firstWords(description: string): string {
  return description
    .replace(/ \[\$\w+\]$/, '')
    .split(/[;(]/, 1)
    .join('')
    .trim();
}

/**
 * Returns the possible values of an option or argument. @param before start of the word that stays as it is: `--output=`.
 */
function valuesOf(
  of: Option | Argument,
  before: string,
  current: string,
  place: CursorPlace,
  names: LocalNames,
): Completion {
  const { given } = place;
  const source = sourceOf(of, place);
  let candidates = plain(of.argChoices ?? []);
  if (of.argChoices === undefined) {
    if (source === 'files') return { type: 'files' };
    if (source === undefined) return NOTHING;
    candidates = names[source](given.get('filename') ?? [], given.get('config')?.at(-1));
  }
  return matching(
    candidates.map(({ value, description }) => ({ value: `${before}${value}`, description })),
    current,
  );
}

/** Returns candidates without descriptions. */
export function plain(values: readonly string[]): readonly Candidate[] {
  return values.map((value) => ({ value, description: '' }));
}

function sourceOf(of: Option | Argument, { command }: CursorPlace): Source | undefined {
  const isOption = 'flags' in of;
  const name = isOption ? nameOf(of) : of.name();
  // Ledger commands take the names of resources.
  if (name === 'name' && command.parent?.name() === 'ledger') return 'resources';
  if (Object.hasOwn(NAMES_OF, name)) return NAMES_OF[name];
  return PATH_PLACEHOLDER.test(isOption ? of.flags : `<${name}>`) ? 'files' : undefined;
}

function matching(candidates: readonly Candidate[], current: string): Completion {
  return { type: 'words', words: candidates.filter(({ value }) => value.startsWith(current)) };
}
