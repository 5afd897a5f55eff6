import type { Clock } from './clock.ts';
import type { Log, LogFields } from './log.ts';

/** The log levels, from the most to the least verbose. `silent` logs nothing. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Returns a log for people: `warn  retrying in 200 ms  operation=regions attempt=1`.
 * @param write takes one line with its line feed.
 * @param clock gives each line its time (RFC 3339); undefined: lines have no time.
 */
export function createTextLog(level: LogLevel, write: (line: string) => void, clock?: Clock): Log {
  const least = LOG_LEVELS.indexOf(level);
  const at =
    (name: Exclude<LogLevel, 'silent'>) =>
    (message: string, fields: LogFields = {}): void => {
      if (LOG_LEVELS.indexOf(name) < least) return;
      const facts = Object.entries(fields).flatMap(([key, value]) =>
        value === undefined ? [] : [`${key}=${quoted(value)}`],
      );
      const time = clock === undefined ? '' : `${new Date(clock.now()).toISOString()} `;
      write(`${time}${[name.padEnd(5), oneLine(message), facts.join(' ')].filter((part) => part !== '').join('  ')}\n`);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function quoted(value: string | number | boolean): string {
  const text = String(value);
  return /^[^\s"=\p{C}]+$/u.test(text) ? text : oneLine(JSON.stringify(text));
}

/** Returns a message on one line: it may quote a server, which may send line feeds and escape sequences. */
function oneLine(text: string): string {
  return text.replace(/\p{C}/gu, (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}
