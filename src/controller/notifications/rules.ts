import type { NotificationRule } from '../../configuration/settings/notifications-spec.ts';
import type { ControllerEvent, EventSeverity } from '../../model/status.ts';
import type { Clock } from '../../runtime/clock.ts';

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

/** What is kept of what was told; with more, the oldest is forgotten and may be told again. */
const SUBJECTS_MAX = 2_000;
const WORDINGS_MAX = 50;

interface Subject {
  readonly type: string;
  /** Wording → when it was told, and how many equal ones came since. */
  readonly wordings: Map<string, { readonly toldMs: number; repeats: number }>;
}

/**
 * Tells what is new from what was told already. An event repeats another when it says the same of the same thing, and
 * nothing else of that kind has happened to it in between: after `application.recovered`, the next
 * `application.failed` is news.
 * @returns how many equal ones were left out since it was told last; undefined: leave it out.
 */
export function createRepeats(repeatAfterMs: number, clock: Clock): (event: ControllerEvent) => number | undefined {
  const subjects = new Map<string, Subject>();
  return (event) => {
    const [area] = event.type.split('.');
    const about = JSON.stringify([area, event.application, event.resource]);
    const wording = JSON.stringify([event.severity, event.revision, event.message]);
    const known = subjects.get(about);
    const subject: Subject = known?.type === event.type ? known : { type: event.type, wordings: new Map() };
    // Taken out and put in again, so that the first one is always the one unused for longest.
    subjects.delete(about);
    subjects.set(about, subject);
    forgetFirst(subjects, SUBJECTS_MAX);
    const told = subject.wordings.get(wording);
    if (told !== undefined && clock.monotonic() - told.toldMs < repeatAfterMs) {
      told.repeats += 1;
      return undefined;
    }
    subject.wordings.delete(wording);
    subject.wordings.set(wording, { toldMs: clock.monotonic(), repeats: 0 });
    forgetFirst(subject.wordings, WORDINGS_MAX);
    return told?.repeats ?? 0;
  };
}

function forgetFirst(map: Map<string, unknown>, sizeMax: number): void {
  const [first] = map.keys();
  if (map.size > sizeMax && first !== undefined) map.delete(first);
}
