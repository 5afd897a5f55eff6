import type { PortolanError } from './errors.ts';
import type { Scope } from './ids.ts';

/** An answer that the server may not be able to give. */
export type Readable<T> =
  | { readonly readable: true; readonly value: T }
  | {
      readonly readable: false;
      /** The server has the listing, and cannot give it now because its application store fails. */
      readonly because?: PortolanError;
      /** The platform's message where what was asked about is not in the application. */
      readonly absent?: string;
    };

/** The listings of the extended dialect; each proves a capability of the server. */
export type Listing =
  | 'listApplications'
  | 'listComponents'
  | 'listRules'
  | 'listAllRules'
  | 'listInstalled'
  | 'listCertificates';

/** What an answer that is no success says. */
export interface Refusal {
  readonly status: number;
  readonly isJson: boolean;
  readonly code: number | undefined;
  readonly msg: string;
  readonly summary: { readonly message: string };
  /** It denies that there is such an address. */
  readonly isDenial: boolean;
}

/** How an answer of the API is told from that of another server. */
export interface Expected {
  /** `a list of ports` */
  readonly noun: string;
  /** Every record of the API has at least one of them. */
  readonly fields: readonly string[];
  /** Asked before anything else, and never empty: whatever answers otherwise is another server. */
  readonly isFirst?: true;
}

/** The application that something belongs to. */
export type Place = Omit<Scope, 'platform'>;

/** What a read of the platform asks for, and what the answers mean. */
export interface Reading<T> {
  /** Name in metrics and logs: `listBanners`. */
  readonly operation: string;
  /** Below this address; absent: that of the application. */
  readonly below?: 'platform' | 'team' | 'region';
  /** Each is encoded. */
  readonly segments: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  /**
   * @param redact masks the secrets of this process.
   * @throws PortolanError `platform/schema-drift` for an answer of another form.
   */
  decode(json: unknown, where: string, redact: (text: string) => string): T;
  readonly expected: Expected;
  /** The listing that it is: a success proves it, a denial disproves it, and a server without it is not asked. */
  readonly proves?: Listing;
  /** A server without this listing is not asked; `isKnown`: nor is one of which that is not known. */
  readonly needs?: { readonly listing: Listing; readonly isKnown?: true };
  /** The platform asks its application store for it: a failure of that is no failure of the platform. */
  readonly asksStore?: true;
  /**
   * What an answer that is no success means, where it means something; undefined: it is an error. Absent: a server that
   * denies the address cannot be read.
   * @param isProved the server is known to have the listing that the reading needs.
   */
  otherwise?(answer: Refusal, isProved: boolean): Readable<T> | undefined;
  /** The listing comes in pages of this size, with a `total`. @param record one of the listing */
  readonly pages?: { readonly size: number; readonly idOf: (record: never) => unknown };
  /** The listing that has it for every application of the platform. */
  readonly shared?: {
    readonly by: Reading<unknown>;
    /** Splits what that lists. @param key names the application that something belongs to */
    split(all: never, key: (place: Place) => string): ReadonlyMap<string, T>;
    /** For an application of which it lists nothing. */
    readonly none: T;
  };
  /** A token may lack the right to it: within a scope, a refusal then counts as not readable. */
  readonly mayBeRefused?: true;
  /** The component that it is about: of one that is known not to be in the application, nothing is asked. */
  readonly component?: string;
  /** The most that it may take; absent: the timeout of the operator's limits. What hangs once is not asked again. */
  readonly timeoutMs?: number;
  /** The answer is as long as one record, not as a list. */
  readonly isRecord?: true;
  /** An answer that is not older will do. */
  readonly goodForMs?: number;
}

/** The name of a reading within its scope: readings of one operation that ask for different things have different names. */
export function keyOf({ operation, component, below, segments, query }: Reading<unknown>): `read ${string}` {
  // Called for each of thousands of resources: no canonical form is needed where one piece of code writes each query.
  return `read ${operation} ${JSON.stringify([component, below, segments, query])}`;
}
