/**
 * The entry point of the thread that reads and parses sources, so that the daemon keeps its memory and its time. The thread
 * gets no environment and no arguments: only paths of files, and the variables of manifests.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { kindDeclarations } from './configuration/declarations.ts';
import { systemClock } from './runtime/clock.ts';
import type { Question } from './source/thread-messages.ts';
import { serveWorkbench } from './source/thread-server.ts';

const { path } = workerData as { readonly path: string | undefined };
const answer = serveWorkbench({
  kinds: kindDeclarations,
  clock: systemClock,
  path,
  reply: (reply) => parentPort?.postMessage(reply),
});
parentPort?.on('message', (question: Question) => void answer(question));
