import { readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { availableParallelism, loadavg } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { startClients } from '../bench/clients.ts';
import { FILES, until, web } from '../processes/place.ts';
import { commit, git } from '../source/repositories.ts';
import { daemonUnderAttack, SECRETS } from './api.ts';
import { assault } from './assault.ts';
import { faultyFlood, largeFiles, treeBomb } from './floods.ts';
import { memoryGroup } from './memory-group.ts';
import { startProber } from './prober.ts';

/** What a container of the daemon may have at least. */
const MEMORY_MIB = 512;
/** Of the main heap, so that the rest of the process fits, too: its threads, its buffers, the program. */
const HEAP_MIB = 256;
/** A probe of liveness fails after this, on a machine that has a core for the daemon. */
const HEALTHY_MS = 1_000;
const SEED = 1_024;
const REQUESTS = 10_000;

type Daemon = Awaited<ReturnType<typeof daemonUnderAttack>>;

async function sourceError(daemon: Daemon): Promise<string | undefined> {
  const { source } = (await daemon.ask('/api/v1/status')) as { source: { error: { code: string } | null } };
  return source.error?.code;
}

/** A commit that the daemon refuses, and then the one before again. */
async function refusedCommit(daemon: Daemon, make: () => string): Promise<string> {
  const good = git(daemon.checkout, 'rev-parse', 'HEAD').trim();
  git(daemon.checkout, 'update-ref', 'HEAD', make());
  let code: string | undefined;
  await until(async () => (code = await sourceError(daemon)) !== undefined);
  git(daemon.checkout, 'reset', '--quiet', '--hard', good);
  await until(async () => (await sourceError(daemon)) === undefined);
  return code ?? '';
}

async function documents(daemon: Daemon): Promise<number> {
  return ((await daemon.ask('/api/v1/status')) as { source: { resources: number } }).source.resources;
}

/** A commit that the daemon accepts, and then the one before again. */
async function acceptedCommit(daemon: Daemon, files: Readonly<Record<string, string>>): Promise<void> {
  const good = git(daemon.checkout, 'rev-parse', 'HEAD').trim();
  const before = await documents(daemon);
  commit(daemon.checkout, files);
  await until(async () => (await documents(daemon)) > before);
  git(daemon.checkout, 'reset', '--quiet', '--hard', good);
  await until(async () => (await documents(daemon)) === before);
}

async function resume({ url }: Daemon): Promise<void> {
  const headers = { authorization: `Bearer ${SECRETS.tokens.operator}`, connection: 'close' };
  const response = await fetch(`${url}/api/v1/applications/shop/resume`, { method: 'POST', headers });
  expect(response.status).toBeLessThan(300);
}

/** Plans of a viewer, of as much as a body may have, as many at once as a client likes. */
async function largePlans(daemon: Daemon): Promise<readonly number[]> {
  const files = [...faultyFlood(8)].map(([path, content]) => ({ path, content }));
  const body = JSON.stringify({ files });
  const headers = { authorization: `Bearer ${SECRETS.tokens.viewer}`, 'content-type': 'application/json' };
  const answers = Array.from({ length: 8 }, async () => {
    const response = await fetch(`${daemon.url}/api/v1/plan`, { method: 'POST', headers, body }).catch(() => undefined);
    await response?.arrayBuffer().catch(() => undefined);
    return response?.status ?? 0;
  });
  return await Promise.all(answers);
}

/** Requests that never become whole; they stay until the test ends. */
function halfOpen(port: number, count: number): void {
  const webhook = 'POST /webhooks/my-generic HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{';
  const texts = ['GET /healthz HTTP/1.1\r\nHost: localhost\r\n', '', webhook];
  const sockets = Array.from({ length: count }, (_, at): Socket => {
    const socket = connect(port, '127.0.0.1', () => socket.write(texts[at % texts.length] ?? ''));
    return socket.on('error', () => {}); // It is closed to make room.
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
}

/** The log of the daemon without the requests of the prober and the scrapers, which are most of it. */
function withoutProbes(log: string): string {
  return log
    .split('\n')
    .filter((line) => !/"operation":"(?:getHealth|getMetrics|getStatus|getApplication)"/.test(line))
    .join('\n');
}

function peakMib(pid: number | undefined): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

test(`a daemon of ${MEMORY_MIB} MiB survives the whole corpus, and its probes are answered throughout`, async () => {
  const group = memoryGroup(MEMORY_MIB);
  const joining = group === undefined ? [] : [group.join];
  const daemon = await daemonUnderAttack([`--max-old-space-size=${HEAP_MIB}`, ...joining]);
  const prober = startProber(daemon.port);
  const peaks: Record<string, number> = { start: peakMib(daemon.child.pid) };
  const phase = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    prober.phase(name);
    const result = await work();
    peaks[name] = peakMib(daemon.child.pid);
    return result;
  };
  const { child } = daemon;
  const isUp = (): boolean => child.exitCode === null && child.signalCode === null;

  const bomb = await phase('tree bomb', () => refusedCommit(daemon, () => treeBomb(daemon.checkout)));
  expect(bomb).toMatch(/^source\//);
  const flood = await phase('faulty flood', () =>
    refusedCommit(daemon, () => commit(daemon.checkout, Object.fromEntries(faultyFlood()))),
  );
  expect(flood).toMatch(/^source\//);
  const beyond = await phase('documents beyond their limit', () =>
    refusedCommit(daemon, () => commit(daemon.checkout, largeFiles(41))),
  );
  expect(beyond).toBe('source/faulty');
  await phase('as many documents as are allowed', () => acceptedCommit(daemon, largeFiles(39)));
  const plans = await phase('large plans', () => largePlans(daemon));
  expect(plans.filter((status) => ![0, 413, 422, 503, 504].includes(status))).toEqual([]);
  await phase('half-open sockets', async () => {
    halfOpen(daemon.port, 1_024);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  });
  const clients = startClients({ url: `${daemon.url}/metrics`, token: SECRETS.tokens.viewer, clients: 10 });
  const { faults } = await phase('hostile requests beside ten scrapers', () => assault(daemon.port, SEED, REQUESTS));
  const { answers } = await clients.end();
  expect([...faults.values()].join('\n\n')).toBe('');

  // Some of the requests were commands of a role that may give them, and the last one may have suspended the application.
  await resume(daemon);
  const wrote = (): number => daemon.sandbox.requests().filter(({ isWrite }) => isWrite).length;
  const before = wrote();
  commit(daemon.checkout, { ...FILES, 'web.yaml': web('AFTER_ALL') });
  let standing: unknown;
  await phase('a commit after all', () =>
    until(
      async () => {
        standing = [await daemon.ask('/api/v1/status'), await daemon.ask('/api/v1/applications/shop')];
        return wrote() > before;
      },
      () => `${JSON.stringify(standing)}\n${withoutProbes(daemon.outputSoFar().err).slice(-10_000)}`,
    ),
  );
  const report = await prober.end();
  expect(isUp()).toBe(true);
  const peak = peakMib(child.pid);

  // The one input that it must not survive: `ledger-swaps.test.ts` has all kinds of it.
  const written = wrote();
  rmSync(daemon.ledger);
  commit(daemon.checkout, { ...FILES, 'web.yaml': web('AFTER_THE_LEDGER') });
  const { code, err } = await daemon.ended;
  expect(code, err.slice(-2_000)).toBe(4);
  expect(wrote()).toBe(written);

  const load = loadavg()[0] ?? 0;
  const bound =
    group === undefined
      ? 'no control group'
      : `control group of ${MEMORY_MIB} MiB, peak ${Math.round(group.peakMib())}`;
  console.log(
    `probes ${report.probes}, failed ${report.failed}, slowest ${report.slowestMs} ms (load ${load.toFixed(1)}); peak ${Math.round(peak)} MiB (${bound}); scrapes ${answers}\n${JSON.stringify({ slowestMs: report.slowestOfPhase, peakMib: peaks })}`,
  );
  expect(report.failed).toBe(0);
  // Where others use the cores, the daemon has only its share of them.
  expect(report.slowestMs).toBeLessThan(HEALTHY_MS * Math.max(1, load / availableParallelism()));
  expect(peak).toBeLessThan(MEMORY_MIB);
});
