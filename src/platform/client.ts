import type { BudgetState } from './budget.ts';
import type { ApplicationRecord, ComponentMonitor, ComponentSeries, Region } from './records.ts';
import type { Readable, Reading } from '../model/reading.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { Verdict } from './verdict.ts';
import type { AppAddress, WriteRequest } from './writes.ts';

/** The knowledge whether a server has a listing. Only a JSON 404 or 405 denies; after a failure of any other kind it stays `unknown`. */
export type CapabilityState = 'yes' | 'no' | 'unknown';

/** The listings that a server has or lacks, by their operations. */
export type Capabilities = Readonly<Partial<Record<string, 'yes' | 'no'>>>;

/** A query of a region's metrics. The expression must not contain `&` or `+`, which the platform does not encode. */
export interface SeriesQuery {
  readonly expression: string;
  /** Epoch seconds. They are required: the server does not handle a missing value. */
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
  /** The team whose regions suffice. A token without enterprise rights can list only these. */
  readonly team?: string;
  /** Maximum age of an earlier answer that may be used; by default none is used. */
  readonly maxAgeMs?: number;
}

/**
 * A client of one server of the API. Reads are retried and share the request budget. Every failure is a `PortolanError` with the
 * URL, status, code and message, and the disposition `unreachable` (no answer, or credentials refused), `give-up` or `retry`.
 */
export interface PlatformClient {
  /** Returns a client of the same platform that calls `permit` before each request to read; what it throws, the read throws. */
  withPermit(permit: () => void): PlatformClient;
  /** Name of the operator's `Platform` document. */
  readonly name: string;
  /** The base URL, for messages. */
  readonly url: string;
  /** Returns the state of the request budget. */
  load(): BudgetState;

  /** Returns whether the server has a listing, as far as that is known. */
  capability(listing: Reading<unknown>): CapabilityState;
  /** Returns the capabilities that are known, to be stored. */
  capabilities(): Capabilities;
  /** Returns the capability, and reads the listing if it is unknown. Writes are never used for that. */
  probe(listing: Reading<unknown>, app: AppAddress): Promise<CapabilityState>;

  /**
   * The regions that the token may see: all of them, or those of the team where it lacks enterprise rights.
   * @throws PortolanError `invalid` where it lacks them and the question names no team.
   */
  regions(question?: RegionQuestion): Promise<readonly Region[]>;
  application(app: AppAddress): Promise<ApplicationRecord | undefined>;
  /** Reads what a reading declares. @param place the parts of the address that it needs */
  read<T>(reading: Reading<T>, place: Partial<AppAddress>): Promise<Readable<T>>;
  monitor(app: AppAddress, query: MonitorQuery): Promise<readonly ComponentMonitor[]>;
  /** Reads series of a region's metrics; the label `service_id` of each names its component. */
  regionSeries(region: string, query: SeriesQuery): Promise<Readable<readonly ComponentSeries[]>>;

  /** Returns the hex SHA-256 of the canonical request without secrets, which the intent records. */
  requestHash(write: WriteRequest): string;
  /**
   * Sends a write once, on a new socket, without following redirects, and returns the verdict about it. It does not reject for
   * failures of the network or the server.
   * @throws PortolanError `invalid` when a value is not a documented one: nothing was sent.
   */
  send(write: WriteRequest, options?: SendOptions): Promise<Verdict>;
}

export interface SendOptions {
  /**
   * A write whose turn in the request budget comes at or after this time is not sent, and its verdict is rejected, `unsent`.
   */
  readonly sendBeforeMs?: MonotonicMs;
  /**
   * Called just before the write leaves: when its turn comes, and once its socket is open. false: it is not sent, and its verdict is
   * rejected, `unsent`.
   */
  readonly mayLeave?: () => boolean;
}
