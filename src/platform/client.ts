import type { ApplicationRecord, ComponentMonitor, ComponentSeries, Region } from './records.ts';
import type { Readable, Reading } from '../model/reading.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { Verdict } from './verdict.ts';
import type { AppAddress, WriteRequest } from './writes.ts';

/** Whether a server has a listing. Only a JSON 404 or 405 denies; after a failure of any other kind it stays `unknown`. */
export type CapabilityState = 'yes' | 'no' | 'unknown';

/** The listings that a server was found to have or to lack, by their operations. */
export type Capabilities = Readonly<Partial<Record<string, 'yes' | 'no'>>>;

/** An expression for a region's metrics. It must not contain `&` or `+`, which reach the metrics system as they are. */
export interface SeriesQuery {
  readonly expression: string;
  /** Epoch seconds. The server takes a missing one for a word. */
  readonly start: number;
  readonly end: number;
  readonly stepSeconds: number;
}

export interface MonitorQuery {
  /** Epoch seconds. */
  readonly start: number;
  readonly end: number;
  readonly stepSeconds: number;
  readonly outerOnly?: boolean;
}

export interface RegionQuestion {
  /** Whose regions are enough. A token without enterprise rights can list no others. */
  readonly team?: string;
  /** An earlier answer will do when it is not older; by default none does. */
  readonly maxAgeMs?: number;
}

/**
 * One server of the API. Reads are retried, share the request budget and are never written down. Everything that
 * fails does so as a `PortolanError` with the URL, status, code and message, disposition `unreachable` (no answer, or
 * credentials refused), `give-up` or `retry`.
 */
export interface PlatformClient {
  /** Returns a client of the same platform that calls `permit` before each request to read; what it throws, the read throws. */
  withPermit(permit: () => void): PlatformClient;
  /** Name of the operator's `Platform` document. */
  readonly name: string;
  /** The base URL, for messages. */
  readonly url: string;

  capability(listing: Reading<unknown>): CapabilityState;
  /** Returns what was found out so far, to be remembered. */
  capabilities(): Capabilities;
  /** As `capability`, reading the listing where it is unknown. A write is never sent to find out whether there is one. */
  probe(listing: Reading<unknown>, app: AppAddress): Promise<CapabilityState>;

  /**
   * The regions that the token may see: all of them, or those of the team where it lacks enterprise rights.
   * @throws PortolanError `invalid` where it lacks them and the question names no team.
   */
  regions(question?: RegionQuestion): Promise<readonly Region[]>;
  application(app: AppAddress): Promise<ApplicationRecord | undefined>;
  /** What a reading declares. @param place what its address is below, as far as it needs it */
  read<T>(reading: Reading<T>, place: Partial<AppAddress>): Promise<Readable<T>>;
  monitor(app: AppAddress, query: MonitorQuery): Promise<readonly ComponentMonitor[]>;
  /** Series of a region's metrics, each of the component that its label `service_id` names. */
  regionSeries(region: string, query: SeriesQuery): Promise<Readable<readonly ComponentSeries[]>>;

  /** Hex SHA-256 over the canonical request, secrets left out: what the intent records. */
  requestHash(write: WriteRequest): string;
  /**
   * Sends a write once, on a fresh socket, without following a redirect, and says what its answer proves. Never
   * rejects for anything the network or the server does.
   * @throws PortolanError `invalid` when a value is not a documented one: nothing was sent.
   */
  send(write: WriteRequest, options?: SendOptions): Promise<Verdict>;
}

export interface SendOptions {
  /**
   * The turn in the request budget may come late: a write that would leave at or after this moment is not sent, and
   * comes back as rejected, `unsent`.
   */
  readonly sendBeforeMs?: MonotonicMs;
  /** Called when its turn has come, just before it leaves. false: it is not sent, and comes back as rejected, `unsent`. */
  readonly mayLeave?: () => boolean;
}
