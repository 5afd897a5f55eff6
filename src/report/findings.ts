import type { ResourceId } from '../model/ids.ts';
import type { Position, Problem } from '../model/problem.ts';
import { safeLine } from '../model/text.ts';
import type { PlanReport } from '../plan/report.ts';
import { entriesOf, type Entry } from './entries.ts';
import { CAUSE_WORDS, changeText } from '../plan/words.ts';

/** Where a resource stands in the manifests; undefined for what they do not hold. */
export type PositionOf = (resource: string) => Position | undefined;

/** One thing with a place in a file: what `github` annotations and `sarif` are made of. Lines hold no control characters. */
export interface Finding extends Pick<Entry, 'level' | 'code' | 'resource' | 'key' | 'title'> {
  readonly lines: readonly string[];
  readonly position: Position | undefined;
}

/** What a report says, each at the manifest of its resource; at that of its application where git no longer has one. */
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

/** All that is behind the title: why, what changes, what else it does, what to do. */
export function linesOf({ detail, cause, changes, effects, remedy }: Entry): readonly string[] {
  return [
    ...(detail === undefined ? [] : [detail]),
    ...(cause === undefined ? [] : [CAUSE_WORDS[cause]]),
    ...changes.map((change) => changeText(change, cause)),
    ...effects.map((effect) => `also: ${effect}`),
    ...(remedy === undefined ? [] : [`→ ${remedy}`]),
  ];
}

/** Faults of manifests as findings; all of them are errors. */
export function problemFindings(problems: readonly Problem[]): readonly Finding[] {
  return problems.map(({ code, position, resource, path, message, expected, hint }) => ({
    level: 'error',
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

/** A file as the checkout names it; undefined for standard input, which has no name. */
export function fileOf(position: Position | undefined): string | undefined {
  return position === undefined || position.file.startsWith('<') ? undefined : position.file;
}
