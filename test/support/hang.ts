/**
 * How long a test waits, in real time, for something that is sure to come. It detects a hang and nothing else: a busy
 * machine may take minutes for what takes milliseconds on an idle one.
 */
export const HANG_MS = 300_000;
