import { applicationState, conditionOf, conditionState } from '../controller/application-state.ts';
import { pauseMessage } from '../controller/conditions.ts';
import type { ApplicationDetails, PendingWork, ResourceStatus } from '../model/status.ts';
import type { ShownLine } from '../model/shown.ts';
import { type ApplicationView, matter, type ResourceView, type ViewState } from './model.ts';

/** Returns the view of an application from the answer of a controller. */
export function answeredView(status: ApplicationDetails): ApplicationView {
  return {
    id: status.id,
    scope: status.scope ?? '',
    state: applicationState(status),
    reason: status.lastError?.message ?? pauseMessage(status.pause),
    resources: status.resources.map((resource) => answeredResource(resource, status.pending)),
    lines: [...(status.observed?.lines ?? []), ...linesLeftOut(status.observed?.unnamedLeftOut)],
    observedMs: status.observed?.atMs ?? null,
  };
}

/** Returns a line for the lines that the controller did not store. */
function linesLeftOut(count: number | undefined): readonly ShownLine[] {
  if (count === undefined) return [];
  return [{ type: 'more', key: 'more', below: [], name: `${count} more`, facts: '', state: 'not-in-manifests' }];
}

function answeredResource(resource: ResourceStatus, pending: PendingWork | null): ResourceView {
  const { id, mode, holds, drift } = resource;
  return {
    id,
    state: resourceState(resource),
    reason: holds[0]?.message ?? conditionOf(resource, 'Ready')?.message ?? '',
    matters: [
      ...holds.map(({ changes, message }) => matter('held', changes, message)),
      matter(mode === 'report' ? 'reported' : 'drifted', drift?.changes),
    ],
    actions: (pending?.actions ?? []).filter((action) => action.resource === id),
  };
}

export function resourceState(resource: ResourceStatus): ViewState {
  const { mode, holds, drift } = resource;
  if (mode === 'suspend') return 'suspended';
  if (holds.length > 0) return holds.some(({ code }) => code.endsWith('/not-ours')) ? 'not-ours' : 'held';
  const state = conditionState(resource);
  if (state !== 'to-change') return state;
  if (mode === 'report') return 'reported';
  return drift === null ? 'to-change' : 'drifted';
}
