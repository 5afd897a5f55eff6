import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { marked, type Token } from 'marked';
import { expect, test } from 'vitest';
import { resourceId } from '../../../src/model/ids.ts';
import { renderMarkdown } from '../../../src/report/markdown.ts';
import type { PlanReport } from '../../../src/plan/report.ts';
import { actionOf, planOf } from '../plans.ts';
import { HOSTILE, reportOf, saying } from './hostile.ts';

const golden = join(import.meta.dirname, '..', 'golden');
const plans = readdirSync(golden);
const read = (plan: string): string => readFileSync(join(golden, plan, 'plan.md'), 'utf8');

/** Every token of the text, with those within others. */
function tokensOf(markdown: string): readonly Token[] {
  const tokens: Token[] = [];
  void marked.walkTokens(marked.lexer(markdown, { gfm: true }), (token) => {
    tokens.push(token);
  });
  return tokens;
}

const typesOf = (markdown: string): readonly string[] =>
  tokensOf(markdown).map((token) => (token.type === 'heading' ? `heading ${token['depth']}` : token.type));
const count = (types: readonly string[], type: string): number => types.filter((one) => one === type).length;

test.for(plans)('%s reads as a heading, a table of applications and one folded difference for each', (plan) => {
  const types = typesOf(read(plan));
  expect(count(types, 'heading 3')).toBe(1);
  expect(count(types, 'table')).toBe(1);
  const applications = read(plan).match(/^\| `Application/gm)?.length ?? 0;
  const unchanged = plan === 'empty' ? 1 : 0;
  expect(count(types, 'code')).toBe(applications - unchanged);
  const html = marked.parse(read(plan), { async: false, gfm: true });
  expect(html.match(/<details>/g)?.length ?? 0).toBe(applications - unchanged);
  expect(html.match(/<details>/g)?.length).toBe(html.match(/<\/details>/g)?.length);
  expect(html).toContain('<!-- portolan:');
});

test('what needs a person stands above all else, each with what to do', () => {
  const [held] = tokensOf(read('held')).filter((token) => token.type === 'blockquote');
  expect(held?.raw).toContain('[!CAUTION]');
  expect(read('held').indexOf('[!WARNING]')).toBeLessThan(read('held').indexOf('| Application |'));
});

test.for([
  ['a plan that nothing stands against', [], 'apply'],
  ['what a person may overrule', ['guard/share', 'guard/prunes'], 'approve'],
  ['what nobody may', ['guard/share', 'guard/scope'], 'nothing'],
] as const)('how to carry out exactly this plan is said of %s', ([, codes, said]) => {
  const refusals = codes.map((code) => ({ code, message: 'no', override: 'x' }));
  const report = reportOf([planOf({ actions: [actionOf()] })], { refusals });
  const { digest, scopes } = report.plan;
  const text = renderMarkdown(report);
  expect(text.includes(`portolan apply … --expect ${digest}`)).toBe(said === 'apply');
  expect(text.includes(`portolan approve shop ${scopes[0]?.digest}`)).toBe(said === 'approve');
});

test('plans of one source carry one hidden mark, and applies another', () => {
  const first = (text: string): string | undefined => text.split('\n')[0];
  expect(first(read('mixed'))).toBe('<!-- portolan:plan:default -->');
  expect(first(read('drift'))).toBe(first(read('mixed')));
  expect(first(read('partly-failed'))).toBe('<!-- portolan:apply:default -->');
});

/** What the skeleton of the text is, whatever the texts in it say. */
function skeleton(report: PlanReport): readonly string[] {
  const structure = new Set([
    'table',
    'blockquote',
    'list',
    'list_item',
    'code',
    'html',
    'hr',
    'link',
    'image',
    'strong',
    'em',
    'del',
  ]);
  return typesOf(renderMarkdown(report)).filter((type) => structure.has(type) || type.startsWith('heading'));
}

const HARMLESS = skeleton(saying('harmless'));

test.for(HOSTILE)('no text becomes structure, link or picture: %s', (text) => {
  expect(skeleton(saying(text))).toEqual(HARMLESS);
});

test('no text at all becomes structure', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), (text) => {
      // Ids are not blank: a manifest has a name.
      expect(skeleton(saying(`a${text}`))).toEqual(HARMLESS);
    }),
    { numRuns: 300 },
  );
});

test('nobody is mentioned, and no issue or address linked, outside of code', () => {
  for (const text of HOSTILE) {
    const html = marked.parse(renderMarkdown(saying(text)), { async: false, gfm: true });
    const shown = html.replace(/<!--.*?-->|&#\d+;/g, '').replace(/<(code|pre)[^>]*>.*?<\/\1>/gs, '');
    expect(shown).not.toMatch(/@[a-z0-9]/i);
    expect(shown).not.toMatch(/#\d|GH-\d/);
    expect(shown).not.toMatch(/<(a|img|script|svg|h1)[ >]/);
  }
});

/** A plan of so many changes, each with a value of that length. */
function large(applications: number, changes: number, length: number): PlanReport {
  const value = '上`'.repeat(length / 2);
  return reportOf(
    Array.from({ length: applications }, (_, at) =>
      planOf({
        application: resourceId('Application', `app-${at}`),
        actions: Array.from({ length: changes }, (__, which) =>
          actionOf({
            id: `${which}`,
            resource: resourceId('Component', `c-${at}-${which}`),
            changes: [{ path: 'x', before: value, after: value, cause: 'git' }],
          }),
        ),
        holds: Array.from({ length: changes }, (__, which) => ({
          code: 'rule/not-ours',
          resource: resourceId('HttpGatewayRule', `r-${at}-${which}`),
          message: value,
          remedy: value,
          changes: [],
        })),
      }),
    ),
  );
}

test.for([
  [1, 2_000, 40],
  [2_000, 1, 10],
  [1, 1, 200_000],
  [300, 30, 4],
] as const)(
  '%i applications with %i changes of %i characters fit one comment, and say what they left out',
  ([a, b, c]) => {
    const report = large(a, b, c);
    const text = renderMarkdown(report);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
    expect(text).toContain(report.plan.digest);
    const fences = text.match(/^`{3,}/gm) ?? [];
    expect(fences.length % 2).toBe(0);
    expect(text.match(/<details>/g)?.length ?? 0).toBe(text.match(/<\/details>/g)?.length ?? 0);
    if (a * b > 1) {
      const [, lost = ''] = /(\d+) items? omitted, because a comment has at most 65536 characters/.exec(text) ?? [];
      expect(Number(lost)).toBeGreaterThan(0);
      // As much as fits is shown.
      expect(Buffer.byteLength(text)).toBeGreaterThan(45_000);
    }
  },
);
