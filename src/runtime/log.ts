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
