import { bare } from './answers.ts';
import type { ComponentCall, TeamCall } from './call.ts';
import { pageOf } from './pages.ts';
import type { ComponentRow, EventRow, SandboxState } from './state.ts';
import type { Answer, SandboxContext } from './wire.ts';

/** Starts a build: an event, and a component that runs when it ends. A running component keeps running. */
export function startBuild(
  state: SandboxState,
  context: SandboxContext,
  component: ComponentRow,
  failure: string | null = null,
): EventRow {
  const event: EventRow = {
    id: context.newId(),
    serviceId: component.id,
    startedMs: context.nowMs,
    endsMs: context.nowMs + state.facts.startAfterMs,
    failure,
  };
  state.events.put(event);
  const { life } = component;
  const isUp = life.type === 'building' ? life.fails !== true : life.status === 'running';
  const fails = failure === null ? {} : { fails: true };
  if (!isUp) state.components.put({ ...component, life: { type: 'building', readyAtMs: event.endsMs, ...fails } });
  return event;
}

/** Extended: builds a component and gives the id of the event. */
export function buildComponent({ state, context, component }: ComponentCall): Answer {
  return bare({ event_id: startBuild(state, context, component).id });
}

/** Extended: the builds of a component, latest first. */
export function listEvents({ state, context, component, request }: ComponentCall): Answer {
  const events = state.events.in('component', component.id).toReversed();
  const { page, pageSize, items } = pageOf(events, request.query);
  return bare({
    page,
    page_size: pageSize,
    total: events.length,
    events: items.map((event) => eventRecord(state, context, event)),
  });
}

function eventRecord(state: SandboxState, { nowMs }: SandboxContext, event: EventRow): object {
  const isOver = nowMs >= event.endsMs;
  const status = event.failure === null ? 'success' : 'failure';
  return {
    event_id: event.id,
    user_name: state.facts.principal,
    end_time: isOver ? seconds(event.endsMs) : '',
    target: 'service',
    opt_type: 'build-service',
    target_id: event.serviceId,
    service_id: '',
    status: isOver ? status : '',
    request_body: '',
    create_time: seconds(event.startedMs),
    final_status: isOver ? 'complete' : '',
    start_time: seconds(event.startedMs),
    syn_type: '1',
    message: isOver ? (event.failure ?? '') : '',
    tenant_id: '',
  };
}

/** Extended: what a build has printed so far; empty for an event that is unknown. */
export function eventLogs({ state, context, team, params }: TeamCall): Answer {
  const event = state.events.get(params['event_id'] ?? '');
  if (event === undefined || state.components.get(event.serviceId)?.teamId !== team.id) return bare({ logs: [] });
  const lines = [{ message: 'pull image', atMs: event.startedMs }];
  if (context.nowMs >= event.endsMs) {
    const message = event.failure === null ? 'build done' : `build failed: ${event.failure}`;
    lines.push({ message, atMs: event.endsMs });
  }
  return bare({
    logs: lines.map(({ message, atMs }) => ({ message, time: seconds(atMs), utime: Math.floor(atMs / 1000) })),
  });
}

/** `2024-01-01T00:00:00Z` */
function seconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
