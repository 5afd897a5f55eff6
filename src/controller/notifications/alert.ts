import type { ResourceId, ScopeKey } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { EventType } from '../../model/event-types.ts';
import type { ControllerEvent, EventSeverity } from '../../model/status.ts';
import { safeText } from '../../model/text.ts';
import type { EpochMs } from '../../model/time.ts';
import { cut } from '../../plan/words.ts';

/** A kind of alert: the event that starts it and those that end it. */
export interface AlertClass {
  readonly name: string;
  /** Severity of the alert. An event that ends it has a lower one of its own. */
  readonly severity: EventSeverity;
  readonly starts: EventType;
  readonly ends: readonly EventType[];
}

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
    // A commit that is rejected was read.
    ends: ['source.observed', 'source.accepted', 'source.recovered', 'source.refused'],
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

/** Identifies an alert. Alerts of one class and one subject are the same alert, whatever their labels are. */
export interface AlertSubject {
  readonly alert: AlertClass;
  readonly application: ResourceId | null;
  readonly resource: ResourceId | null;
  /** Only of what no Application names. */
  readonly scope: ScopeKey | null;
  /** Distinguishes two alerts of one class: the code of a hold, the region that is paused. */
  readonly details: Readonly<Record<string, string>>;
}

export function subjectOf(alert: AlertClass, event: ControllerEvent): AlertSubject {
  const { application, resource, scope } = event;
  return { alert, application, resource, scope: application === null ? scope : null, details: detailsOf(event) };
}

/** Returns a text that identifies a subject. */
export function keyOf({ alert, application, resource, scope, details }: AlertSubject): string {
  return JSON.stringify([alert.name, application, resource, scope, details]);
}

/** An alert without its times, as Alertmanager gets it. */
export interface AlertText {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly generatorURL?: string;
}

/** Returns the alert of the event that starts it. @param source name of the source of manifests. */
export function alertText(alert: AlertClass, event: ControllerEvent, source: string, link = ''): AlertText {
  const { application, resource, scope, revision } = event;
  const labels = {
    alertname: alert.name,
    severity: alert.severity,
    source,
    application,
    resource,
    scope,
    ...detailsOf(event),
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
      description: descriptionOf(event),
      ...(revision === null ? {} : { revision }),
    },
    ...(link === '' ? {} : { generatorURL: link }),
  };
}

/** Returns the same alert with the description of the event that ends it. */
export function endedText(text: AlertText, event: ControllerEvent): AlertText {
  return { ...text, annotations: { ...text.annotations, description: descriptionOf(event) } };
}

function descriptionOf({ message }: ControllerEvent): string {
  return cut(safeText(message), DESCRIPTION_CHARS_MAX);
}

/**
 * Returns an alert for `POST /api/v2/alerts`. Alertmanager identifies an alert by its labels, and resolves it at `endsMs`.
 * @param startsMs null: the alert ends.
 * @see https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
 */
export function postableAlert(text: AlertText, startsMs: EpochMs | null, endsMs: EpochMs): JsonObject {
  const { labels, annotations, ...link } = text;
  const times = { ...(startsMs === null ? {} : { startsAt: isoTime(startsMs) }), endsAt: isoTime(endsMs) };
  return { labels, annotations, ...times, ...link };
}

function isoTime(atMs: EpochMs): string {
  return new Date(atMs).toISOString();
}

function detailsOf({ type, detail }: ControllerEvent): Readonly<Record<string, string>> {
  if (typeof detail !== 'object' || detail === null || Array.isArray(detail)) return {};
  const names = type.startsWith('hold.') ? ['code'] : /^(?:region|circuit)\./.test(type) ? ['platform', 'region'] : [];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = (detail as JsonObject)[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
