import type { ResourceId, Scope } from './ids.ts';
import type { Json, JsonObject } from './json.ts';

/** Why a field changes. `git+drift`: the manifest changed and the platform moved as well. `unknown`: no ledger at hand. */
export type Cause = 'git' | 'drift' | 'git+drift' | 'adopt' | 'first-apply' | 'prune' | 'obligation' | 'unknown';

/** One field of one object, before and after. Absent `before`: the object does not exist yet, or cannot be read. */
export interface FieldChange {
  /** In the manifest's words: `ports[8080].protocol`, `weight`. */
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
  /** What was last applied by us, where the ledger knows it. */
  readonly lastApplied?: Json;
  readonly cause: Cause;
}

/** What is done to the object: for symbols, counts and guards. */
export type ActionVerb = 'create' | 'update' | 'delete';

/** One request to the platform, as pure data. */
export interface Action {
  /** `Kind/name#step-key`: stable while the same thing is wanted. */
  readonly id: string;
  readonly resource: ResourceId;
  readonly verb: ActionVerb;
  /** The kind's own step: `{ type, … }`. The kind alone turns it into a request. */
  readonly step: JsonObject & { readonly type: string };
  /** The ledger object this touches: natural key within (scope, kind), e.g. `port/<serviceId>/8080`. */
  readonly object: string;
  /** One line for people: `open outer access of port 8080`. */
  readonly summary: string;
  readonly changes: readonly FieldChange[];
  /** What else it does on the platform: `creates the default rule …`, `disables 3 rules`. */
  readonly effects: readonly string[];
  readonly cause: Cause;
  /** Ids of actions that must be done first. Always earlier in the plan. */
  readonly after: readonly string[];
  /** Removes or closes something by the rules of pruning: counted by the guards, done only with `--prune`. */
  readonly prune: boolean;
  /** Natural keys of other objects that it closes or removes too, ours or not: the guards count them as well. */
  readonly takesAlong?: readonly string[];
  /** Written with the intent: a field changed only for a moment, and the value it must get back. */
  readonly obligation?: JsonObject;
  /** Id of the action that it completes: people see one change, and guards count one. */
  readonly continues?: string;
}

/** Something that waits for an id that only an install of the same plan will give. */
export interface DeferredAction {
  readonly resource: ResourceId;
  readonly waitsFor: ResourceId;
  /** The manifest's spec: what the deferred actions must stay within. */
  readonly desired: Json;
  readonly summary: string;
}

/** Something that Portolan will not do by itself. It holds its resource and the dependants of that, nothing else. */
export interface Hold {
  /** Stable, `area/what`: `rule/not-ours`, `port/inner-unmanaged`, `install/in-doubt`. */
  readonly code: string;
  readonly resource: ResourceId;
  readonly message: string;
  /** The exact command, flag or edit that releases it. */
  readonly remedy: string;
  readonly changes: readonly FieldChange[];
  /** It releases itself then, if observation can decide it. */
  readonly untilMs?: number;
}

/** Worth saying, nothing to do: `not ours`, `orphaned`, `kept by annotation`, `report only`. */
export interface Note {
  readonly code: string;
  readonly resource?: ResourceId;
  readonly message: string;
  readonly changes?: readonly FieldChange[];
}

/** A wish that is met but whose effect is awaited: an install that must come to run. */
export interface Wait {
  readonly resource: ResourceId;
  readonly message: string;
  readonly untilMs: number;
}

/** What one scope needs, in a safe order. Survives `JSON.parse(JSON.stringify(plan))`. */
export interface ScopePlan {
  readonly application: ResourceId;
  readonly scope: Scope;
  readonly actions: readonly Action[];
  readonly deferred: readonly DeferredAction[];
  readonly holds: readonly Hold[];
  readonly notes: readonly Note[];
  /** Resources that are as the manifests say. */
  readonly inSync: readonly ResourceId[];
  /** Managed fields that are as desired and therefore not shown. */
  readonly unchangedFields: number;
}
