import { expect, test } from 'vitest';
import { PLAN_FORMATS, renderReport } from '../../../src/report/formats.ts';
import { plainPaint } from '../../../src/report/text.ts';
import { reportOf } from './hostile.ts';

const WHY = 'GET https://console.example.com/openapi/v1: connection refused';
const applications = ['Application/a', 'Application/b', 'Application/c'];
const report = reportOf([], {
  unobserved: applications.map((application) => ({
    application,
    code: 'platform/unreachable',
    disposition: 'unreachable' as const,
    message: WHY,
    remedy: 'Check the address.',
  })),
  refusals: [1, 2].map(() => ({ code: 'guard/share', message: 'too much at once', override: '--max-share 1' })),
});

// Programs read these per application; everything for people says one cause once. GitLab shows only what has a position.
const EACH: readonly string[] = ['json', 'jsonl', 'yaml', 'junit', 'gitlab'];

test.for(PLAN_FORMATS.filter((format) => !EACH.includes(format)))(
  '%s: one cause that stops three applications is said once, and names them all',
  async (format) => {
    const text = await renderReport(report, format, { positionOf: () => undefined, version: '1', paint: plainPaint });
    expect(text.split('connection refused').length - 1).toBe(1);
    expect(text.split('too much at once').length - 1).toBe(1);
    for (const application of applications) expect(text).toContain(application);
  },
);

test('junit keeps a case for each application', async () => {
  const text = await renderReport(report, 'junit', { positionOf: () => undefined, version: '1', paint: plainPaint });
  for (const application of applications) expect(text).toContain(application);
  expect(text.split('connection refused').length - 1).toBeGreaterThanOrEqual(3);
});
