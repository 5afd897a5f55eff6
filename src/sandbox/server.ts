import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PortolanError } from '../model/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { crashed, frameworkError } from './answers.ts';
import { answerControl, isControlPath } from './control.ts';
import { type Keeper, keepInDirectory, keepInMemory } from './durable.ts';
import { changedAnswer, changeState, isStateFault } from './fault-effects.ts';
import { type ServerFault, FaultPlan, type FaultRule } from './faults.ts';
import { handle, isWriteMethod, type Handled, responseTo } from './handle.ts';
import { type LoggedRequest, RequestLog } from './request-log.ts';
import { matchRoute } from './routes.ts';
import { type Seed, stateOf } from './seed.ts';
import { demoSeed } from './seeds/demo.ts';
import type { SandboxState } from './state.ts';
import type { Change } from './table.ts';
import type { Dialect, SandboxContext, SandboxRequest, SandboxResponse } from './wire.ts';

/** The default token of a sandbox. It is not a secret: it gives access to a sandbox only. */
export const SANDBOX_TOKEN = 'sandbox-token';

/** The token of a user without rights in the enterprise, which a sandbox accepts beside the one of an administrator. */
export function plainTokenOf(token: string): string {
  return token.endsWith('-admin') ? `${token.slice(0, -'-admin'.length)}-plain` : `${token}-plain`;
}

export interface SandboxOptions {
  readonly clock: Clock;
  /** Ids and the chance of faults. */
  readonly random: Random;
  /** Default 0: any free port. */
  readonly port?: number;
  /** The store of the state; without one it is in memory only. */
  readonly dataDir?: string;
  /** Checked already. Default: the demo. A data directory that has a state ignores it. */
  readonly seed?: Seed;
  /** Default `extended`. */
  readonly dialect?: Dialect;
  /** Default `SANDBOX_TOKEN`; null accepts every request. */
  readonly token?: string | null;
  /** Before every answer of the API. Default 0. */
  readonly latencyMs?: number;
  readonly faults?: readonly FaultRule[];
  readonly log?: Log;
  /** Called with each request of the API once all of it has arrived, before it has any effect. */
  readonly onRequest?: (request: SandboxRequest) => void;
}

/** A running sandbox. */
export interface Sandbox {
  /** `http://127.0.0.1:<port>`, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  readonly dialect: Dialect;
  /** The live state. Look, and change it only through `alter`. */
  readonly state: SandboxState;
  /** Changes the state durably without a request: a change by another writer, or a region that goes into maintenance. */
  alter(change: (state: SandboxState) => void): void;
  /** Requests of the API so far, oldest first; those of the control paths are not in it. */
  requests(): readonly LoggedRequest[];
  clearRequests(): void;
  setFaults(rules: readonly FaultRule[]): void;
  faults(): ReturnType<FaultPlan['report']>;
  /** Closes every connection and the database. */
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 2_621_440; // as the framework of the real server has it
const VERSIONS_KEPT = 16;
const HOST = '127.0.0.1';

/**
 * Starts the platform's API as a server of our own, on loopback.
 * @throws PortolanError when the port is taken or the data directory cannot be used.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { dataDir, seed = demoSeed } = options;
  const keeper = dataDir === undefined ? keepInMemory(stateOf(seed)) : keepInDirectory(dataDir, () => stateOf(seed));
  const desk = new Desk(options, keeper);
  const server = createServer((request, response) => void desk.serve(request, response));
  try {
    await listen(server, options.port ?? 0);
  } catch (error) {
    keeper.close();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${port}`,
    port,
    dialect: desk.dialect,
    state: keeper.state,
    alter: (change) => desk.alter(change),
    requests: () => desk.log.entries(),
    clearRequests: () => desk.log.clear(),
    setFaults: (rules) => desk.plan.replace(rules),
    faults: () => desk.plan.report(),
    close: () => closeAll(server, desk, keeper),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new PortolanError({
          code: 'sandbox/cannot-listen',
          disposition: 'give-up',
          message: `the sandbox cannot listen on ${HOST}:${port} (${cause.code ?? cause.message}); it was not started`,
          remedy: 'Choose another port, or 0 for any free one.',
          cause,
        }),
      );
    });
    server.listen(port, HOST, resolve);
  });
}

async function closeAll(server: Server, desk: Desk, keeper: Keeper): Promise<void> {
  if (!server.listening) return;
  desk.stop.abort(new Error('the sandbox is closing'));
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
  await desk.idle();
  keeper.close();
}

/** The parts between the sockets and `handle`: faults, versions, durability, the log. */
class Desk {
  readonly dialect: Dialect;
  readonly plan: FaultPlan;
  readonly log = new RequestLog();
  readonly stop = new AbortController();
  readonly #options: SandboxOptions;
  readonly #keeper: Keeper;
  readonly #inFlight = new Set<Promise<void>>();
  /** Changes of the latest writes, oldest first. */
  #versions: readonly (readonly Change[])[] = [];

