import type { ResourceId } from '../model/ids.ts';
import type { Position, Problem } from '../model/problem.ts';
import { safeLine } from '../model/text.ts';
import type { PlanReport } from '../plan/report.ts';
import { entriesOf, type Entry, type Level } from './entries.ts';
import { CAUSE_WORDS, changeText } from '../plan/words.ts';

/** Returns the position of a resource in the manifests; undefined for a resource without a manifest. */
export type PositionOf = (resource: string) => Position | undefined;

/** One entry with a position, for `github` annotations and `sarif`. Lines contain no control characters. */
export interface Finding extends Pick<Entry, 'level' | 'code' | 'resource' | 'key' | 'title'> {
  readonly lines: readonly string[];
  readonly position: Position | undefined;
}

/** Returns the entries of a report with the position of their resource, or of the application if the resource was removed from git. */
export function findingsOf(report: PlanReport, positionOf: PositionOf): readonly Finding[] {
  return entriesOf(report).map((entry) => ({
    ...entry,
    resource: entry.resource ?? entry.application,
    title: titleOf(entry),
    lines: linesOf(entry),
    position: placeOf(entry, positionOf),
  }));
}

export function placeOf({ resource, application }: Entry, positionOf: PositionOf): Position | undefined {
  return (
    (resource === undefined ? undefined : positionOf(resource)) ??
    (application === undefined ? undefined : positionOf(application))
  );
}

/** `Component/shop-web: add port 9000`. */
export function titleOf({ resource, application, title }: Entry): string {
  const subject = resource ?? application;
  return subject === undefined ? title : `${safeLine(subject)}: ${title}`;
}

/** Returns the lines below the title: reason, changes, further effects, remedy. */
export function linesOf({ detail, cause, changes, effects, remedy }: Entry): readonly string[] {
  return [
    ...(detail === undefined ? [] : [detail]),
    ...(cause === undefined ? [] : [CAUSE_WORDS[cause]]),
    ...changes.map((change) => changeText(change, cause)),
    ...effects.map((effect) => `also: ${effect}`),
    ...(remedy === undefined ? [] : [`→ ${remedy}`]),
  ];
}

/** Returns faults of manifests as findings. */
export function problemFindings(problems: readonly Problem[]): readonly Finding[] {
  return problems.map(({ severity = 'error' as const, code, position, resource, path, message, expected, hint }) => ({
    level: severity satisfies Level,
    code,
    resource: resource as ResourceId | undefined,
    key: path,
    title: safeLine(message),
    lines: [
      ...(path === '' ? [] : [`at ${safeLine(path)}`]),
      ...(expected === undefined ? [] : [`expected: ${safeLine(expected)}`]),
      ...(hint === undefined ? [] : [`hint: ${safeLine(hint)}`]),
    ],
    position,
  }));
}

/** Returns the path of a file in the checkout; undefined for standard input, which has none. */
export function fileOf(position: Position | undefined): string | undefined {
  return position === undefined || position.file.startsWith('<') ? undefined : position.file;
}
