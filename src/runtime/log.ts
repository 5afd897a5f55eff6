/** Facts beside a log line. Secrets have no business here. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Progress and diagnostics, on stderr. Results never go here. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * A log whose every line bears these facts, such as the scope and the revision that work is about.
 * @param facts undefined ones are left out; those of a line go before them.
 */
export function withFields(log: Log, facts: LogFields): Log {
  return {
    debug: (message, fields) => log.debug(message, { ...facts, ...fields }),
    info: (message, fields) => log.info(message, { ...facts, ...fields }),
    warn: (message, fields) => log.warn(message, { ...facts, ...fields }),
    error: (message, fields) => log.error(message, { ...facts, ...fields }),
  };
}
