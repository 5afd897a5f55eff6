import { PortolanError } from '../model/errors.ts';
import type { ComponentSeries } from './records.ts';
import type { Readable } from '../model/reading.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { addressOf } from './address.ts';
import type { Redact } from './answer.ts';
import type { RequestBudget } from './budget.ts';
import { classify, classifyFailure, type UnseenAnswer } from './classifier.ts';
import type { Capabilities, MonitorQuery, PlatformClient } from './client.ts';
import { decodeMonitors, decodeSeries } from './decode-monitor.ts';
import { createDialect, type DialectKnowledge, type DialectSetting, deniesEndpoint } from './dialect.ts';
import { createRequestGate, type RequestFacts, type RequestGate } from './gate.ts';
import { createRead } from './read.ts';
import { createReader, type Reader, type SlowRead } from './reader.ts';
import { getApplication } from './readings.ts';
import { createRegionReads } from './region-reads.ts';
import { hashOf, writeRequest } from './requests.ts';
import { defaultRetryPolicy, type RetryPolicy } from './retrying.ts';
import { type PlatformRequest, type Transport, TransportError } from './transport.ts';
import type { WriteRequest } from './writes.ts';

export interface PlatformClientOptions {
  /** Name of the operator's `Platform` document. */
  readonly name: string;
  /** The result of `checkPlatformUrl`; for messages only, because the transport has its own. */
  readonly url: string;
  /** Sends a request once: `createHttpTransport`, a sandbox, or a simulation. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly dialect: DialectSetting;
  /** Stored capabilities; used only with `auto`. */
  readonly remembered?: Capabilities | undefined;
  /** The budget that all clients of the platform share. */
  readonly budget: RequestBudget;
  /** `timeoutMs`: timeout of one attempt of a read. Writes have their own. */
  readonly limits: { readonly timeoutMs: number };
  readonly retry?: RetryPolicy | undefined;
  /** Cancels reads when the process stops. Writes are never cancelled. */
  readonly signal?: AbortSignal;
  /** Masks secrets in answers before they are shown or recorded, because servers repeat what they receive. */
  readonly redact?: Redact;
  /** Called for a slow read with its own deadline, usually the status of an application. */
  readonly onSlow?: ((slow: SlowRead) => void) | undefined;
  /** Called once for each request that left, when it ended. Each attempt counts. */
  readonly onRequest?: ((facts: RequestFacts) => void) | undefined;
  /** Called for an answer to a write that no row of the classifier matches. */
  readonly onUnseen?: (unseen: UnseenAnswer) => void;
}

/** Returns a client of one server of the API. */
export function createPlatformClient(options: PlatformClientOptions): PlatformClient {
  const { name, url, clock, log } = options;
  const dialect = createDialect(options.dialect, options.remembered);
  const gate = createRequestGate({
    platform: name,
    transport: options.transport,
    budget: options.budget,
    clock,
    onRequest: options.onRequest,
  });
  const reader = createReader({
    url,
    gate,
    clock,
    log,
    random: options.random,
    timeoutMs: options.limits.timeoutMs,
    policy: options.retry ?? defaultRetryPolicy,
    signal: options.signal,
    redact: options.redact,
    onSlow: options.onSlow,
  });
  return clientOf(reader, gate, dialect, options);
}

function clientOf(
  reader: Reader,
  gate: RequestGate,
  dialect: DialectKnowledge,
  options: PlatformClientOptions,
): PlatformClient {
  const { name, url, clock, log } = options;
  const read = createRead({ reader, dialect, url, clock, setting: options.dialect, redact: options.redact });
  return {
    withPermit: (permit) => {
      const permitted: Reader['read'] = async (call) => {
        permit();
        return await reader.read(call);
      };
      return clientOf({ ...reader, read: permitted }, gate, dialect, options);
    },
    name,
    url,
    load: gate.budget.state,
    capability: dialect.state,
    capabilities: dialect.known,
    probe: async (listing, app) => {
      try {
        if (dialect.state(listing) === 'unknown') await read(listing, app);
      } catch (error) {
        if (!(error instanceof PortolanError)) throw error;
        log.debug('capability stays unknown', { platform: name, capability: listing.operation, why: error.message });
      }
      return dialect.state(listing);
    },
    read,
    application: async (app) => {
      const answer = await read(getApplication, app);
      return answer.readable ? answer.value : undefined;
    },
    regions: createRegionReads(url, reader, clock),
    monitor: (app, query) =>
      reader.read({
        operation: 'monitor',
        path: addressOf(app, undefined, ['monitor', 'query_range']),
        query: monitorQuery(query),
        decode: decodeMonitors,
        expected: { noun: 'a list of monitored components', fields: ['service_id', 'service_alias'] },
      }),
    regionSeries: createSeriesRead(reader, options.dialect),
    ...writes(options, gate, reader, dialect),
  };
}

/** Returns the range query of a region's metrics. It is not sent again after the server denied it. */
function createSeriesRead(reader: Reader, dialect: DialectSetting): PlatformClient['regionSeries'] {
  let isMissing = dialect === 'documented';
  return async (region, { expression, start, end, stepSeconds }) => {
    if (isMissing) return { readable: false };
    return await reader.read<Readable<readonly ComponentSeries[]>>({
      operation: 'queryRegion',
      path: addressOf({}, 'platform', ['monitor', 'query_range']),
      query: {
        region_name: region,
        query: expression,
        start: String(start),
        end: String(end),
        step: String(stepSeconds),
      },
      decode: (json, where) => ({ readable: true, value: decodeSeries(json, where) }),
      expected: { noun: 'samples of a region', fields: ['result', 'resultType'] },
      otherwise: (answer) => {
        if (!deniesEndpoint(answer)) return undefined;
        isMissing = true;
        return { value: { readable: false } };
      },
    });
  };
}

function writes(
  options: PlatformClientOptions,
  gate: RequestGate,
  reader: Reader,
  dialect: DialectKnowledge,
): Pick<PlatformClient, 'requestHash' | 'send'> {
  // The form depends on proved capabilities, so that a hash and its request have the same form.
  const requestOf = (write: WriteRequest): PlatformRequest =>
    writeRequest(write, (listing) => dialect.state(listing) === 'yes');

  return {
    requestHash: (write) => hashOf(requestOf(write)),
    send: async (write, sending) => {
      const request = requestOf(write);
      reader.writeHappened();
      try {
        return classify(write, await gate.send(request, sending), options.clock, options.onUnseen, options.redact);
      } catch (error) {
        if (error instanceof TransportError) return classifyFailure(error, options.redact);
        throw error;
      } finally {
        reader.writeHappened();
      }
    },
  };
}

function monitorQuery(query: MonitorQuery): Readonly<Record<string, string>> {
  return {
    start: String(query.start),
    end: String(query.end),
    step: String(query.stepSeconds),
    ...(query.outerOnly === true ? { is_outer: 'true' } : {}),
  };
}
