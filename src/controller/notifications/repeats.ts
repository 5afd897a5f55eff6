import type { ControllerEvent } from '../../model/status.ts';
import type { Clock } from '../../runtime/clock.ts';

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
