import type { ResourceId } from './ids.ts';
import type { EpochMs } from './time.ts';

/** One line that a kind shows of an application: a resource, a part of one, or what no manifest names. */
export interface ShownLine {
  /** `port`, or the noun of a kind. */
  readonly type: string;
  /** By which other lines hang below it: a natural key, or the id of its resource. */
  readonly key: string;
  /** Keys of lines that it hangs below: the first of them that there is. None: its application. */
  readonly below: readonly string[];
  /** Its place among lines of the same type; without it, by name. */
  readonly rank?: number;
  /** `Component/shop-web`; what has no manifest is named by what it is. */
  readonly name: string;
  /** Tells it from others, as it was observed: `http WEB, inner and outer`. */
  readonly facts: string;
  /** The resource whose state it has. Absent: no manifest names it. */
  readonly resource?: ResourceId;
  /** It is a part of the resource: its path in the manifest, as changes name it, such as `ports[8080]`. */
  readonly part?: string;
  /** The platform does not have the part. */
  readonly isMissing?: true;
  /** Whatever the state of the resource is. */
  readonly state?: 'withdrawn' | 'not-in-manifests' | 'unknown';
  /** What is said where the plan says nothing. */
  readonly reason?: string;
  /** Stands for what may have a line of its own, which takes precedence. */
  readonly isStandIn?: true;
}

/** What was seen of an application when it was observed last. */
export interface Observed {
  readonly atMs: EpochMs;
  readonly lines: readonly ShownLine[];
}
