import { expect, test } from 'vitest';
import type { PlanReport, ScopeResult } from '../../../src/plan/report.ts';
import { entriesOf } from '../../../src/report/entries.ts';
import { PLAN_FORMATS, type PlanFormat, renderReport } from '../../../src/report/formats.ts';
import { plainPaint } from '../../../src/report/text.ts';
import { actionOf, planOf } from '../plans.ts';
import { reportOf } from './hostile.ts';

/** Each part ends its line, clears the screen or turns round what follows; the forged line would be shown as a change. */
const FORGED = '+ Component/forged create';
const TEXT = `said\n${FORGED}\r\u001b[2J\u009b31m\u202egnp.exe\u2028${FORGED}`;
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

const error = { code: 'x/y', disposition: 'give-up', message: TEXT, remedy: TEXT } as const;
const action = actionOf({ summary: TEXT });
const hold = { code: 'a/b', resource: action.resource, message: TEXT, remedy: TEXT, changes: [] };
const outcomes: readonly ScopeResult[] = [
  {
    type: 'ended',
    application: 'Application/shop',
    results: [
      {
        action,
        status: 'failed',
        answer: { status: 400, code: 1, message: TEXT },
        request: TEXT,
        reason: { type: 'refused' },
        remedy: TEXT,
      },
    ],
    waits: [{ resource: action.resource, message: TEXT, untilMs: 0 }],
    rounds: 1,
    remaining: planOf({ holds: [hold] }),
    error,
  },
  { type: 'unobserved', application: 'Application/gone', error },
];

const scope = planOf({
  actions: [{ ...action, effects: [TEXT] }],
  deferred: [{ resource: action.resource, waitsFor: action.resource, desired: null, summary: TEXT }],
  holds: [hold],
  notes: [{ code: 'a/c', resource: action.resource, message: TEXT }],
});

/** With a title, a detail and a remedy of every state, of a plan and of what became of it. */
const planned = reportOf([scope], {
  unobserved: [{ ...error, application: 'Application/gone' }],
  refusals: [{ code: 'guard/share', message: TEXT, override: TEXT }],
  notes: [{ code: 'a/d', message: TEXT }],
});
const reports: Readonly<Record<'plan' | 'apply', PlanReport>> = {
  plan: planned,
  apply: {
    ...planned,
    applied: { exitCode: 1, outcomes, refused: { ...error, code: 'apply/other-plan', expected: 'a', now: 'b' } },
  },
};

test.for(['plan', 'apply'] as const)('each text of an entry of the %s is one safe line', (which) => {
  const entries = entriesOf(reports[which]);
  for (const { state, title, detail = '', remedy = '', effects } of entries)
    for (const text of [title, detail, remedy, ...effects]) expect(text, state).not.toMatch(/[\u0000-\u001f\u202e]/);
  expect(entries.filter(({ remedy }) => remedy?.includes('said')).length).toBe(which === 'plan' ? 3 : 6);
});

/** All strings of a value, with the names of its members. */
function stringsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.entries(value).flat().flatMap(stringsOf) : [];
}

// These give programs the values as they are.
const VALUES: readonly PlanFormat[] = ['json', 'jsonl', 'yaml'];
const cases = PLAN_FORMATS.filter((format) => !VALUES.includes(format)).flatMap((format) =>
  (['plan', 'apply'] as const).map((which) => [format, which] as const),
);

test.for(cases)('%s: no text of the %s forges a line or holds a control character', async ([format, which]) => {
  const context = { positionOf: () => undefined, version: '1', paint: plainPaint };
  const text = await renderReport(reports[which], format, context);
  for (const line of text.split(/[\n\r]/)) expect(line).not.toMatch(/^\s*\+ Component\/forged/);
  expect(text).not.toMatch(UNSAFE);
  if (format !== 'sarif') return;
  // Our own texts have line feeds between their lines.
  for (const one of stringsOf(JSON.parse(text)))
    for (const line of one.split('\n')) {
      expect(line).not.toMatch(UNSAFE);
      expect(line.startsWith(FORGED)).toBe(false);
    }
});
