import type { ReconciledKinds } from '../kinds/define.ts';
import type { StoreAccess } from '../kinds/reconciled.ts';
import type { Settings } from '../configuration/settings/spec.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { SourceLedger } from '../ledger/source-ledger.ts';
import type { ResourceId } from '../model/ids.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { LoadContext, Workbench } from '../source/contents.ts';
import type { SourceFeed } from '../source/feed.ts';
import type { Allowances } from './acceptance.ts';
import type { ControllerObserver } from './api.ts';
import type { Commits } from './commits.ts';
import type { EventLog } from './events.ts';
import type { AppRecord } from './ledger-records.ts';
import type { WorkQueue } from './queue.ts';
import type { Replicas } from './replicas/group.ts';
import type { Leadership } from './replicas/leadership.ts';
import type { SharedView } from './replicas/shared-view.ts';
import type { UnitWork } from './replicas/unit-work.ts';

/** Configuration that a reload replaces. */
export interface ControllerConfiguration extends LoadContext {
  readonly settings: Settings;
  readonly stores: ReadonlyMap<string, StoreAccess>;
  /**
   * Returns the client of a platform.
   * @throws PortolanError `invalid` when the platform, or something that it refers to, does not exist.
   */
  client(platform: string): PlatformClient;
}

export interface ControllerOptions {
  readonly kinds: ReconciledKinds;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Reads all records. Without `leadership`, it is also written. */
  readonly ledger: Ledger;
  /** Absent: this process alone writes the ledger. */
  readonly leadership?: Leadership | undefined;
  /** The processes that share the ledger. Absent: there are none. */
  readonly replicas?: Replicas | undefined;
  readonly feed: SourceFeed;
  /** Reads and parses the source. Closed with the feed. */
  readonly workbench: Workbench;
  /** Parses manifests that API clients send, within limits separate from those of the source. The caller closes it. */
  readonly planWorkbench: Workbench;
  /** Name of the source that owns the objects in the ledger. */
  readonly source: string;
  /** Name in the history of who acts. */
  readonly actor: string;
  readonly version: string;
  readonly configuration: ControllerConfiguration;
  readonly observer: ControllerObserver;
  /** Overrides for the first reading only. */
  readonly allow: Allowances;
}

/** State that every part of the controller shares, gates and intake included. */
export interface CoreBase {
  readonly options: ControllerOptions;
  readonly events: EventLog;
  /** For reading. `ledgerFor` in `replicas/unit-ledgers.ts` returns what is written. */
  readonly sourceLedger: SourceLedger;
  readonly leadership: Leadership;
  readonly unitWork: UnitWork;
  readonly queue: WorkQueue;
  readonly commits: Commits;
  /** Applications of the accepted source. */
  readonly records: Map<ResourceId, AppRecord>;
  /** The state that other replicas store; undefined without others. */
  sharedState: SharedView | undefined;
  /** Replaced by a reload. */
  configuration: ControllerConfiguration;
}
