import type {
  ApplicationRow,
  AttentionItem,
  CommitDetails,
  CommitSummary,
  FleetCounts,
  FleetFacets,
} from '../model/fleet.ts';
import type { AttentionKind } from '../model/fleet-words.ts';
import type { MonitoringHistory } from '../model/monitoring.ts';
import type { Page } from '../model/page.ts';
import type { SessionEnded, SignInStarted, SignInWays } from '../server/routes/session.ts';
import type { Whoami } from '../server/routes/whoami.ts';
import type { PlatformStatus } from '../model/platform-status.ts';
import type { ControllerEvent, ControllerStatus } from '../model/status.ts';

/** Rows of applications, with `view=row`. */
export interface FleetAnswer extends Page<ApplicationRow> {
  readonly total: number;
  readonly counts: FleetCounts;
  readonly facets?: FleetFacets;
}

export interface AttentionAnswer extends Page<AttentionItem> {
  readonly total: number;
  readonly counts: Readonly<Partial<Record<AttentionKind, number>>>;
}

/** Answers of the API by path, with the types that the server declares. A page adds the paths that it reads. */
export interface Answers {
  '/api/v1/status': ControllerStatus;
  '/api/v1/sign-in': SignInWays;
  '/api/v1/whoami': Whoami;
  '/api/v1/platform': PlatformStatus;
  '/api/v1/applications/{name}/monitoring': MonitoringHistory;
  '/api/v1/applications': FleetAnswer;
  '/api/v1/attention': AttentionAnswer;
  '/api/v1/commits': Page<CommitSummary>;
  '/api/v1/commits/{sha}': CommitDetails;
  '/api/v1/events': Page<ControllerEvent> & { readonly position: string };
}

/** Answers to commands by path. */
export interface Commands {
  '/api/v1/session': unknown;
  '/api/v1/session/oidc': SignInStarted;
  '/api/v1/session/end': SessionEnded;
}
