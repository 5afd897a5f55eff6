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
  /** As `checkPlatformUrl` returned it; for messages only, the transport knows its own. */
  readonly url: string;
  /** Sends once: `createHttpTransport`, a sandbox, or a simulation. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly dialect: DialectSetting;
  /** What an earlier process found out; only used with `auto`. */
  readonly remembered?: Capabilities | undefined;
  /** One for all clients of the same platform. */
  readonly budget: RequestBudget;
  /** `timeoutMs`: of one attempt of a read. Writes have their own. */
  readonly limits: { readonly timeoutMs: number };
  readonly retry?: RetryPolicy | undefined;
  /** Ends waiting reads when the process stops. Writes are never given up half way. */
  readonly signal?: AbortSignal;
  /** Masks secrets in what the server says, before it is shown or recorded: servers repeat what they were sent. */
  readonly redact?: Redact;
  /** A read that has a deadline of its own goes unanswered: the status of an application, mostly. */
  readonly onSlow?: ((slow: SlowRead) => void) | undefined;
  /** Called once for each request that left, when it was answered or has failed; each attempt counts. */
  readonly onRequest?: ((facts: RequestFacts) => void) | undefined;
  /** An answer to a write that the classifier's table does not know. */
  readonly onUnseen?: (unseen: UnseenAnswer) => void;
}

/** A client of one server of the API. */
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

/** The range query of a region's metrics, until the server says that it has none. */
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
  // The form follows what reads have proved, so a hash and the request it stands for are of one form.
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
