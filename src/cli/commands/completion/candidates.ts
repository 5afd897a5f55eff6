import type { Argument, CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { collect, collectOrAll } from '../../session/options.ts';

/** One word that may stand where the cursor is. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** `files`: the shell knows paths better than we do. */
export type Completion = { readonly type: 'words'; readonly words: readonly Candidate[] } | { readonly type: 'files' };

type NameSource = 'resources' | 'applications' | 'platforms' | 'kinds';
type Source = NameSource | 'files';

/**
 * Names of the manifests, the configuration and the kinds that a command line may mean. `resources`: `Kind/name` of what
 * `--target` takes.
 * @param files what `-f` names.
 * @param config what `--config` names.
 */
export type NamesAtHand = Readonly<
  Record<NameSource, (files: readonly string[], config: string | undefined) => readonly Candidate[]>
>;

/** What the values of options and arguments are names of, by the option's long name or the argument's. */
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

/** Where the cursor is: the command, what stands before it, and what of the word is there. */
interface CursorPlace {
  readonly command: CommandUnknownOpts;
  /** Values of options so far, by long name. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly operands: number;
  /** The option that the word is the value of. */
  readonly pending: Option | undefined;
  /** Behind `--`: no word is an option any more. */
  readonly ended: boolean;
}

/**
 * What may stand at the cursor.
 * @param words behind the program's name, up to the cursor; the last is the one that is being written, and may be empty.
 * @param program the tree of commands; options are needed of the one that `words` names.
 */
export function complete(words: readonly string[], program: CommandUnknownOpts, names: NamesAtHand): Completion {
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
      // `help plan`: behind it stands a command, as if it were not there.
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

/** A value that may be left out is left out where another flag follows. */
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

/** Those that are there already are not offered again, unless they may be. */
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

/** Without the variable and what stands behind a semicolon: a line of a menu is short. */
function firstWords(description: string): string {
  return description
    .replace(/ \[\$\w+\]$/, '')
    .split(/[;(]/, 1)
    .join('')
    .trim();
}

/** @param before what of the word stays as it is: `--output=`. */
function valuesOf(
  of: Option | Argument,
  before: string,
  current: string,
  place: CursorPlace,
  names: NamesAtHand,
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

/** Candidates that say all by their names. */
export function plain(values: readonly string[]): readonly Candidate[] {
  return values.map((value) => ({ value, description: '' }));
}

function sourceOf(of: Option | Argument, { command }: CursorPlace): Source | undefined {
  const isOption = 'flags' in of;
  const name = isOption ? nameOf(of) : of.name();
  // What a ledger has is named as resources are.
  if (name === 'name' && command.parent?.name() === 'ledger') return 'resources';
  if (Object.hasOwn(NAMES_OF, name)) return NAMES_OF[name];
  return PATH_PLACEHOLDER.test(isOption ? of.flags : `<${name}>`) ? 'files' : undefined;
}

function matching(candidates: readonly Candidate[], current: string): Completion {
  return { type: 'words', words: candidates.filter(({ value }) => value.startsWith(current)) };
}
