import { expect, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import type { OpenThread } from '../../src/runtime/thread.ts';
import { collectingTerminal, runHere } from './running.ts';

export interface DaemonHere {
  readonly url: string;
  log(): string;
  /** As SIGTERM does. Resolves with the exit code. */
  stop(): Promise<number>;
}

/**
 * `portolan run` in this process, once its API listens; it ends with the test at the latest.
 * @param args after `run`.
 * @param openThread default: the source is read in this thread.
 */
export async function startDaemonHere(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  clock: Clock = systemClock,
  openThread?: OpenThread,
): Promise<DaemonHere> {
  const abort = new AbortController();
  const { terminal, text } = collectingTerminal();
  const ended = runHere(['run', ...args], {
    terminal,
    env,
    clock,
    signal: abort.signal,
    ...(openThread && { openThread }),
  });
  const stop = async (): Promise<number> => {
    abort.abort();
    return (await ended).code;
  };
  onTestFinished(async () => void (await stop()));
  await expect.poll(() => text.err).toMatch(/listening +url=\S+/);
  const [, url = ''] = /listening +url=(\S+)/.exec(text.err) ?? [];
  return { url, log: () => text.err, stop };
}
