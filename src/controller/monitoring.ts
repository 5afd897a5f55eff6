import PQueue from 'p-queue';
import { PortolanError } from '../model/errors.ts';
import { parseScopeKey, type ResourceId, type ScopeKey } from '../model/ids.ts';
import type { TimeWindow } from '../model/series.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import type { PlatformClient } from '../platform/client.ts';
import { type Monitoring, readMonitoring } from '../platform/monitoring.ts';
import { Allowance } from '../runtime/allowance.ts';
import type { Clock } from '../runtime/clock.ts';
import type { MonitoringReading } from './api.ts';
import type { Core } from './core.ts';
import type { AppRecord } from './ledger-records.ts';

/** Viewers within this time share one answer. */
const REUSE_MS = 10_000;
/** Answers that are kept; each may have some hundred thousand samples. */
const ANSWERS_MAX = 16;
const AT_ONCE = 2;
const WAITING_MAX = 8;
/** Share of the platform's request budget that viewers may use in the long run. */
const SHARE = 0.1;
/** Requests that viewers may cause at once. Forty components need four. */
const BURST = 40;

interface Kept {
  readonly askedMs: MonotonicMs;
  readonly answer: Promise<MonitoringReading>;
}

/**
 * Returns the read of monitoring history for viewers. They share answers, and a small part of the request budget, so that
 * they cannot delay reconciliation. A region whose circuit breaker is open gets no requests.
 */
export function createMonitoringReads(core: Core) {
  const { clock } = core.options;
  const turns = new PQueue({ concurrency: AT_ONCE });
  const limited = limitedClients(clock);
  const kept = new Map<string, Kept>();

  const read = async (record: AppRecord, scope: ScopeKey, window: TimeWindow): Promise<MonitoringReading> => {
    requireOpenRegion(core, record);
    if (turns.size >= WAITING_MAX) throw tooMany();
    const { startSeconds: start, endSeconds: end, stepSeconds } = window;
    const place = parseScopeKey(scope);
    if (place === undefined) throw new Error(`not the key of a scope: ${scope}`);
    const client = limited(core.configuration.client(place.platform));
    const ask = (): Promise<Monitoring> => readMonitoring(client, place, { start, end, stepSeconds });
    const readMs: EpochMs = clock.now();
    return { scope, readMs, ...(await turns.add(ask)) };
  };

  return async (id: ResourceId, record: AppRecord, window: TimeWindow): Promise<MonitoringReading> => {
    const { scope } = record.status;
    if (scope === null) throw unresolved(id);
    const nowMs = clock.monotonic();
    for (const [key, { askedMs }] of kept) if (nowMs - askedMs > REUSE_MS) kept.delete(key);
    const key = `${scope} ${window.startSeconds} ${window.endSeconds} ${window.stepSeconds}`;
    const known = kept.get(key);
    if (known !== undefined) return known.answer;
    const answer = read(record, scope, window);
    kept.set(key, { askedMs: nowMs, answer });
    // A failure is not reused.
    answer.catch(() => kept.delete(key));
    const [oldest] = kept.keys();
    if (kept.size > ANSWERS_MAX && oldest !== undefined) kept.delete(oldest);
    return answer;
  };
}

/** Returns a function that limits a client to the part of the budget that viewers may use. */
function limitedClients(clock: Clock): (client: PlatformClient) => PlatformClient {
  // A client remembers what the server lacks, so each is made once; a reload replaces those of the platforms.
  const limited = new WeakMap<PlatformClient, PlatformClient>();
  return (client) => {
    const known = limited.get(client);
    if (known !== undefined) return known;
    const perSecond = SHARE * client.load().max.requestsPerSecond;
    const allowance = new Allowance(clock, BURST, perSecond / 1000);
    const own = client.withPermit(() => {
      if (allowance.left < 1) throw tooMany();
      allowance.use(1);
    });
    limited.set(client, own);
    return own;
  };
}

function requireOpenRegion({ gates }: Core, { work }: AppRecord): void {
  const { platform, region } = work.application.spec;
  const circuit = gates.circuitOf({ platform, region });
  if (circuit === undefined) return;
  throw new PortolanError({
    code: 'monitoring/region-paused',
    disposition: 'retry',
    message: `Region ${region} of ${platform} is paused (circuit breaker open): ${circuit.because}. It was not asked for monitoring history.`,
    remedy: 'Retry when the region works again. /platform (GET /api/v1/platform) shows its state.',
  });
}

function tooMany(): PortolanError {
  return new PortolanError({
    code: 'monitoring/too-many-requests',
    disposition: 'retry',
    message:
      'Viewers of monitoring history have used their part of the requests to this platform. Nothing was read, so that reconciliation is not delayed.',
    remedy: 'Retry in a few seconds, or request a longer step or fewer applications at the same time.',
  });
}

function unresolved(id: ResourceId): PortolanError {
  return new PortolanError({
    code: 'monitoring/unresolved',
    disposition: 'ask-human',
    message: `${id} was not found on its platform yet, so it has no monitoring history.`,
    remedy: 'The page of the application shows its last error.',
  });
}
