/**
 * Clients that ask for the same address all the time, each for the next answer when it has read the last one. A thread of its own,
 * so that the bench measures the server and not its own clients.
 */
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';

interface Asked {
  readonly url: string;
  readonly token: string;
  readonly clients: number;
}

/** How the clients did until they were ended. */
export interface ClientsReport {
  readonly answers: number;
  readonly bytes: number;
  /** A server that did nothing for seconds takes a kept connection for an idle one and closes it, for example. */
  readonly failures: number;
  /** The longest time from a request to the end of its answer. */
  readonly slowestMs: number;
}

export interface Clients {
  /** Resolves with the first answer. */
  readonly firstAnswer: Promise<void>;
  end(): Promise<ClientsReport>;
}

export function startClients(asked: Asked): Clients {
  const worker = new Worker(new URL(import.meta.url), { workerData: asked });
  const firstAnswer = once(worker, 'message').then(() => {});
  return {
    firstAnswer,
    end: async () => {
      await firstAnswer;
      worker.postMessage('end');
      const [report] = (await once(worker, 'message')) as [ClientsReport];
      await worker.terminate();
      return report;
    },
  };
}

if (parentPort !== null && workerData !== null) {
  const { url, token, clients } = workerData as Asked;
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const report = { answers: 0, bytes: 0, failures: 0, slowestMs: 0 };
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const beganMs = performance.now();
      get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
        response.on('data', (data: Buffer) => (report.bytes += data.length));
        response.once('error', reject);
        response.once('end', () => {
          if (response.statusCode !== 200) return reject(new Error(`${url} answered ${response.statusCode}`));
          report.answers += 1;
          if (report.answers === 1) parentPort?.postMessage('the first answer');
          report.slowestMs = Math.max(report.slowestMs, performance.now() - beganMs);
          resolve();
        });
      }).once('error', reject);
    });
  const askAlways = async (): Promise<never> => {
    for (;;)
      await ask().catch(async () => {
        report.failures += 1;
        await sleep(50);
      });
  };
  for (let client = 0; client < clients; client += 1) void askAlways();
  parentPort.once('message', () => parentPort?.postMessage(report));
}
