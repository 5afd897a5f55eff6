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
import type { EventLog } from './events.ts';
import type { AppRecord } from './ledger-records.ts';
import type { WorkQueue } from './queue.ts';

/** What a reload replaces. */
export interface ControllerConfiguration extends LoadContext {
  readonly settings: Settings;
  readonly stores: ReadonlyMap<string, StoreAccess>;
  /** @throws PortolanError `invalid` when there is no such platform, or something that it refers to is missing. */
  client(platform: string): PlatformClient;
}

export interface ControllerOptions {
  readonly kinds: ReconciledKinds;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly feed: SourceFeed;
  /** Reads and parses the source. It is closed with the feed. */
  readonly workbench: Workbench;
  /** Parses manifests that surfaces send: what they cost must not be the source's. Whoever opened it closes it. */
  readonly planWorkbench: Workbench;
  /** Name of the source: objects in the ledger belong to it. */
  readonly source: string;
  /** Who acts, for the history. */
  readonly actor: string;
  readonly version: string;
  readonly configuration: ControllerConfiguration;
  readonly observer: ControllerObserver;
  /** For the first reading alone. */
  readonly allow: Allowances;
}

/** What every part of the controller shares, the gates and the intake included. */
export interface CoreBase {
  readonly options: ControllerOptions;
  readonly events: EventLog;
  readonly sourceLedger: SourceLedger;
  readonly queue: WorkQueue;
  /** Applications of the accepted source. */
  readonly records: Map<ResourceId, AppRecord>;
  /** A reload replaces it. */
  configuration: ControllerConfiguration;
}
