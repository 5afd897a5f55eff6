import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { CommandDefinition, ProcessSurroundings, Surroundings } from './command.ts';
import { inAscii, speaksUtf8 } from '../terminal/drawing/glyphs.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { fitText, fitting } from '../terminal/fitting.ts';
import { withoutCommands } from '../terminal/guarded.ts';
import { type Terminal, writingTo } from '../terminal/terminal.ts';

/** Returns the surroundings of a command after its options are known. */
export async function surroundingsOf(
  command: CommandUnknownOpts,
  definition: CommandDefinition,
  surroundings: Surroundings,
): Promise<Surroundings> {
  const overridden = await withOverrides(command, surroundings);
  const declarations = await surroundings.kinds.declared();
  const all = { ...overridden, declarations, ...asText(command, definition, surroundings) };
  const { unread: _, ...unbroken } = all;
  // A command that changes something does not stop because its report has no reader.
  return definition.isEndless === true ? all : unbroken;
}

/** Runs a command until it ends, or until its output has no reader, which is a success, as with `| head`. */
export async function runWhileRead(
  work: (surroundings: Surroundings) => Promise<ExitCode>,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { unread, signal } = surroundings;
  if (unread === undefined) return work(surroundings);
  try {
    const exitCode = await work({ ...surroundings, signal: AbortSignal.any([signal, unread]) });
    return unread.aborted && exitCode === EXIT.interrupted ? EXIT.ok : exitCode;
  } catch (error) {
    if (unread.aborted) return EXIT.ok;
    throw error;
  }
}

/** Returns the terminal with lines of standard error that fit it: they are for people. */
export function fittingErrors(terminal: Terminal): Terminal {
  const { err, ask } = terminal;
  if (!err.isTerminal) return terminal;
  return {
    ...terminal,
    err: fitting(err),
    ...(ask === undefined ? {} : { ask: (question) => ask(fitText(question, err.columns)) }),
  };
}

/**
 * Returns the terminal with our own symbols of standard error spelled in ASCII where it cannot show them: it is for
 * people.
 */
export function showable(terminal: Terminal, env: ProcessSurroundings['env']): Terminal {
  if (speaksUtf8(env)) return terminal;
  return { ...terminal, err: writingTo(terminal.err, (text) => terminal.err.write(inAscii(text))) };
}

/** Spells symbols of standard output in ASCII too, and breaks long lines on a terminal, unless a program reads it. */
function asText(
  command: CommandUnknownOpts,
  { isData }: CommandDefinition,
  { terminal, env }: Surroundings,
): Pick<Surroundings, 'terminal'> {
  const format: unknown = command.opts()['output'] ?? 'text';
  if (isData === true || format !== 'text') return { terminal };
  const shown = speaksUtf8(env) ? (text: string) => text : inAscii;
  const out = fitting(terminal.out);
  const write = (text: string): void => out.write(withoutCommands(shown(text), env));
  return { terminal: { ...terminal, out: writingTo(terminal.out, write) } };
}

/** Adds the settings that flags and variables override, for a command that reads the operator's configuration. */
async function withOverrides(command: CommandUnknownOpts, surroundings: Surroundings): Promise<Surroundings> {
  const { env } = surroundings;
  if (!command.options.some(({ long }) => long === '--set')) return surroundings;
  const flags = (command.opts()['set'] ?? []) as readonly string[];
  if (flags.length === 0 && !Object.keys(env).some((name) => name.startsWith('PORTOLAN_SET_'))) return surroundings;
  const { readOverrides } = await import('../../configuration/overrides.ts');
  return { ...surroundings, overrides: readOverrides(flags, env) };
}
