import type { NotificationRule } from '../../configuration/settings/notifications-spec.ts';
import type { ControllerEvent, EventSeverity } from '../../model/status.ts';

const SEVERITIES: readonly EventSeverity[] = ['info', 'warning', 'error'];

/** Whether `pattern` (`drift.detected`, `drift.*`, `*`) means events of this type. */
export function matchesType(pattern: string, type: string): boolean {
  if (pattern === '*' || pattern === type) return true;
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1));
}

/** Whether every label that is asked for has its value. An event without an application has no labels. */
export function matchesLabels(
  wanted: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

export function matchesRule(rule: NotificationRule, event: ControllerEvent): boolean {
  return (
    SEVERITIES.indexOf(event.severity) >= SEVERITIES.indexOf(rule.severity) &&
    rule.events.some((pattern) => matchesType(pattern, event.type)) &&
    matchesLabels(rule.labels, event.labels)
  );
}
