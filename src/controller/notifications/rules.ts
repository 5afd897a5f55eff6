import type { NotificationRule } from '../../configuration/settings/notifications-spec.ts';
import type { ControllerEvent, EventSeverity } from '../../model/status.ts';
import type { Clock } from '../../runtime/clock.ts';

const SEVERITIES: readonly EventSeverity[] = ['info', 'warning', 'error'];

/** Returns whether `pattern` (`drift.detected`, `drift.*`, `*`) matches this type of event. */
export function matchesType(pattern: string, type: string): boolean {
  if (pattern === '*' || pattern === type) return true;
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1));
}

/** Returns whether every wanted label has its value. An event without an application has no labels. */
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

/** Limits of what is remembered. Beyond them the oldest is forgotten, and may be sent again. */
const SUBJECTS_MAX = 2_000;
const WORDINGS_MAX = 50;

interface Subject {
  readonly type: string;
  /** When each wording was sent, and how often it was repeated since. */
  readonly wordings: Map<string, { readonly sentMs: number; repeats: number }>;
}

/**
 * Returns a function that finds repeated events. An event repeats another if it says the same about the same resource,
 * with no other event of that area in between. So the next `application.failed` after `application.recovered` is news.
 * The function returns how many repetitions were dropped since the last one sent; `undefined`: drop this one.
 */
export function createRepeats(repeatAfterMs: number, clock: Clock): (event: ControllerEvent) => number | undefined {
  const subjects = new Map<string, Subject>();
  return (event) => {
    const [area] = event.type.split('.');
    const about = JSON.stringify([area, event.application, event.resource]);
    const wording = JSON.stringify([event.severity, event.revision, event.message]);
    const known = subjects.get(about);
    const subject: Subject = known?.type === event.type ? known : { type: event.type, wordings: new Map() };
    // Removed and added again, so that the first one is the one unused for longest.
    subjects.delete(about);
    subjects.set(about, subject);
    forgetFirst(subjects, SUBJECTS_MAX);
    const sent = subject.wordings.get(wording);
    if (sent !== undefined && clock.monotonic() - sent.sentMs < repeatAfterMs) {
      sent.repeats += 1;
      return undefined;
    }
    subject.wordings.delete(wording);
    subject.wordings.set(wording, { sentMs: clock.monotonic(), repeats: 0 });
    forgetFirst(subject.wordings, WORDINGS_MAX);
    return sent?.repeats ?? 0;
  };
}

/** Deletes the oldest entry of a map that is too large. */
export function forgetFirst(map: Map<string, unknown>, sizeMax: number): void {
  const [first] = map.keys();
  if (map.size > sizeMax && first !== undefined) map.delete(first);
}
