import * as s from './schema-words.ts';
import type { SourceStatus } from './status.ts';

/** The state of platforms, regions, source, ledger and process: types, and the JSON Schemas of the API. */

const number: s.Schema<number> = { type: 'number' };
const milliseconds = s.nullable(number);

const faultSchema = s.objectOf('A fault, on the side where it is.', {
  // `controller`: its process, its ledger or its queue.
  side: s.literal('platform', 'source', 'controller'),
  severity: s.literal('warning', 'error'),
  // The part: a platform, a region, `source`, `ledger`, `process`, `queue`.
  part: s.text,
  message: s.text,
  remedy: s.text,
});
export type SideFault = s.TypeOf<typeof faultSchema>;

const requests = {
  requests: s.count,
  // 5xx, timeouts and lost connections.
  failed: s.count,
  throttled: s.count,
  // null: no request.
  p50Ms: milliseconds,
  p95Ms: milliseconds,
};

const operationSchema = s.objectOf('The requests of one operation in the last five minutes.', {
  operation: s.text,
  isRead: s.trueOrFalse,
  ...requests,
  p99Ms: milliseconds,
  // The number of answers by outcome: 2xx, 3xx, 4xx, 5xx, throttled, timeout, network, aborted.
  outcomes: { type: 'object', additionalProperties: s.count } as s.Schema<Readonly<Record<string, number>>>,
});
export type OperationTraffic = s.TypeOf<typeof operationSchema>;

const minuteSchema = s.objectOf('The requests of one minute.', { atMs: s.time, ...requests });
export type MinuteTraffic = s.TypeOf<typeof minuteSchema>;

const trafficSchema = {
  // The last five minutes, all operations together.
  recent: s.objectOf('The requests of the last five minutes.', { ...requests, p99Ms: milliseconds, perSecond: number }),
  operations: s.arrayOf(operationSchema),
  // The last hour, oldest first.
  minutes: s.arrayOf(minuteSchema),
};
const trafficObject = s.objectOf('The requests to one platform.', trafficSchema);
export type PlatformTraffic = s.TypeOf<typeof trafficObject>;

const loadSchema = s.objectOf('The request budget of one platform.', {
  running: s.count,
  waiting: s.count,
  // The present limit of concurrent requests, which follows from the response times, and the configured maximum.
  concurrency: s.count,
  concurrencyMax: s.count,
  // The present limit of requests per second, which is lower after the platform throttled a request.
  requestsPerSecond: number,
  requestsPerSecondMax: number,
});

const onePlatformSchema = s.objectOf('One platform.', {
  name: s.text,
  url: s.text,
  load: loadSchema,
  ...trafficSchema,
});
export type PlatformState = s.TypeOf<typeof onePlatformSchema>;

const regionDetailsSchema = s.objectOf('One region with the applications that it has.', {
  platform: s.text,
  region: s.text,
  state: s.literal('open', 'paused', 'circuit-open'),
  message: s.text,
  // The time of the last change of `state`; null: unknown.
  sinceMs: s.nullable(s.time),
  // The time of the next attempt; null: none is due.
  untilMs: s.nullable(s.time),
  applications: s.count,
});
export type RegionDetails = s.TypeOf<typeof regionDetailsSchema>;

const ledgerSchema = s.objectOf('The ledger.', {
  location: s.text,
  lineage: s.text,
  epoch: s.count,
  // The ledger and its write-ahead log; null: it is not a file.
  bytes: s.nullable(s.count),
  lastWriteMs: s.nullable(s.time),
  // The number of the last line of the history; null: none, or the ledger cannot be read.
  serial: s.nullable(s.count),
  isReadable: s.trueOrFalse,
  // Requests without a known outcome.
  open: s.count,
  inDoubt: s.count,
});
export type LedgerState = s.TypeOf<typeof ledgerSchema>;

const processSchema = s.objectOf('The process of the controller.', {
  version: s.text,
  node: s.text,
  phase: s.literal('starting', 'running', 'draining'),
  startedMs: s.time,
  rssBytes: s.count,
  heapBytes: s.count,
  heapLimitBytes: s.count,
  // The delay of the last timer, and the longest delay of the last five minutes.
  lagMs: s.count,
  lagMaxMs: s.count,
});
export type ProcessState = s.TypeOf<typeof processSchema>;

const queueSchema = s.objectOf('The work queue.', {
  applications: s.count,
  queued: s.count,
  running: s.count,
  failing: s.count,
});

const platformStatusSchema = s.objectOf('The state of platforms, regions, source, ledger and process.', {
  atMs: s.time,
  // The most severe first. Empty: no fault.
  faults: s.arrayOf(faultSchema),
  platforms: s.arrayOf(onePlatformSchema),
  regions: s.arrayOf(regionDetailsSchema),
  source: s.ref<SourceStatus>('Source'),
  ledger: ledgerSchema,
  process: processSchema,
  queue: queueSchema,
});
export type PlatformStatus = s.TypeOf<typeof platformStatusSchema>;

/** The schemas of the API, by name. */
export const platformStatusSchemas = { PlatformStatus: platformStatusSchema };
