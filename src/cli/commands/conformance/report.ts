import type { JsonObject } from '../../../model/json.ts';
import * as s from '../../../model/schema-words.ts';
import { safeLine } from '../../../model/text.ts';
import { count } from '../../terminal/text.ts';

export const AREAS = ['reads', 'ports', 'rules', 'installs', 'workflows', 'lost-answers'] as const;
export type Area = (typeof AREAS)[number];

const exchange = s.objectOf('One request and its answer.', {
  request: s.described(s.text, 'Method and address.'),
  body: s.json('The body that was sent, with secrets masked. null: none.'),
  status: s.described(s.nullable<number>({ type: 'integer' }), 'null: there was no answer.'),
  answer: s.described(s.text, 'At most 1,000 characters; empty where an answer may hold secrets of the server.'),
});

export type Exchange = s.TypeOf<typeof exchange>;

const finding = s.objectOf('One check.', {
  area: s.literal(...AREAS),
  id: s.described(s.text, 'Stays the same between runs and versions.'),
  title: s.text,
  verdict: s.described(
    s.literal('conforms', 'differs', 'failed', 'skipped'),
    'differs: the server does not do what Portolan expects. failed: the check could not be carried out.',
  ),
  expected: s.described(s.text, 'Empty where the server conforms.'),
  observed: s.described(s.text, 'Empty where the server conforms. For a skipped check, the reason.'),
  exchanges: s.described(s.arrayOf(exchange), 'The exchanges that led to a difference, oldest first.'),
});

export type Finding = s.TypeOf<typeof finding>;

const formatVersion: s.Schema<1> = { type: 'integer', const: 1 };

const report = s.objectOf('The output of portolan conformance -o json.', {
  formatVersion,
  portolan: s.described(s.text, 'Version of Portolan.'),
  server: s.described(s.text, 'Base address of the server.'),
  dialect: s.literal('documented', 'extended'),
  team: s.text,
  region: s.text,
  appId: s.count,
  startedMs: s.time,
  durationMs: s.described(s.count, 'Milliseconds.'),
  requests: s.described(s.count, 'Requests of the suite itself; those of the commands that it runs are not counted.'),
  summary: s.objectOf('Checks by verdict.', { conforms: s.count, differs: s.count, failed: s.count, skipped: s.count }),
  isComplete: s.boolean('false: ended by a signal.'),
  findings: s.arrayOf(finding),
  remaining: s.described(s.arrayOf(s.text), 'Objects that the suite could not remove.'),
});

/** The output of `portolan conformance -o json`. */
export type ConformanceReport = s.TypeOf<typeof report>;

export const conformanceSchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Conformance report',
  ...report,
};

export function summaryOf(findings: readonly Finding[]): ConformanceReport['summary'] {
  const of = (verdict: Finding['verdict']): number => findings.filter((one) => one.verdict === verdict).length;
  return { conforms: of('conforms'), differs: of('differs'), failed: of('failed'), skipped: of('skipped') };
}

const SIGNS = { differs: '≠', failed: '!', skipped: '-' } as const;

/** Formats the report for people: a line per area, and every finding that does not conform. */
export function renderConformance(report: ConformanceReport): string {
  const { findings, remaining } = report;
  const lines = [
    `${report.server}  (${report.dialect} dialect)  application ${report.team}/${report.region}/${report.appId}`,
    '',
  ];
  for (const area of AREAS) {
    const ofArea = findings.filter((one) => one.area === area);
    if (ofArea.length === 0) continue;
    const { conforms, differs, failed, skipped } = summaryOf(ofArea);
    const words = [
      `${conforms} conform`,
      ...(differs > 0 ? [`${differs} differ`] : []),
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ];
    lines.push(`${area.padEnd(13)} ${words.join(', ')}`);
    for (const one of ofArea) if (one.verdict !== 'conforms') lines.push(...detail(one));
  }
  lines.push(
    '',
    result(report),
    `Took ${Math.round(report.durationMs / 1000)} s, ${count(report.requests, 'request')}.`,
  );
  if (remaining.length > 0) lines.push('', 'Remains on the server:', ...remaining.map((what) => `  ${safeLine(what)}`));
  return `${lines.join('\n')}\n`;
}

function detail({ verdict, id, title, expected, observed, exchanges }: Finding): readonly string[] {
  const sign = SIGNS[verdict as keyof typeof SIGNS];
  const head = `  ${sign} ${safeLine(title)}  [${id}]`;
  if (verdict === 'skipped') return [`${head}: ${safeLine(observed)}`];
  const lines = observed.split('\n').map(safeLine);
  const writes = exchanges.filter(({ request }) => !request.startsWith('GET ')).slice(-LAST_EXCHANGES);
  return [
    head,
    ...(verdict === 'differs' ? [`      expected  ${safeLine(expected)}`] : []),
    `      observed  ${lines.join('\n                ')}`,
    ...writes.map((one) => `      ${exchangeText(one)}`),
  ];
}

const LAST_EXCHANGES = 2;

function exchangeText({ request, body, status, answer }: Exchange): string {
  const sent = body === null ? '' : ` ${JSON.stringify(body)}`;
  return safeLine(`${request}${sent} → ${status ?? 'no answer'} ${answer.slice(0, 200)}`);
}

function result({ summary: { conforms, differs, failed, skipped }, isComplete }: ConformanceReport): string {
  const rest = skipped > 0 ? `, ${skipped} skipped` : '';
  const ended = isComplete ? '' : ' Interrupted.';
  if (differs + failed === 0) return `Conforms: ${count(conforms, 'check')}${rest}.${ended}`;
  const failures = failed > 0 ? `, ${count(failed, 'check')} failed` : '';
  return `Differs: ${differs} of ${count(conforms + differs, 'check')}${failures}${rest}.${ended}`;
}
