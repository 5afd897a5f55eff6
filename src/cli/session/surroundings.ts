import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { CommandDefinition, ProcessSurroundings, Surroundings } from './command.ts';
import { inAscii, speaksUtf8 } from '../terminal/drawing/glyphs.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { withoutCommands } from '../terminal/guarded.ts';
import { type Terminal, writingTo } from '../terminal/terminal.ts';

/** What a command gets of what is around the program, once its options are known. */
export async function surroundingsOf(
  command: CommandUnknownOpts,
  definition: CommandDefinition,
  surroundings: Surroundings,
): Promise<Surroundings> {
  const overridden = await withOverrides(command, surroundings);
  const declarations = await surroundings.kinds.declared();
  const all = { ...overridden, declarations, ...asText(command, definition, surroundings) };
  const { unread: _, ...unbroken } = all;
  // What changes something is not broken off because its report is read no further.
  return definition.goesOn === true ? all : unbroken;
}

/** Runs a command until it ends, or until nobody reads what it shows: that is a good end, as of every `| head`. */
export async function whileRead(
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

/** Standard error is for people: where they cannot see it, our own signs are spelled in ASCII. */
export function showable(terminal: Terminal, env: ProcessSurroundings['env']): Terminal {
  if (speaksUtf8(env)) return terminal;
  return { ...terminal, err: writingTo(terminal.err, (text) => terminal.err.write(inAscii(text))) };
}

/** So is standard output, unless a program is to read it. */
function asText(
  command: CommandUnknownOpts,
  { isData }: CommandDefinition,
  { terminal, env }: Surroundings,
): Pick<Surroundings, 'terminal'> {
  const format: unknown = command.opts()['output'] ?? 'text';
  if (isData === true || format !== 'text') return { terminal };
  const shown = speaksUtf8(env) ? (text: string) => text : inAscii;
  const write = (text: string): void => terminal.out.write(withoutCommands(shown(text), env));
  return { terminal: { ...terminal, out: writingTo(terminal.out, write) } };
}

/** Settings that flags and variables give, for a command that reads the operator's configuration. */
async function withOverrides(command: CommandUnknownOpts, surroundings: Surroundings): Promise<Surroundings> {
  const { env } = surroundings;
  if (!command.options.some(({ long }) => long === '--set')) return surroundings;
  const flags = (command.opts()['set'] ?? []) as readonly string[];
  if (flags.length === 0 && !Object.keys(env).some((name) => name.startsWith('PORTOLAN_SET_'))) return surroundings;
  const { readOverrides } = await import('../../configuration/overrides.ts');
  return { ...surroundings, overrides: readOverrides(flags, env) };
}
