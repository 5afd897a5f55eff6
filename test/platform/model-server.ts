import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import { createRequestBudget } from '../../src/platform/budget.ts';
import { seededRandom, VirtualClock } from '../support/virtual-clock.ts';

/** A server as queueing theory sees it. */
export interface ServerModel {
  /** An answer takes this long while nobody else asks. */
  readonly serviceMs: number;
  /** Answers a second, at most. */
  readonly perSecond: number;
  /** Standard deviation of the service time as a share of it; 0 for equal answers. */
  readonly spread?: number;
  /** From so many requests inside of it on, each one more costs this share of the capacity. */
  readonly thrashing?: { readonly from: number; readonly share: number };
}

export interface ModelServer {
  /** Takes as long as the server does; `slower` multiplies the service time, not the share of the capacity. */
  answer(slower?: number): Promise<void>;
  /** From now on. */
  change(model: Partial<ServerModel>): void;
}

/** Requests begin one by one at the rate of the capacity, in the order of asking, and take `serviceMs` from there on. */
export function modelServer(initial: ServerModel, clock: Clock, random: Random): ModelServer {
  let model = initial;
  let nextMs = Number.NEGATIVE_INFINITY;
  let inside = 0;
  return {
    change: (changed) => {
      model = { ...model, ...changed };
    },
    answer: async (slower = 1) => {
      inside += 1;
      const { serviceMs, perSecond, spread = 0, thrashing } = model;
      const crowd = thrashing === undefined ? 0 : Math.max(0, inside - thrashing.from) * thrashing.share;
      const nowMs = clock.monotonic();
      const beginsMs = Math.max(nowMs, nextMs);
      nextMs = beginsMs + (1000 / perSecond) * (1 + crowd) * around1(spread, random);
      await clock.sleep(beginsMs - nowMs + serviceMs * slower * around1(spread, random));
      inside -= 1;
    },
  };
}

/** Mean 1 and, for small spreads, this standard deviation; never below a fifth. */
function around1(spread: number, random: Random): number {
  if (spread === 0) return 1;
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return Math.max(0.2, 1 + spread * normal);
}

export interface Load {
  readonly server: ServerModel;
  readonly clients: number;
  readonly forMs: number;
  /** A fixed number at once in place of an adaptive one. */
  readonly fixed?: number;
  readonly concurrencyMax?: number;
  readonly seed?: number;
  /** Which operation a client asks for, and how much longer than others it takes. */
  readonly operation?: (random: Random) => { readonly operation: string; readonly slower: number };
  /** Requests of other clients that never get an answer before their time is up, over and over. */
  readonly hanging?: { readonly clients: number; readonly timeoutMs: number };
  readonly during?: (world: { readonly clock: Clock; readonly server: ModelServer }) => Promise<void>;
}

export interface Answered {
  readonly sentMs: number;
  readonly tookMs: number;
  readonly operation: string;
}

export interface LoadResult {
  readonly answers: readonly Answered[];
  /** The limit, sampled every 100 ms. */
  readonly limits: readonly { readonly atMs: number; readonly limit: number }[];
  /** Answers a second within a stretch of time. */
  perSecond(fromMs: number, toMs: number): number;
  /** Of the time between sending and answer. */
  quantileMs(share: number, fromMs?: number, toMs?: number): number;
}

/** Clients that ask again as soon as they are answered, for a stretch of virtual time. */
export async function load(options: Load): Promise<LoadResult> {
  const { clients, forMs, fixed, concurrencyMax = 64 } = options;
  const clock = new VirtualClock(0);
  const random = seededRandom(options.seed ?? 1);
  const server = modelServer(options.server, clock, random);
  const budget = createRequestBudget({ concurrency: fixed ?? concurrencyMax, requestsPerSecond: 100_000 }, clock);
  const gate = fixed === undefined ? budget : fixedGate(fixed);
  const answers: Answered[] = [];
  const limits: { atMs: number; limit: number }[] = [];
  const stop = new AbortController();
  const client = async (): Promise<void> => {
    while (clock.monotonic() < forMs) {
      const { operation, slower } = options.operation?.(random) ?? { operation: 'getApplication', slower: 1 };
      const done = await gate.take(stop.signal);
      const sentMs = clock.monotonic();
      await server.answer(slower);
      done({ operation, isInTime: true });
      answers.push({ sentMs, tookMs: clock.monotonic() - sentMs, operation });
    }
  };
  const hangingClient = async (timeoutMs: number): Promise<void> => {
    while (clock.monotonic() < forMs) {
      const done = await gate.take(stop.signal);
      await clock.sleep(timeoutMs);
      done({ operation: 'getApplication', isInTime: false });
    }
  };
  const sampler = async (): Promise<void> => {
    for (let atMs = 0; atMs < forMs; atMs += 100) {
      limits.push({ atMs, limit: fixed ?? budget.state().concurrency });
      await clock.sleep(100);
    }
    stop.abort(new Error('over'));
  };
  const { hanging = { clients: 0, timeoutMs: 0 } } = options;
  const all = [
    ...Array.from({ length: hanging.clients }, () => hangingClient(hanging.timeoutMs)),
    ...Array.from({ length: clients }, client),
    ...(options.during === undefined ? [] : [options.during({ clock, server })]),
  ];
  await sampler();
  await Promise.allSettled(all);
  return {
    answers,
    limits,
    perSecond: (fromMs, toMs) => {
      const ended = answers.filter(({ sentMs, tookMs }) => sentMs + tookMs >= fromMs && sentMs + tookMs < toMs);
      return (ended.length * 1000) / (toMs - fromMs);
    },
    quantileMs: (share, fromMs = 0, toMs = forMs) => {
      const took = answers.filter(({ sentMs }) => sentMs >= fromMs && sentMs < toMs).map(({ tookMs }) => tookMs);
      took.sort((left, right) => left - right);
      return took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Number.NaN;
    },
  };
}

/** So many at once, whatever the server does: what others do, to compare with. */
function fixedGate(places: number) {
  let free = places;
  const waiting: (() => void)[] = [];
  return {
    take: async (signal?: AbortSignal) => {
      if (free > 0) free -= 1;
      else
        await new Promise<void>((resolve, reject) => {
          waiting.push(resolve);
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      return (_answer?: unknown): void => {
        const next = waiting.shift();
        if (next === undefined) free += 1;
        else next();
      };
    },
  };
}
