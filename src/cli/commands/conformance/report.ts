import type { JsonObject } from '../../../model/json.ts';
import {
  arrayOf,
  boolean,
  count,
  described,
  json,
  literal,
  nullable,
  objectOf,
  type Schema,
  text,
  time,
  type TypeOf,
} from '../../../model/schema-words.ts';
import { safeLine } from '../../../model/text.ts';
import { count as counted } from '../../terminal/text.ts';

export const AREAS = ['reads', 'ports', 'rules', 'installs', 'workflows', 'lost-answers'] as const;
export type Area = (typeof AREAS)[number];

const exchange = objectOf('One request and its answer.', {
  request: described(text, 'Method and address.'),
  body: json('The body that was sent, with secrets masked. null: none.'),
  status: described(nullable<number>({ type: 'integer' }), 'null: there was no answer.'),
  answer: described(text, 'At most 1,000 characters; empty where an answer may hold secrets of the server.'),
});

export type Exchange = TypeOf<typeof exchange>;

const finding = objectOf('One check.', {
  area: literal(...AREAS),
  id: described(text, 'Stays the same between runs and versions.'),
  title: text,
  verdict: described(
    literal('conforms', 'differs', 'failed', 'skipped'),
    'differs: the server does not do what Portolan expects. failed: the check could not be carried out.',
  ),
  expected: described(text, 'Empty where the server conforms.'),
  observed: described(text, 'Empty where the server conforms. For a skipped check, the reason.'),
  exchanges: described(arrayOf(exchange), 'The exchanges that led to a difference, oldest first.'),
});

export type Finding = TypeOf<typeof finding>;

const formatVersion: Schema<1> = { type: 'integer', const: 1 };

const report = objectOf('The output of portolan conformance -o json.', {
  formatVersion,
  portolan: described(text, 'Version of Portolan.'),
  server: described(text, 'Base address of the server.'),
  dialect: literal('documented', 'extended'),
  team: text,
  region: text,
  appId: count,
  startedMs: time,
  durationMs: described(count, 'Milliseconds.'),
  requests: described(count, 'Requests of the suite itself; those of the commands that it runs are not counted.'),
  summary: objectOf('Checks by verdict.', { conforms: count, differs: count, failed: count, skipped: count }),
  isComplete: boolean('false: ended by a signal.'),
  findings: arrayOf(finding),
  remaining: described(arrayOf(text), 'Objects that the suite could not remove.'),
});

/** The output of `portolan conformance -o json`. */
export type ConformanceReport = TypeOf<typeof report>;

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
    `Took ${Math.round(report.durationMs / 1000)} s, ${counted(report.requests, 'request')}.`,
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
  if (differs + failed === 0) return `Conforms: ${counted(conforms, 'check')}${rest}.${ended}`;
  const failures = failed > 0 ? `, ${counted(failed, 'check')} failed` : '';
  return `Differs: ${differs} of ${counted(conforms + differs, 'check')}${failures}${rest}.${ended}`;
}
