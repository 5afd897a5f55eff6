import { expect, test } from 'vitest';
import type { Level } from '../../../src/report/entries.ts';
import { type Finding, findingsOf } from '../../../src/report/findings.ts';
import { renderGithub } from '../../../src/report/github.ts';
import { HOSTILE, saying } from './hostile.ts';

const finding = (level: Level, at: number, rest: Partial<Finding> = {}): Finding => ({
  level,
  code: 'plan/update',
  resource: 'Component/web',
  key: '',
  title: `${level} ${at}`,
  lines: [],
  position: { file: 'shop.yaml', line: at + 1, column: 3 },
  ...rest,
});

test('the worst comes first, ten of each level, and the rest is counted', () => {
  const levels: readonly Level[] = ['notice', 'warning', 'error'];
  const many = levels.flatMap((level) => Array.from({ length: 13 }, (_, at) => finding(level, at)));
  const lines = renderGithub(many, 'Plan: 39 to change').trimEnd().split('\n');
  expect(lines.map((line) => line.split(' ')[0])).toEqual([
    ...Array.from({ length: 10 }, () => '::error'),
    ...Array.from({ length: 10 }, () => '::warning'),
    ...Array.from({ length: 10 }, () => '::notice'),
    'Not',
    'Plan:',
  ]);
  expect(lines[0]).toBe('::error file=shop.yaml,line=1,col=3,title=error 0::error 0');
  expect(lines.at(-2)).toBe(
    'Not annotated, because GitHub shows 10 of each level: 3 errors, 3 warnings, 3 notices. Use -o text to see all.',
  );
});

test.for<[string, Partial<Finding>, string]>([
  [
    'what ends a line or a property',
    { title: 'a:b,c 100%', lines: ['x: 1', '50%'] },
    'title=a%3Ab%2Cc 100%25::x: 1%0A50%25',
  ],
  [
    'a file with a comma',
    { title: 't', position: { file: 'a,b.yaml', line: 1, column: 1 } },
    'file=a%2Cb.yaml,line=1,col=1,title=t::t',
  ],
  ['standard input, which is no file', { title: 't', position: { file: '<stdin>', line: 1, column: 1 } }, 'title=t::t'],
  ['no place at all', { title: 't', position: undefined }, 'title=t::t'],
])('%s', ([, rest, expected]) => {
  expect(renderGithub([finding('error', 0, rest)], 'end').split('\n')[0]).toBe(
    `::error ${rest.position === undefined && !('position' in rest) ? 'file=shop.yaml,line=1,col=3,' : ''}${expected}`,
  );
});

test.for(HOSTILE)('no text is a command of its own: %s', (text) => {
  const lines = renderGithub(
    findingsOf(saying(text), () => undefined),
    text,
  ).split(/[\r\n]/);
  const commands = lines.filter((line) => line.trimStart().startsWith('::'));
  for (const command of commands) expect(command).toMatch(/^::(error|warning|notice) title=[^:,\n]*::/);
  expect(commands.length).toBe(findingsOf(saying(text), () => undefined).length);
  const plain = lines.filter((line) => !commands.includes(line));
  for (const line of plain) expect(line).not.toContain('##[');
});
