import type { Log } from '../../runtime/log.ts';
import { createTextLog, type LogLevel } from '../../runtime/text-log.ts';
import { unbroken } from '../terminal/fitting.ts';
import type { Surroundings } from './command.ts';

export interface LogOptions {
  readonly logLevel: LogLevel;
  readonly logFormat: 'text' | 'json';
}

/**
 * Creates the log of a command, on stderr. Loads the packages for JSON only when they are needed.
 * @param isTimed lines of text have a time. Those of JSON always do.
 */
export async function createLog(options: LogOptions, { terminal, clock }: Surroundings, isTimed = false): Promise<Log> {
  const write = (line: string): void => unbroken(terminal.err).write(line);
  if (options.logFormat === 'text') return createTextLog(options.logLevel, write, isTimed ? clock : undefined);
  const { createJsonLog } = await import('../../runtime/json-log.ts');
  return createJsonLog(options.logLevel, clock, write);
}
