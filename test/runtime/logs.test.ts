import { expect, test } from 'vitest';
import type { Clock } from '../../src/runtime/clock.ts';
import { createJsonLog } from '../../src/runtime/json-log.ts';
import { createTextLog } from '../../src/runtime/text-log.ts';

const clock: Clock = {
  now: () => 1_792_000_000_000,
  monotonic: () => 0,
  sinceBoot: () => ({ boot: '', uptimeMs: 0 }),
  sleep: async () => {},
};

test('the text log writes one line per event, whatever is in it', () => {
  const lines: string[] = [];
  const log = createTextLog('info', (line) => void lines.push(line));
  log.debug('not shown');
  log.info('listening', { port: 7070, url: undefined });
  log.warn('odd answer\n\u001b[31m', { body: 'a b\n"c"', state: '' });
  expect(lines).toEqual([
    'info   listening  port=7070\n',
    'warn   odd answer\\u000a\\u001b[31m  body="a b\\n\\"c\\"" state=""\n',
  ]);
  createTextLog('info', (line) => void lines.push(line), clock).info('a daemon says when');
  expect(lines.at(-1)).toBe('2026-10-14T17:46:40.000Z info   a daemon says when\n');
});

test('the JSON log writes one object per line', () => {
  const lines: string[] = [];
  const log = createJsonLog('warn', clock, (line) => void lines.push(line));
  log.info('not shown');
  log.error('odd\nanswer', { port: 1, url: undefined });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\n]*\n$/);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'error',
    time: '2026-10-14T17:46:40.000Z',
    port: 1,
    msg: 'odd\nanswer',
  });
});

test.for(['text', 'json'] as const)('a silent %s log says nothing', (format) => {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const log = format === 'text' ? createTextLog('silent', write) : createJsonLog('silent', clock, write);
  log.error('nothing');
  expect(lines).toEqual([]);
});
