/** Asks a server for its health four times a second, as the probes of an orchestrator do: a thread of its own, that nothing here delays. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';

const PROBE_EVERY_MS = 250;
/** A probe that takes longer is not answered. */
const GIVE_UP_MS = 60_000;

export interface ProbeReport {
  readonly probes: number;
  /** Without an answer, or with another than 200. */
  readonly failed: number;
  readonly slowestMs: number;
  /** The slowest answer in each phase. */
  readonly slowestOfPhase: Readonly<Record<string, number>>;
}

export interface Prober {
  /** What is done from now on, for the report. */
  phase(name: string): void;
  end(): Promise<ProbeReport>;
}

export function startProber(port: number): Prober {
  const worker = new Worker(new URL(import.meta.url), { workerData: port });
  return {
    phase: (name) => worker.postMessage({ phase: name }),
    end: async () => {
      worker.postMessage({ phase: undefined });
      const [report] = (await once(worker, 'message')) as [ProbeReport];
      await worker.terminate();
      return report;
    },
  };
}

function probe(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    );
    const giveUp = setTimeout(() => socket.destroy(), GIVE_UP_MS);
    socket.on('data', (data: Buffer) => (text += data.toString('latin1')));
    socket.on('error', () => {}); // It then has no answer.
    socket.on('close', () => {
      clearTimeout(giveUp);
      resolve(text.startsWith('HTTP/1.1 200'));
    });
  });
}

if (parentPort !== null && typeof workerData === 'number') {
  const port: number = workerData;
  const slowestOfPhase: Record<string, number> = {};
  let phase: string | undefined = 'start';
  let probes = 0;
  let failed = 0;
  parentPort.on('message', (message: { phase: string | undefined }) => (phase = message.phase));
  const under = new Set<Promise<void>>();
  const ask = async (name: string): Promise<void> => {
    probes += 1;
    const beganMs = performance.now();
    if (!(await probe(port))) failed += 1;
    slowestOfPhase[name] = Math.max(slowestOfPhase[name] ?? 0, Math.round(performance.now() - beganMs));
  };
  while (phase !== undefined) {
    const asked: Promise<void> = ask(phase).finally(() => under.delete(asked));
    under.add(asked);
    await sleep(PROBE_EVERY_MS);
  }
  await Promise.all(under);
  parentPort.postMessage({ probes, failed, slowestMs: Math.max(...Object.values(slowestOfPhase)), slowestOfPhase });
}
