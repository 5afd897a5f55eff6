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
import type { Adopted, Doubt, Forgotten, Pruned, Resolved, Retried } from '../model/manual.ts';
import type { HistoryRow } from '../model/owned.ts';
import type { Page } from '../model/page.ts';
import type { SessionEnded, SignInStarted, SignInWays } from '../server/routes/session.ts';
import type { PlanDocument } from '../model/plan-document.ts';
import type { ResourceDetails } from '../model/resource-details.ts';
import type { Whoami } from '../server/routes/whoami.ts';
import type { PlatformStatus } from '../model/platform-status.ts';
import type { ReplicaGroup } from '../model/replicas.ts';
import type { ApplicationDetails, ControllerEvent, ControllerStatus } from '../model/status.ts';

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
  '/api/v1/history': Page<HistoryRow>;
  '/api/v1/applications/{name}': ApplicationDetails;
  '/api/v1/applications/{name}/plan': PlanDocument;
  '/api/v1/orphans/{platform}/{team}/{region}/{app}/plan': PlanDocument;
  '/api/v1/applications/{name}/doubts': Page<Doubt>;
  '/api/v1/applications/{name}/resources/{kind}/{resource}': ResourceDetails;
  '/api/v1/applications/{name}/resources/{kind}/{resource}/adoption': PlanDocument;
  '/api/v1/status': ControllerStatus;
  '/api/v1/sign-in': SignInWays;
  '/api/v1/whoami': Whoami;
  '/api/v1/platform': PlatformStatus;
  '/api/v1/replicas': ReplicaGroup;
  '/api/v1/applications/{name}/monitoring': MonitoringHistory;
  '/api/v1/applications': FleetAnswer;
  '/api/v1/attention': AttentionAnswer;
  '/api/v1/commits': Page<CommitSummary>;
  '/api/v1/commits/{sha}': CommitDetails;
  '/api/v1/events': Page<ControllerEvent> & { readonly position: string };
}

/** Answers to commands by path. */
export interface Commands {
  '/api/v1/orphans/{platform}/{team}/{region}/{app}/prune': Pruned;
  '/api/v1/orphans/{platform}/{team}/{region}/{app}/forget': Forgotten;
  '/api/v1/applications/{name}/sync': unknown;
  '/api/v1/applications/{name}/suspend': ApplicationDetails;
  '/api/v1/applications/{name}/resume': ApplicationDetails;
  '/api/v1/applications/{name}/approve': ApplicationDetails;
  '/api/v1/applications/{name}/intents/{intent}/resolve': Resolved;
  '/api/v1/applications/{name}/resources/{kind}/{resource}/retry': Retried;
  '/api/v1/applications/{name}/resources/{kind}/{resource}/forget': Forgotten;
  '/api/v1/applications/{name}/resources/{kind}/{resource}/identify': Adopted;
  '/api/v1/applications/{name}/resources/{kind}/{resource}/adopt': ApplicationDetails;
  '/api/v1/session': unknown;
  '/api/v1/session/oidc': SignInStarted;
  '/api/v1/session/end': SessionEnded;
}
