import type { JsonObject } from '../../model/json.ts';
import type { EventType } from '../../model/event-types.ts';
import type { ControllerEvent, EventSeverity } from '../../model/status.ts';
import { safeText } from '../../model/text.ts';
import { cut } from '../../plan/words.ts';

/** A kind of alert: the event that starts it and those that end it. */
export interface AlertClass {
  readonly name: string;
  /** Severity of the alert. An event that ends it has a lower one of its own. */
  readonly severity: EventSeverity;
  readonly starts: EventType;
  readonly ends: readonly EventType[];
}

/** Alertmanager ends an alert at this time, if no event did. */
const ALERT_MS = 24 * 60 * 60 * 1000;
const DESCRIPTION_CHARS_MAX = 4_000;

const CLASSES: readonly AlertClass[] = [
  {
    name: 'PortolanSourceRejected',
    severity: 'error',
    starts: 'source.refused',
    ends: ['source.accepted', 'source.recovered'],
  },
  {
    name: 'PortolanConfigurationRefused',
    severity: 'error',
    starts: 'controller.reload-refused',
    ends: ['controller.reloaded'],
  },
  {
    name: 'PortolanSourceFailed',
    severity: 'error',
    starts: 'source.failed',
    ends: ['source.observed', 'source.accepted', 'source.recovered'],
  },
  { name: 'PortolanDrift', severity: 'warning', starts: 'drift.detected', ends: ['drift.healed', 'drift.gone'] },
  { name: 'PortolanHold', severity: 'warning', starts: 'hold.added', ends: ['hold.released'] },
  { name: 'PortolanApprovalNeeded', severity: 'warning', starts: 'approval.needed', ends: ['approval.given'] },
  { name: 'PortolanWriteInDoubt', severity: 'warning', starts: 'action.in-doubt', ends: ['intent.resolved'] },
  { name: 'PortolanActionFailed', severity: 'error', starts: 'action.failed', ends: ['action.done'] },
  {
    name: 'PortolanApplicationFailed',
    severity: 'error',
    starts: 'application.failed',
    ends: ['application.recovered'],
  },
  {
    name: 'PortolanSuspendedLong',
    severity: 'warning',
    starts: 'application.suspended-long',
    ends: ['application.resumed'],
  },
  { name: 'PortolanUnhealthy', severity: 'warning', starts: 'health.changed', ends: ['health.changed'] },
  { name: 'PortolanRegionPaused', severity: 'warning', starts: 'region.paused', ends: ['region.resumed'] },
  { name: 'PortolanCircuitOpen', severity: 'error', starts: 'circuit.opened', ends: ['circuit.closed'] },
];

/** An alert that an event starts or ends. */
export interface AlertChange {
  readonly type: 'starts' | 'ends';
  readonly alert: AlertClass;
}

/** Returns what an event means for alerts: nothing for most types, and more than one where it ends several. */
export function alertChanges({ type, severity }: Pick<ControllerEvent, 'type' | 'severity'>): readonly AlertChange[] {
  return CLASSES.flatMap((alert): AlertChange | readonly [] => {
    // An event of both lists starts the alert unless it is only for information.
    if (alert.starts === type && (severity !== 'info' || !alert.ends.includes(type))) return { type: 'starts', alert };
    return alert.ends.includes(type) ? { type: 'ends', alert } : [];
  });
}

/**
 * Returns an alert for `POST /api/v2/alerts`. Alertmanager identifies an alert by its labels, so they are the same when it starts
 * and when it ends.
 * @param source name of the source of manifests. @param nowMs time of sending.
 * @see https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
 */
export function postableAlert(
  { type, alert }: AlertChange,
  event: ControllerEvent,
  source: string,
  link = '',
): JsonObject {
  const { application, resource, scope, atMs, revision } = event;
  const labels = {
    alertname: alert.name,
    severity: alert.severity,
    source,
    application,
    resource,
    scope,
    ...detailLabels(event),
    ...Object.fromEntries(
      Object.entries(event.labels).map(([name, value]) => [`label_${name.replaceAll(/\W/g, '_')}`, value]),
    ),
  };
  return {
    // Alertmanager takes an empty label for an absent one.
    labels: Object.fromEntries(
      Object.entries(labels).flatMap(([name, value]) => (value === null ? [] : [[name, safeText(value)]])),
    ),
    annotations: {
      summary: `${alert.name}${resource === null && application === null ? '' : `: ${resource ?? application ?? ''}`}`,
      description: cut(safeText(event.message), DESCRIPTION_CHARS_MAX),
      ...(revision === null ? {} : { revision }),
    },
    ...(type === 'starts' ? { startsAt: new Date(atMs).toISOString() } : {}),
    endsAt: new Date(type === 'starts' ? atMs + ALERT_MS : atMs).toISOString(),
    ...(link === '' ? {} : { generatorURL: link }),
  };
}

/** Returns the details that distinguish two alerts of one class: the code of a hold, the region that is paused. */
function detailLabels({ type, detail }: ControllerEvent): Readonly<Record<string, string>> {
  if (typeof detail !== 'object' || detail === null || Array.isArray(detail)) return {};
  const names = type.startsWith('hold.') ? ['code'] : /^(?:region|circuit)\./.test(type) ? ['platform', 'region'] : [];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = (detail as JsonObject)[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
