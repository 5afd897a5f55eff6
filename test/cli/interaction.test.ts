import { expect, test } from 'vitest';
import { confirm } from '../../src/cli/terminal/terminal.ts';
import { withLiveRegion } from '../../src/cli/terminal/live-region.ts';
import { Progress } from '../../src/cli/terminal/progress.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { collectingTerminal } from './running.ts';
import { Screen } from './screen.ts';

test.for([
  ['y', true],
  ['YES', true],
  [' y ', true],
  ['', false],
  ['no', false],
  ['yep', false],
] as const)('the answer "%s" is %s', async ([answer, expected]) => {
  const { terminal, text } = collectingTerminal({ isTerminal: true, answers: [answer] });
  expect(await confirm(terminal, 'Apply 3 actions?', '--yes')).toBe(expected);
  expect(text).toEqual({ out: '', err: 'Apply 3 actions? [y/N] ' });
});

test('without a terminal nothing is asked, and the flag to pass is named', async () => {
  const { terminal, text } = collectingTerminal();
  await expect(confirm(terminal, 'Apply 3 actions?', '--yes')).rejects.toMatchObject({
    code: 'cli/no-terminal',
    disposition: 'invalid',
    remedy: expect.stringContaining('--yes'),
  });
  expect(text).toEqual({ out: '', err: '' });
});

function progressOn(settings: { columns?: number; rows?: number; outIsTerminal?: boolean; isTerminal?: boolean }) {
  const screen = new Screen();
  const piped: string[] = [];
  const { columns = 80, rows = 24, isTerminal = true, outIsTerminal = true } = settings;
  const shape = { columns, rows, color: false };
  const { terminal, live } = withLiveRegion({
    out: {
      ...shape,
      isTerminal: outIsTerminal,
      write: (text) => (outIsTerminal ? screen.write(text) : void piped.push(text)),
    },
    err: { ...shape, isTerminal, write: (text) => screen.write(text) },
    async *input() {},
  });
  const clock = new VirtualClock();
  return { screen, piped, terminal, clock, progress: new Progress({ terminal, live, clock }) };
}

test('on a terminal, what is going on is one line that is rewritten, cut to fit and taken away', () => {
  const { screen, progress } = progressOn({ columns: 13 });
  progress.at('shop', 'a step that is long');
  expect(screen.lines).toEqual(['a step that…']);
  progress.line('done');
  expect(screen.lines).toEqual(['done', 'a step that…']);
  progress.clear();
  expect(screen.lines).toEqual(['done', '']);
});

test('a step says how long it takes already, and a wait how long it may take yet', async () => {
  const { screen, clock, progress } = progressOn({});
  progress.at('shop', 'apply 3/7  Component/shop-web: open outer access of port 8080');
  expect(screen.lines).toEqual(['apply 3/7  Component/shop-web: open outer access of port 8080']);
  await clock.sleep(4_500);
  expect(screen.lines).toEqual(['4s  apply 3/7  Component/shop-web: open outer access of port 8080']);
  progress.waits('shop', 'StoreInstall/db must come to run', clock.now() + 100_000);
  await clock.sleep(10_500);
  expect(screen.lines).toEqual(['wait until 12:01:44Z (in 1m30s)  StoreInstall/db must come to run']);
  progress.clear();
});

test('several applications are a line each below a summary, as far as there is room', async () => {
  const { screen, clock, progress } = progressOn({ rows: 5 });
  progress.tally('apply: 2 of 9 done');
  for (const name of ['blog', 'shop', 'wiki']) progress.at(name, `apply 3/9  Component/${name}-web: add port 80`);
  progress.waits('shop', 'it must run', clock.now() + 60_000);
  expect(screen.lines).toEqual([
    'apply: 2 of 9 done, 3 applications under way, 1 of them waiting  0s',
    '  blog  apply 3/9  Component/blog-web: add port 80',
    '  shop  wait until 12:01:00Z (in 1m)  it must run',
    '  wiki  apply 3/9  Component/wiki-web: add port 80',
  ]);
  progress.at('zoo', 'apply 4/9  Component/zoo-web: add port 80');
  expect(screen.lines.slice(2)).toEqual([
    '  shop  wait until 12:01:00Z (in 1m)  it must run',
    '  and 2 applications more',
  ]);
  progress.rest('blog');
  progress.rest('wiki');
  progress.rest('zoo');
  expect(screen.lines).toEqual(['apply: 2 of 9 done, wait until 12:01:00Z (in 1m)  it must run']);
  progress.clear();
  await clock.sleep(10_000);
  expect(screen.lines).toEqual(['']);
});

test('results and logs go above what is going on, and never into it', () => {
  const { screen, terminal, progress } = progressOn({});
  progress.at('a', 'one');
  progress.at('b', 'two');
  terminal.out.write('a result\n');
  terminal.err.write('warn  a log line\n');
  terminal.out.write('half of a ');
  terminal.out.write('line\n');
  expect(screen.lines).toEqual([
    'a result',
    'warn  a log line',
    'half of a line',
    '2 applications under way  0s',
    '  a  one',
    '  b  two',
  ]);
  progress.clear();
});

test('where results go into a pipe, nothing of what is going on is among them', () => {
  const { screen, piped, terminal, progress } = progressOn({ outIsTerminal: false });
  progress.at('a', 'one');
  terminal.out.write('a result\n');
  progress.clear();
  expect(piped).toEqual(['a result\n']);
  expect(screen.lines).toEqual(['']);
});

test('without a terminal there is a line for what ended, for what is waited for and for what takes long, and none twice', async () => {
  const { screen, clock, progress } = progressOn({ isTerminal: false, outIsTerminal: false });
  progress.at('shop', 'apply 1/2  a');
  progress.line('✓ a\u001b[2K  (1/2)');
  progress.at('shop', 'apply 2/2  b');
  await clock.sleep(31_000);
  const untilMs = clock.now() + 60_000;
  for (let times = 0; times < 3; times += 1) progress.waits('shop', 'it must run', untilMs);
  await clock.sleep(31_000);
  progress.clear();
  expect(screen.lines).toEqual([
    '✓ a\\u001b[2K  (1/2)',
    'wait  apply 2/2  b, since 30s',
    'wait  it must run (until 2026-11-20T12:01:31.000Z)',
    '',
  ]);
});

test('without a terminal, what takes long is said half a minute after it began, whatever came before it', async () => {
  const { screen, clock, progress } = progressOn({ isTerminal: false, outIsTerminal: false });
  progress.at('shop', 'one');
  await clock.sleep(20_000);
  progress.at('shop', 'two');
  await clock.sleep(20_000);
  expect(screen.lines).toEqual(['']);
  await clock.sleep(11_000);
  expect(screen.lines).toEqual(['wait  two, since 30s', '']);
  progress.at('shop', 'three');
  await clock.sleep(31_000);
  progress.clear();
  expect(screen.lines).toEqual(['wait  two, since 30s', 'wait  three, since 30s', '']);
});