  constructor(options: SandboxOptions, keeper: Keeper) {
    this.#options = options;
    this.#keeper = keeper;
    this.dialect = options.dialect ?? 'extended';
    this.plan = new FaultPlan(options.faults ?? []);
  }

  get state(): SandboxState {
    return this.#keeper.state;
  }

  /** Never rejects: what goes wrong is answered, or the connection ends. */
  serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const work = this.#serve(message, response).catch((error: unknown) => {
      this.#options.log?.error('sandbox: a request was not answered', { reason: String(error) });
      response.destroy();
    });
    this.#inFlight.add(work);
    return work.finally(() => this.#inFlight.delete(work));
  }

  async idle(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
  }

  alter(change: (state: SandboxState) => void): void {
    this.state.takeChanges();
    change(this.state);
    this.#keep(this.state.takeChanges());
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(message);
    if (request === undefined)
      return send(response, responseTo(frameworkError(413, 'body too large', 'RequestTooLarge')));
    if (isControlPath(request.path)) return send(response, answerControl(this, request));
    this.#options.onRequest?.(request);
    const match = matchRoute(this.dialect, request.method, request.path);
    const operation = match.type === 'route' ? match.route.operation : 'unknown';
    const facts = { operation, method: request.method, path: request.path };
    const fault = this.plan.next(facts, () => this.#options.random.next());
    if (this.#options.latencyMs) await this.#sleep(this.#options.latencyMs);
    await this.#answer(request, response, operation, fault);
  }

  async #answer(
    request: SandboxRequest,
    response: ServerResponse,
    operation: string,
    fault: ServerFault | undefined,
  ): Promise<void> {
    if (fault?.type === 'delay' && fault.when !== 'after') await this.#sleep(fault.ms);
    if (isStateFault(fault)) this.alter((state) => changeState(state, fault, this.dialect, request));
    const outcome = isStopped(fault) ? undefined : this.#handle(request, fault);
    if (fault?.type === 'delay' && fault.when === 'after') await this.#sleep(fault.ms);
    const answer = faultyAnswer(request, outcome?.response, fault);
    this.#record({
      method: request.method,
      path: request.path,
      operation,
      status: answer?.status ?? null,
      isWrite: isWriteMethod(request.method),
      effectApplied: outcome?.effectApplied ?? false,
      fault: fault?.type ?? null,
      atMs: this.#options.clock.now(),
    });
    if (answer === undefined) response.socket?.resetAndDestroy();
    else if (fault?.type === 'truncate') await sendPart(response, answer, fault.share ?? 0.5);
    else await send(response, answer);
  }

  /** A write is committed before its answer exists; where that fails it did not happen, in memory either. */
  #handle(request: SandboxRequest, fault: ServerFault | undefined): Handled {
    if (fault?.type === 'stale' && request.method === 'GET') return this.#handleStale(request, fault.versions);
    const context = this.#context(fault?.type === 'race');
    try {
      const outcome = handle(this.state, request, context);
      this.#keep(outcome.changes);
      return outcome;
    } catch (error) {
      this.state.revert(this.state.takeChanges());
      this.#options.log?.error('sandbox: a request failed and changed nothing', {
        path: request.path,
        reason: String(error),
      });
      const response = responseTo(crashed(error instanceof Error ? error.message : String(error), 'InternalError'));
      return {
        response,
        operation: 'unknown',
        isWrite: isWriteMethod(request.method),
        effectApplied: false,
        changes: [],
      };
    }
  }

  #handleStale(request: SandboxRequest, versions: number): Handled {
    const undone = this.#versions.slice(-versions);
    for (const changes of undone.toReversed()) this.state.revert(changes);
    try {
      return handle(this.state, request, this.#context(false));
    } finally {
      for (const changes of undone) this.state.reapply(changes);
    }
  }

  #keep(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    try {
      this.#keeper.save(changes);
    } catch (error) {
      this.state.revert(changes);
      throw error;
    }
    this.#versions = [...this.#versions, changes].slice(-VERSIONS_KEPT);
  }

  #context(race: boolean): SandboxContext {
    const { clock, random, token = SANDBOX_TOKEN } = this.#options;
    const plainToken = token === null ? null : plainTokenOf(token);
    return { nowMs: clock.now(), newId: () => random.hex(16), dialect: this.dialect, token, plainToken, race };
  }

  #record(entry: Omit<LoggedRequest, 'seq'>): void {
    this.log.add(entry);
    const { method, path, operation, status, fault } = entry;
    this.#options.log?.debug('sandbox: request', { method, path, operation, status: status ?? 0, fault: fault ?? '' });
  }

  async #sleep(ms: number): Promise<void> {
    await this.#options.clock.sleep(ms, this.stop.signal);
  }
}

