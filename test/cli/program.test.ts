import { expect, test } from 'vitest';
import { EXIT, exitCodeOf, reportError } from '../../src/cli/session/exit-codes.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { collectingTerminal, runHere } from './running.ts';

test.for([
  [['--help'], EXIT.ok, /Usage: portolan/, /^$/],
  [['help', 'version'], EXIT.ok, /Usage: portolan version[^]*PORTOLAN_OUTPUT/, /^$/],
  [['version', '--help'], EXIT.ok, /--output <format>/, /^$/],
  [['version'], EXIT.ok, /^portolan \d+\.\d+\.\d+ \(Node /, /^$/],
  [[], EXIT.invalid, /^$/, /Usage: portolan/],
  [['vresion'], EXIT.invalid, /^$/, /unknown command 'vresion'[^]*Did you mean version\?/],
  [['version', '--ouput', 'json'], EXIT.invalid, /^$/, /unknown option '--ouput'[^]*Did you mean --output\?/],
  [['version', '--output'], EXIT.invalid, /^$/, /argument missing/],
  [['version', '--output', 'xml'], EXIT.invalid, /^$/, /Allowed choices are text, json/],
  [['version', 'extra'], EXIT.invalid, /^$/, /too many arguments/],
] as const)('portolan %j ends with %i', async ([args, code, out, err]) => {
  const run = await runHere(args);
  expect(run.code).toBe(code);
  expect(run.out).toMatch(out);
  expect(run.err).toMatch(err);
});

test('a bad variable of the environment is a usage error', async () => {
  const run = await runHere(['version'], { env: { PORTOLAN_OUTPUT: 'xml' } });
  expect(run).toMatchObject({ code: EXIT.invalid, out: '' });
  expect(run.err).toContain('PORTOLAN_OUTPUT');
});

test.for([
  ['retry', 1],
  ['invalid', 3],
  ['ask-human', 4],
  ['unreachable', 5],
  ['locked', 6],
  ['give-up', 1],
] as const)('an error to %s ends with %i, and says what to do', ([disposition, code]) => {
  const { terminal, text } = collectingTerminal();
  const error = new PortolanError({ code: 'test/x', disposition, message: 'what\u001b[2J', remedy: 'do this' });
  expect(reportError(error, { terminal, signal: new AbortController().signal })).toBe(code);
  expect(exitCodeOf(disposition)).toBe(code);
  expect(text).toEqual({ out: '', err: 'error: what\\u001b[2J\n  do this\n  [test/x]  (portolan docs test/x)\n' });
});

test('after a signal, whatever it broke off is an interruption', () => {
  const { terminal, text } = collectingTerminal();
  const error = new Error('aborted in the middle');
  expect(reportError(error, { terminal, signal: AbortSignal.abort() })).toBe(130);
  expect(text.err).toBe('interrupted\n');
});

test('a fault of our own shows where it is', () => {
  const { terminal, text } = collectingTerminal();
  expect(reportError(new TypeError('x is undefined'), { terminal, signal: new AbortController().signal })).toBe(1);
  expect(text.err).toMatch(/because of a bug[^]*TypeError: x is undefined\n +at /);
});
