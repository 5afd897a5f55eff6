/** Facts beside a log line. Secrets have no business here. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Progress and diagnostics, on stderr. Results never go here. */
export type Log = Readonly<Record<'debug' | 'info' | 'warn' | 'error', (message: string, fields?: LogFields) => void>>;

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
