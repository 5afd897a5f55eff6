import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parseAllDocuments } from 'yaml';
import { expect, test } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { type PlanFormat, renderReport } from '../../../src/report/formats.ts';
import { plainPaint } from '../../../src/report/text.ts';
import { reportSchemas } from '../../../src/report/report-schema.ts';
import { HOSTILE, saying } from './hostile.ts';

const golden = join(import.meta.dirname, '..', 'golden');
const standards = join(import.meta.dirname, '..', 'standards');
const plans = readdirSync(golden).sort();
const read = (plan: string, file: string): string => readFileSync(join(golden, plan, file), 'utf8');

function ours(file: string): ValidateFunction {
  return new Ajv2020({ strict: true, allErrors: true }).compile(reportSchemas[file]!);
}

const isPlan = ours('plan.schema.json');
const isApply = ours('apply.schema.json');
const isLine = ours('plan-line.schema.json');

test('there is a golden plan of each sort', () => {
  expect(plans).toEqual(['drift', 'empty', 'first-apply', 'held', 'mixed', 'not-observed', 'partly-failed']);
});

test.for(plans)('%s: JSON and YAML are one value, as our JSON Schema says', (plan) => {
  const value: unknown = JSON.parse(read(plan, 'plan.json'));
  const isValid = plan === 'partly-failed' ? isApply : isPlan;
  expect(isValid(value), JSON.stringify(isValid.errors)).toBe(true);
  // 1.1 is what half of all readers still are.
  for (const version of ['1.1', '1.2'] as const) {
    const [document, ...more] = parseAllDocuments(read(plan, 'plan.yaml'), { version });
    expect(more).toEqual([]);
    expect(document?.toJS()).toEqual(value);
  }
});

test.for(plans)('%s: every line of JSONL is as our JSON Schema says, the first names the version', (plan) => {
  const lines = read(plan, 'plan.jsonl').trimEnd().split('\n');
  const values = lines.map((line) => JSON.parse(line) as { type: string });
  for (const [at, value] of values.entries()) {
    expect(isLine(value), `${lines[at]}\n${JSON.stringify(isLine.errors)}`).toBe(true);
  }
  expect(values[0]).toEqual({ type: 'version', formatVersion: 1, portolan: 'VERSION' });
  expect(values.at(-1)?.type).toBe(plan === 'partly-failed' ? 'end' : 'summary');
});

test('a value with a member that the schemas do not name is refused by all of them', () => {
  const plan = JSON.parse(read('mixed', 'plan.json')) as { scopes: { actions: object[] }[] };
  Object.assign(plan.scopes[0]!.actions[0]!, { surprise: true });
  expect(isPlan(plan)).toBe(false);
  expect(isLine({ type: 'end', exitCode: 0, surprise: true })).toBe(false);
  expect(isApply({ formatVersion: 1, exitCode: 0, plan, outcomes: [] })).toBe(false);
});

/** The published schema is of draft 4; all that tells it from draft 7 are the names of two keywords at its top. */
function sarifSchema(): ValidateFunction {
  const {
    $schema: _,
    id,
    ...schema
  } = JSON.parse(readFileSync(join(standards, 'sarif-2.1.0.json'), 'utf8')) as {
    $schema: string;
    id: string;
  };
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
  ajv.addFormat('uri', (text) => URL.canParse(text));
  ajv.addFormat('uri-reference', (text) => URL.canParse(text, 'http://base/') && !/[\s\\^`{|}<>"]/.test(text));
  ajv.addFormat('date-time', (text) => !Number.isNaN(Date.parse(text)));
  return ajv.compile({ $id: id, ...schema });
}

const isSarif = sarifSchema();

test.for(plans)('%s: SARIF is valid by the public schema, and every result has its rule', (plan) => {
  const log = JSON.parse(read(plan, 'plan.sarif'));
  expect(isSarif(log), JSON.stringify(isSarif.errors)).toBe(true);
  const [run] = log.runs;
  for (const result of run.results) {
    expect(run.tool.driver.rules[result.ruleIndex].id).toBe(result.ruleId);
    if (result.locations.length > 0) expect(result.locations[0].physicalLocation).toBeDefined();
  }
  const prints = run.results.map((result: { partialFingerprints: object }) =>
    JSON.stringify(result.partialFingerprints),
  );
  expect(new Set(prints).size).toBe(prints.length);
});

test('the SARIF schema refuses what is none', () => {
  expect(isSarif({ version: '2.1.0' })).toBe(false);
  expect(isSarif({ version: '2.1.0', runs: [{ tool: { driver: { name: 'x' } }, surprise: 1 }] })).toBe(false);
});

const junitSchema = readFileSync(join(standards, 'jenkins-junit.xsd'), 'utf8');

const isJunit = (xml: string) => validateXML({ xml: [{ fileName: 'plan.xml', contents: xml }], schema: [junitSchema] });

test.for(plans)('%s: JUnit is valid by the schema of Jenkins, and counts what it holds', async (plan) => {
  const xml = read(plan, 'plan.xml');
  expect((await isJunit(xml)).errors).toEqual([]);
  const number = (tag: string): number => xml.match(new RegExp(`<${tag}[ >]`, 'g'))?.length ?? 0;
  expect(xml).toContain(
    `<testsuites name="portolan" tests="${number('testcase')}" failures="${number('failure')}" errors="${number('error')}">`,
  );
});

test('the schema of Jenkins refuses what is no report', async () => {
  expect((await isJunit('<testsuites><testsuite tests="1"/></testsuites>')).valid).toBe(false);
});

test.for(HOSTILE)('no text breaks a format of programs: %s', async (text) => {
  const report = saying(text);
  const context = {
    positionOf: () => ({ file: `a b/${text}`, line: 1, column: 1 }),
    version: '0.0.0',
    paint: plainPaint,
  };
  const rendered = (format: PlanFormat): Promise<string> => renderReport(report, format, context);
  // Half a character is none, and a file holds none either.
  const written = async (format: PlanFormat): Promise<string> => Buffer.from(await rendered(format)).toString();
  const value: unknown = JSON.parse(await written('json'));
  expect(isPlan(value), JSON.stringify(isPlan.errors)).toBe(true);
  expect(parseAllDocuments(await written('yaml')).map((document) => document.toJS() as unknown)).toEqual([value]);
  for (const line of (await written('jsonl')).trimEnd().split('\n')) expect(isLine(JSON.parse(line)), line).toBe(true);
  const sarif = JSON.parse(await written('sarif')) as unknown;
  expect(isSarif(sarif), JSON.stringify(isSarif.errors)).toBe(true);
  expect((await isJunit(await written('junit'))).errors).toEqual([]);
});
