import type { Problem } from '../model/problem.ts';
import { safeText } from '../model/text.ts';
import type { PlanReport } from '../plan/report.ts';
import { entriesOf, type Entry, type State, STATES } from './entries.ts';
import { linesOf, placeOf, type PositionOf, problemFindings } from './findings.ts';
import { escaped } from './markdown-text.ts';

export interface JunitCase {
  readonly name: string;
  readonly classname: string;
  readonly verdict: State['junit'];
  /** One line. */
  readonly message: string;
  /** The details, also of a case that passed. */
  readonly text: string;
  /** The code of the entry. */
  readonly type: string;
}

export interface JunitSuite {
  readonly name: string;
  readonly cases: readonly JunitCase[];
}

/** Returns one suite for each application. A resource in sync or to be changed has passed; one that requires manual action has failed. */
export function reportSuites(report: PlanReport, positionOf: PositionOf): readonly JunitSuite[] {
  const entries = Map.groupBy(entriesOf(report, { isEachItsOwn: true }), (entry) => entry.application);
  const casesOf = (application: string | undefined): readonly JunitCase[] =>
    (entries.get(application) ?? []).map((entry) => caseOf(entry, positionOf));
  const { scopes, unobserved } = report.plan;
  const applications = new Set<string>([...scopes, ...unobserved].map(({ application }) => application));
  const inSync = new Map<string, readonly string[]>(scopes.map((scope) => [scope.application, scope.inSync]));
  const suites = Array.from(applications, (name) => ({
    name,
    cases: [...casesOf(name), ...(inSync.get(name) ?? []).map((resource) => passed(resource, 'in sync'))],
  }));
  const ofRun = casesOf(undefined);
  return ofRun.length === 0 ? suites : [...suites, { name: `source ${report.plan.source}`, cases: ofRun }];
}

/** Returns one case for each fault, and one for each resource without faults. */
export function problemSuites(problems: readonly Problem[], resources: readonly string[]): readonly JunitSuite[] {
  const faults = problemFindings(problems).map(
    ({ level, code, resource, title, lines, position }): JunitCase => ({
      name: title,
      classname: resource ?? position?.file ?? 'manifests',
      verdict: level === 'error' ? 'failure' : 'passed',
      message: title,
      text: [...placeLine(position), ...lines].join('\n'),
      type: code,
    }),
  );
  return [{ name: 'manifests', cases: [...faults, ...resources.map((resource) => passed(resource, 'valid'))] }];
}

function passed(resource: string, name: string): JunitCase {
  return { name, classname: resource, verdict: 'passed', message: '', text: '', type: '' };
}

function caseOf(entry: Entry, positionOf: PositionOf): JunitCase {
  return {
    // One resource may have several holds.
    name: entry.state === 'held' || entry.state === 'refused' ? `${entry.title} (${entry.code})` : entry.title,
    classname: entry.resource ?? entry.application ?? 'run',
    verdict: STATES[entry.state].junit,
    message: entry.detail ?? entry.title,
    text: [...placeLine(placeOf(entry, positionOf)), ...linesOf(entry)].join('\n'),
    type: entry.code,
  };
}

function placeLine(position: ReturnType<PositionOf>): readonly string[] {
  return position === undefined ? [] : [`${position.file}:${position.line}:${position.column}`];
}

/** Returns suites as JUnit XML, as Jenkins and GitLab read it. */
export function renderJunit(suites: readonly JunitSuite[]): string {
  const all = suites.flatMap(({ cases }) => cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="portolan" ${counts(all)}>`,
    ...suites.flatMap(({ name, cases }) => [
      `  <testsuite name="${xml(name)}" ${counts(cases)} skipped="${number(cases, 'skipped')}">`,
      ...cases.map(renderCase),
      '  </testsuite>',
    ]),
    '</testsuites>\n',
  ].join('\n');
}

function counts(cases: readonly JunitCase[]): string {
  return `tests="${cases.length}" failures="${number(cases, 'failure')}" errors="${number(cases, 'error')}"`;
}

function number(cases: readonly JunitCase[], verdict: JunitCase['verdict']): number {
  return cases.filter((one) => one.verdict === verdict).length;
}

function renderCase({ name, classname, verdict, message, text, type }: JunitCase): string {
  const head = `    <testcase name="${xml(name)}" classname="${xml(classname)}"`;
  const within = (element: string): string => `${head}>\n      ${element}\n    </testcase>`;
  if (verdict === 'passed') return text === '' ? `${head}/>` : within(`<system-out>${xml(text)}</system-out>`);
  // `skipped` has no attributes in older schemas.
  if (verdict === 'skipped') return within(`<skipped>${xml(text === '' ? message : text)}</skipped>`);
  return within(`<${verdict} type="${xml(type)}" message="${xml(message)}">${xml(text)}</${verdict}>`);
}

/** Escapes text and attribute values. Characters that XML cannot contain become `\u0000`. */
function xml(text: string): string {
  const safe = safeText(text.toWellFormed());
  return escaped(safe.replace(/[\ufffe\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`));
}
