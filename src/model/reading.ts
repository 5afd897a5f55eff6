import type { PortolanError } from './errors.ts';
import type { Scope } from './ids.ts';

/** An answer that the server may be unable to give. */
export type Readable<T> =
  | { readonly readable: true; readonly value: T }
  | {
      readonly readable: false;
      /** The server has the listing, but cannot return it now because its application store fails. */
      readonly because?: PortolanError;
      /** The platform's message that the component is not in the application. */
      readonly absent?: string;
    };

/** An answer that does not report success. */
export interface Refusal {
  readonly status: number;
  readonly isJson: boolean;
  readonly code: number | undefined;
  readonly msg: string;
  readonly summary: { readonly message: string };
  /** Whether it says that the server has no such address. */
  readonly isDenial: boolean;
}

/** The properties that distinguish an answer of the API from that of another server. */
export interface Expected {
  /** The noun for messages: `a list of ports`. */
  readonly noun: string;
  /** Every record of the API has at least one of these fields. */
  readonly fields: readonly string[];
  /** The first request to a server. Its answer is never empty; any other answer is that of another server. */
  readonly isFirst?: true;
}

/** The application of a record. */
export type Place = Omit<Scope, 'platform'>;

/** A read of the platform: its request, and the meaning of the answers. */
export interface Reading<T> {
  /** The name in metrics and logs: `listBanners`. */
  readonly operation: string;
  /** The address that the segments follow; absent: that of the application. */
  readonly below?: 'platform' | 'team' | 'region';
  /** Segments of the path, which are encoded. */
  readonly segments: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  /**
   * @param redact masks the secrets of this process.
   * @throws PortolanError `platform/schema-drift` for an answer of another form.
   */
  decode(json: unknown, where: string, redact: (text: string) => string): T;
  readonly expected: Expected;
  /**
   * Only servers of the extended dialect have it. A success proves that the server has it, a denial that it does not; a server
   * without it is not asked again.
   */
  readonly isExtended?: true;
  /** A server without this listing is not asked. `isKnown`: a server for which that is unknown is not asked either. */
  readonly needs?: { readonly listing: Reading<unknown>; readonly isKnown?: true };
  /** The platform asks its application store for it: a failure of the store is not a failure of the platform. */
  readonly asksStore?: true;
  /**
   * Returns the meaning of an answer that does not report success; undefined: the answer is an error. Absent: a server that
   * denies the address cannot be read.
   * @param isProved whether the server is known to have the listing that the reading needs.
   */
  otherwise?(answer: Refusal, isProved: boolean): Readable<T> | undefined;
  /** The listing comes in pages of this size, with a `total`. @param record one of the listing */
  readonly pages?: { readonly size: number; readonly idOf: (record: never) => unknown };
  /** The listing that contains it for every application of the platform. */
  readonly shared?: {
    readonly by: Reading<unknown>;
    /** Splits what that lists. @param key names the application that something belongs to */
    split(all: never, key: (place: Place) => string): ReadonlyMap<string, T>;
    /** The value for an application that the listing does not contain. */
    readonly none: T;
  };
  /** The token may lack the permission: within a scope, a refusal then counts as not readable. */
  readonly mayBeRefused?: true;
  /** The component that it reads. A component that is known not to be in the application is not read. */
  readonly component?: string;
  /** The time limit; absent: the timeout of the operator's limits. A read that timed out is not repeated. */
  readonly timeoutMs?: number;
  /** Whether the answer is as long as one record, not as a list. */
  readonly isRecord?: true;
  /** The maximum age of an answer that is used again. */
  readonly goodForMs?: number;
}

/** Returns the name of a reading within its scope. Two readings with different requests have different names. */
export function keyOf({ operation, component, below, segments, query }: Reading<unknown>): `read ${string}` {
  // Called for each of thousands of resources: no canonical form is needed where one piece of code writes each query.
  return `read ${operation} ${JSON.stringify([component, below, segments, query])}`;
}
