import type { ResourceId } from '../model/ids.ts';
import type { ShownLine } from '../model/shown.ts';
import type { Origin } from '../model/owned.ts';
import type { OrphanFacts } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';

/** The state of an application or a resource, as all views show it. */
export type ViewState =
  | 'in-sync'
  /** In sync, but it does not run as it should. */
  | 'unhealthy'
  /** The platform differs from the last applied state. */
  | 'drifted'
  /** The manifests changed and are not applied yet. */
  | 'to-change'
  /** The last attempt failed. */
  | 'failing'
  | 'held'
  /** It exists and is not owned by Portolan: held until it is adopted. */
  | 'not-ours'
  | 'waiting'
  | 'suspended'
  /** It differs, and its annotation allows only a report. */
  | 'reported'
  /** It was not compared. */
  | 'unknown'
  /** Owned according to the ledger, and removed from git. */
  | 'withdrawn'
  /** Owned according to the ledger, in an application that no manifest refers to any more. */
  | 'orphaned'
  /** It exists on the platform and has no manifest. */
  | 'not-in-manifests';

/** The reason why some fields of a resource differ from the manifest. */
export interface Matter {
  readonly state: 'held' | 'reported' | 'drifted';
  /** Paths of the fields: `ports[8080].alias`. */
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

/** One resource, from an observation or from a controller. */
export interface ResourceView {
  readonly id: ResourceId;
  readonly state: ViewState;
  /** Empty where the state needs no reason. */
  readonly reason: string;
  readonly matters: readonly Matter[];
  /** The planned actions; ids are `Component/shop-web#ports/8080/open_inner`. */
  readonly actions: readonly { readonly id: string; readonly summary: string }[];
}

/** One application with its resources, from an observation of this process or from the answer of a controller. */
export interface ApplicationView {
  readonly id: string;
  /** Empty as long as it is not resolved. */
  readonly scope: string;
  readonly state: ViewState;
  readonly reason: string;
  readonly resources: readonly ResourceView[];
  /** The lines that its kinds show. */
  readonly lines: readonly ShownLine[];
  /** The time at which a controller observed `lines`; null: not yet. Absent: this process observed them now. */
  readonly observedMs?: EpochMs | null;
}

const ORIGIN_WORDS: Readonly<Record<Origin, string>> = {
  created: 'created by Portolan',
  adopted: 'adopted by Portolan',
  observed: 'recorded by Portolan, not created',
};

/** Returns the view of each application that has orphans. */
export function orphanedViews(orphans: readonly OrphanFacts[]): readonly ApplicationView[] {
  return [...Map.groupBy(orphans, ({ scope }) => scope)].map(([scope, its]) => ({
    id: scope,
    scope: '',
    state: 'orphaned',
    reason: 'no Application of the source refers to it',
    resources: its.map(({ id, origin }) => ({
      id,
      state: 'orphaned',
      reason: ORIGIN_WORDS[origin],
      matters: [],
      actions: [],
    })),
    lines: [],
  }));
}

/** The remedy for something that requires manual action. */
export interface Remedy {
  readonly about: string;
  /** The reason, which a table may truncate. */
  readonly why: string;
  readonly what: string;
}
