import { pino } from 'pino';
import type { Clock } from './clock.ts';
import type { Log, LogFields } from './log.ts';
import type { LogLevel } from './text-log.ts';

/**
 * Returns a log for programs: one JSON object per line with `time` (RFC 3339), `level` and `msg`.
 * @param write takes one line with its line feed.
 */
export function createJsonLog(level: LogLevel, clock: Clock, write: (line: string) => void): Log {
  const logger = pino(
    {
      level,
      // No pid and host name: the log collector knows them, and they would make two equal runs differ.
      base: null,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  return {
    debug: (message: string, fields: LogFields = {}) => logger.debug(fields, message),
    info: (message: string, fields: LogFields = {}) => logger.info(fields, message),
    warn: (message: string, fields: LogFields = {}) => logger.warn(fields, message),
    error: (message: string, fields: LogFields = {}) => logger.error(fields, message),
  };
}
