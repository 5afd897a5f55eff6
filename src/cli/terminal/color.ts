import { Option } from '@commander-js/extra-typings';
import { invalidInput } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';
import { type Output, type Terminal, writingTo } from './terminal.ts';

type When = 'auto' | 'always' | 'never';
const CHOICES: readonly string[] = ['auto', 'always', 'never'] satisfies readonly When[];

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns `--color WHEN`. It is an option of the program, so every command takes it, before or after its name. */
export function colorOption() {
  return new Option('--color <when>', 'colour of the output: auto, always or never [$PORTOLAN_COLOR]');
}

/**
 * Takes `--color` out of a command line.
 * @returns the value and the other words. Words after `--` are not touched.
 */
export function takeColor(args: readonly string[]): { readonly color: string | undefined; readonly rest: string[] } {
  const rest: string[] = [];
  let color: string | undefined;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === '--') return { color, rest: [...rest, ...args.slice(at)] };
    if (word === '--color' && CHOICES.includes(args[at + 1] ?? '')) {
      color = args[at + 1];
      at += 1;
    } else if (word === '--color') color = 'always';
    else if (word === '--no-color') color = 'never';
    else if (word.startsWith('--color=')) color = word.slice('--color='.length);
    else rest.push(word);
  }
  return { color, rest };
}

/**
 * Returns the terminal with colour on or off. The flag takes precedence over `PORTOLAN_COLOR`, that over `NO_COLOR`, and
 * that over `FORCE_COLOR`, `CLICOLOR_FORCE` and `CLICOLOR`. Without any of them, only a terminal has colour.
 * @throws PortolanError `invalid` for a value other than auto, always and never.
 */
export function withColor(terminal: Terminal, flag: string | undefined, env: Environment): Terminal {
  const isForced = forced(chosen(flag, env), env);
  if (isForced === undefined) return terminal;
  const colored = (output: Output): Output => writingTo(output, (text) => output.write(text), isForced);
  return { ...terminal, out: colored(terminal.out), err: colored(terminal.err) };
}

function chosen(flag: string | undefined, env: Environment): When {
  const fromVariable = env['PORTOLAN_COLOR'] === '' ? undefined : env['PORTOLAN_COLOR'];
  const value = flag ?? fromVariable ?? 'auto';
  if (CHOICES.includes(value)) return value as When;
  const name = flag === undefined ? 'PORTOLAN_COLOR' : '--color';
  throw invalidInput(
    'cli/bad-color',
    `${name} has the value ${JSON.stringify(safeLine(value))}.`,
    `Set ${name} to auto, always or never.`,
  );
}

/** Returns whether colour is forced on or off. @returns undefined: the terminal decides. */
function forced(when: When, env: Environment): boolean | undefined {
  if (when !== 'auto') return when === 'always';
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  if (isSet('NO_COLOR')) return false;
  if (isSet('FORCE_COLOR')) return !['0', 'false'].includes(env['FORCE_COLOR'] ?? '');
  if (isSet('CLICOLOR_FORCE') && env['CLICOLOR_FORCE'] !== '0') return true;
  return env['CLICOLOR'] === '0' ? false : undefined;
}
