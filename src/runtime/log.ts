/** Fields of a log line. They must hold no secret. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Writes progress and diagnostics to stderr. Results never go here. */
export type Log = Readonly<Record<'debug' | 'info' | 'warn' | 'error', (message: string, fields?: LogFields) => void>>;

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
