import type { ResourceId } from '../model/ids.ts';
import type { ShownLine } from '../model/shown.ts';
import type { EpochMs } from '../model/time.ts';

/** How an application or one of its resources stands, for people: the one vocabulary of all views. */
export type ViewState =
  | 'in-sync'
  /** As the manifests say, and what runs does not work. */
  | 'unhealthy'
  /** The platform moved away from what was applied. */
  | 'drifted'
  /** The manifests want something else, or something more. */
  | 'to-change'
  /** It was tried, and did not work. */
  | 'failing'
  | 'held'
  /** It exists and somebody else made it: held until it is adopted. */
  | 'not-ours'
  | 'waiting'
  | 'suspended'
  /** It differs, and its annotation asks for a report only. */
  | 'reported'
  /** It was not compared. */
  | 'unknown'
  /** Ours by the ledger, and git does not name it any more. */
  | 'withdrawn'
  /** The platform has it, and no manifest names it. */
  | 'not-in-manifests';

/** Why some fields of a resource are not as the manifests say. */
export interface Matter {
  readonly state: 'held' | 'reported' | 'drifted';
  /** Of the fields: `ports[8080].alias`. */
  readonly paths: readonly string[];
  readonly reason: string;
}

export function matter(
  state: Matter['state'],
  changes: readonly { readonly path: string }[] = [],
  reason = '',
): Matter {
  return { state, paths: changes.map(({ path }) => path), reason };
}

/** One resource, wherever it is known from. */
export interface ResourceView {
  readonly id: ResourceId;
  readonly state: ViewState;
  /** Empty where it goes without saying. */
  readonly reason: string;
  readonly matters: readonly Matter[];
  /** What is to be done with it; ids are `Component/shop-web#ports/8080/open_inner`. */
  readonly actions: readonly { readonly id: string; readonly summary: string }[];
}

/** One application with its resources: filled from an observation of our own, or from what a controller answers. */
export interface ApplicationView {
  readonly id: string;
  /** Empty until it was resolved. */
  readonly scope: string;
  readonly state: ViewState;
  readonly reason: string;
  readonly resources: readonly ResourceView[];
  /** What kinds show of it. */
  readonly lines: readonly ShownLine[];
  /** When a controller observed `lines`; null: not yet. Absent: just now. */
  readonly observedMs?: EpochMs | null;
}

/** What to do about something that requires manual action. */
export interface Remedy {
  readonly about: string;
  /** As the table has it, which may be cut there. */
  readonly why: string;
  readonly what: string;
}
