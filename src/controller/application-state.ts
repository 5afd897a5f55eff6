import type { FleetState } from '../model/fleet-words.ts';
import type {
  ApplicationStatus,
  ApplicationSummary,
  Condition,
  ConditionType,
  ResourceStatus,
} from '../model/status.ts';
import { unreachable } from '../model/unreachable.ts';
import type { AppRecord } from './ledger-records.ts';

/** The state of an application as one word: the most urgent one. */
export type ApplicationState =
  | 'in-sync'
  /** In sync, but it does not run as it should. */
  | 'unhealthy'
  | 'failing'
  /** It requires manual action. */
  | 'held'
  | 'suspended'
  /** The manifests or the platform changed, and it is not applied yet. */
  | 'to-change'
  | 'waiting'
  /** It was not compared. */
  | 'unknown';

export function applicationState(application: Omit<ApplicationSummary, 'resources'>): ApplicationState {
  const { pause, approval, lastError, failures } = application;
  if (conditionOf(application, 'Ready')?.reason === 'Denied') return 'held';
  if (lastError !== null && failures > 0) return 'failing';
  if (pause?.type === 'suspended') return 'suspended';
  if (approval !== null) return 'held';
  const state = conditionState(application);
  return state === 'in-sync' && conditionOf(application, 'Healthy')?.status === 'False' ? 'unhealthy' : state;
}

/** Returns the state that follows from the conditions alone. */
export function conditionState(
  of: Pick<ResourceStatus, 'conditions'>,
): Exclude<ApplicationState, 'unhealthy' | 'suspended'> {
  if (conditionOf(of, 'Stalled')?.status === 'True') return 'held';
  const ready = conditionOf(of, 'Ready');
  if (ready === undefined || ready.status === 'Unknown') return 'unknown';
  if (ready.status === 'True') return 'in-sync';
  return ready.reason === 'Failing' ? 'failing' : ready.reason === 'Waiting' ? 'waiting' : 'to-change';
}

export function conditionOf(
  { conditions }: { readonly conditions: readonly Condition[] },
  type: ConditionType,
): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

/** Returns the status with a decision of an operator that no pass has seen yet. */
export function decidedStatus(
  status: ApplicationStatus,
  { suspended }: Pick<AppRecord['kept'], 'suspended'>,
): ApplicationStatus {
  if ((status.pause?.type === 'suspended') === (suspended !== null)) return status;
  return { ...status, pause: suspended === null ? null : { type: 'suspended', ...suspended } };
}

/** Returns the state of an application in lists and counts. @param status with the decisions of operators. */
export function fleetState(status: ApplicationStatus): FleetState {
  const state = applicationState(status);
  switch (state) {
    case 'in-sync':
    case 'unhealthy':
    case 'failing':
    case 'held':
    case 'suspended':
    case 'unknown':
      return state;
    case 'to-change':
      return status.resources.some(({ drift }) => drift !== null) ? 'drifted' : 'pending';
    case 'waiting':
      return 'pending';
    default:
      return unreachable(state);
  }
}
