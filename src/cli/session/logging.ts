import type { Log } from '../../runtime/log.ts';
import { createTextLog, type LogLevel } from '../../runtime/text-log.ts';
import type { Surroundings } from './command.ts';

export interface LogOptions {
  readonly logLevel: LogLevel;
  readonly logFormat: 'text' | 'json';
}

/** Creates the log of a command, on stderr. Loads the packages for JSON only when they are needed. */
export async function createLog(options: LogOptions, { terminal, clock }: Surroundings): Promise<Log> {
  const write = (line: string): void => terminal.err.write(line);
  if (options.logFormat === 'text') return createTextLog(options.logLevel, write);
  const { createJsonLog } = await import('../../runtime/json-log.ts');
  return createJsonLog(options.logLevel, clock, write);
}