/** The fault takes the request before it reaches the platform. */
function isStopped(fault: ServerFault | undefined): boolean {
  return (
    ((fault?.type === 'status' || fault?.type === 'drop') && fault.when === 'before') || fault?.type === 'redirect'
  );
}

/** Returns the answer to send; undefined: none, and the connection ends. */
function faultyAnswer(
  request: SandboxRequest,
  answer: SandboxResponse | undefined,
  fault: ServerFault | undefined,
): SandboxResponse | undefined {
  if (fault?.type === 'drop') return undefined;
  if (fault?.type === 'redirect') {
    const location = fault.location ?? `/redirected${request.path}`;
    return { status: fault.status ?? 307, headers: { location }, body: '' };
  }
  if (fault?.type !== 'status') return answer === undefined ? undefined : changedAnswer(fault, answer);
  const { body = { msg: 'injected fault' }, retryAfter } = fault;
  const isText = typeof body === 'string';
  const headers = { 'content-type': fault.contentType ?? (isText ? 'text/html' : 'application/json') };
  return {
    status: fault.status,
    headers: retryAfter === undefined ? headers : { ...headers, 'retry-after': retryAfter },
    body: isText ? body : JSON.stringify(body),
  };
}

/** undefined: the body is larger than is read. */
async function readRequest(incoming: IncomingMessage): Promise<SandboxRequest | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  const [path = '/', query = ''] = (incoming.url ?? '/').split(/\?(.*)/s, 2);
  const headers = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value[0] : value,
  ]);
  return {
    method: incoming.method ?? 'GET',
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    headers: Object.fromEntries(headers) as SandboxRequest['headers'],
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

function send(response: ServerResponse, answer: SandboxResponse): Promise<void> {
  // A client that died meanwhile hears nothing, and its connection will not close a second time.
  if (response.closed || response.destroyed || response.socket?.destroyed !== false) return Promise.resolve();
  const bytes = Buffer.from(answer.body, 'utf8');
  response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
  return new Promise((resolve) => {
    response.once('close', resolve);
    response.end(bytes, () => resolve());
  });
}

/** Promises the whole length, sends a part and ends the connection. */
function sendPart(response: ServerResponse, answer: SandboxResponse, share: number): Promise<void> {
  const bytes = Buffer.from(answer.body, 'utf8');
  response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
  return new Promise((resolve) => {
    response.once('close', resolve);
    response.write(bytes.subarray(0, Math.floor(bytes.length * share)), () => response.socket?.end());
  });
}
