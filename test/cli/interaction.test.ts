import { expect, test } from 'vitest';
import { confirm } from '../../src/cli/confirm.ts';
import { createProgress } from '../../src/cli/progress.ts';
import { collectingTerminal } from './running.ts';

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

test('on a terminal, progress is one line that is rewritten and taken away', () => {
  const { terminal, text } = collectingTerminal({ isTerminal: true, columns: 12 });
  const progress = createProgress(terminal.err);
  progress.step('a step that is long');
  progress.line('done');
  progress.clear();
  expect(text.err).toBe('\r\u001b[2Ka step tha…\r\u001b[2Kdone\n');
});

test('elsewhere, progress is one line per step, without escape sequences', () => {
  const { terminal, text } = collectingTerminal();
  const progress = createProgress(terminal.err);
  progress.step('one');
  progress.step('one');
  progress.step('two\u001b[2K');
  progress.clear();
  expect(text.err).toBe('one\ntwo\\u001b[2K\n');
});
