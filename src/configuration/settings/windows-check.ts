import { Cron } from 'croner';
import { durationProblems, repeats } from '../../kinds/problems.ts';
import type { SpecProblem } from '../../kinds/kind.ts';
import type { WindowSpec } from './windows-spec.ts';

const DURATION_BOUNDS = {
  code: 'settings/window-duration',
  longestMs: 366 * 24 * 3600 * 1000,
  expected: 'more than 0s and at most 8784h, which is 366 days',
};
/** Any moment will do to ask whether a schedule ever comes: the search goes on for centuries. */
const SOME_DATE = new Date(Date.UTC(2024, 0, 1));

/** What the schema cannot say of windows: schedules and time zones that mean something, durations, names of their own. */
export function windowProblems(windows: readonly WindowSpec[]): readonly SpecProblem[] {
  return [
    ...repeats(windows.map(({ name }) => name)).map(({ value, index }) => ({
      code: 'settings/window-name',
      path: `spec.windows[${index}].name`,
      message: `two windows are called ${value}`,
      expected: 'a name of its own: status and events name the window that is in the way',
    })),
    ...windows.flatMap((window, index) => [
      ...timeProblems(window, `spec.windows[${index}]`),
      ...durationProblems(window.duration, `spec.windows[${index}].duration`, DURATION_BOUNDS),
    ]),
  ];
}

function timeProblems({ schedule, timeZone }: WindowSpec, path: string): readonly SpecProblem[] {
  if (!isTimeZone(timeZone)) {
    return [
      {
        code: 'settings/window-time-zone',
        path: `${path}.timeZone`,
        message: `there is no time zone ${timeZone}`,
        expected: 'a name of the IANA time zone database, such as Europe/Berlin or UTC',
      },
    ];
  }
  const fault = scheduleFault(schedule, timeZone);
  if (fault === undefined) return [];
  return [
    {
      code: 'settings/window-schedule',
      path: `${path}.schedule`,
      message: fault,
      expected: 'five fields of cron (minute, hour, day of month, month, day of week), such as 0 22 * * 1-5',
    },
  ];
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function scheduleFault(schedule: string, timezone: string): string | undefined {
  const fields = schedule.trim().split(/\s+/).length;
  if (fields !== 5 && !schedule.startsWith('@'))
    return `the schedule ${schedule} has ${fields === 1 ? 'one field' : `${fields} fields`}`;
  try {
    const next = new Cron(schedule, { mode: '5-part', timezone }).nextRun(SOME_DATE);
    return next === null ? `the schedule ${schedule} never comes` : undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Cron\w+: /, '') : String(error);
    return `the schedule ${schedule} cannot be read: ${why}`;
  }
}
