import { Command, Option } from '@commander-js/extra-typings';
import { expect, test } from 'vitest';
import { applyEnvironment, variableOf } from '../../src/cli/session/env-options.ts';
import {
  collectOrAll,
  durationArgument,
  filenameOption,
  integerArgument,
  outputOption,
} from '../../src/cli/session/options.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { runHere } from './running.ts';

/** What the options of a command come to, from a command line and an environment. */
function resolve(args: readonly string[], env: Record<string, string>): Record<string, unknown> {
  const command = new Command('watch')
    .addOption(new Option('--port <n>').argParser(integerArgument(0, 65535)).default(7070))
    .addOption(new Option('--since <time>').argParser(durationArgument))
    .addOption(new Option('--prune'))
    .addOption(new Option('--no-color'))
    .addOption(outputOption(['text', 'json']))
    .addOption(filenameOption())
    .addOption(new Option('--adopt [resource]').argParser(collectOrAll))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  command.parse(args, { from: 'user' });
  applyEnvironment('watch', command, env);
  return command.opts();
}

const defaults = { port: 7070, color: true, output: 'text' };

test.for([
  ['nothing', [], {}, {}],
  ['a flag', ['--port', '1'], {}, { port: 1 }],
  ['a variable', [], { PORTOLAN_WATCH_PORT: '2' }, { port: 2 }],
  ['a flag before a variable', ['--port', '1'], { PORTOLAN_WATCH_PORT: '2' }, { port: 1 }],
  ['an empty variable', [], { PORTOLAN_WATCH_PORT: '' }, {}],
  ['what Kubernetes sets beside a service called portolan', [], { PORTOLAN_PORT: 'tcp://10.0.0.1:80' }, {}],
  ['a duration', [], { PORTOLAN_WATCH_SINCE: '1h30m' }, { since: 5_400_000 }],
  ['a flag that is set', [], { PORTOLAN_WATCH_PRUNE: 'true' }, { prune: true }],
  ['a flag that is unset: the word false is not a yes', [], { PORTOLAN_WATCH_PRUNE: 'false' }, { prune: false }],
  ['a negated flag', [], { PORTOLAN_WATCH_NO_COLOR: '1' }, { color: false }],
  ['a shared flag', [], { PORTOLAN_OUTPUT: 'json' }, { output: 'json' }],
  ['a list', [], { PORTOLAN_FILENAME: 'a.yaml,b' }, { filename: ['a.yaml', 'b'] }],
  ['a flag that may have a value, without one', [], { PORTOLAN_WATCH_ADOPT: 'true' }, { adopt: true }],
  ['a flag that may have a value, unset', [], { PORTOLAN_WATCH_ADOPT: 'false' }, {}],
  ['a flag that may have values, with them', [], { PORTOLAN_WATCH_ADOPT: 'A/b,C/d' }, { adopt: ['A/b', 'C/d'] }],
  ['a list on the command line', ['-f', 'a', '-f', 'b'], { PORTOLAN_FILENAME: 'c' }, { filename: ['a', 'b'] }],
] as const)('%s', ([, args, env, expected]) => {
  expect(resolve(args, env)).toEqual({ ...defaults, ...expected });
});

test.for([
  ['PORTOLAN_WATCH_PORT', 'ninety', 'whole number'],
  ['PORTOLAN_WATCH_PORT', '65536', 'whole number'],
  ['PORTOLAN_WATCH_PORT', '0x10', 'whole number'],
  ['PORTOLAN_WATCH_SINCE', 'yesterday', 'duration'],
  ['PORTOLAN_WATCH_PRUNE', 'maybe', 'true or false'],
  ['PORTOLAN_OUTPUT', 'xml', 'text, json'],
] as const)('%s=%s is refused by name, and its value is not shown', ([name, value, expected]) => {
  let caught: unknown;
  try {
    resolve([], { [name]: value });
  } catch (error) {
    caught = error;
  }
  expect(caught).toBeInstanceOf(PortolanError);
  const { message, disposition, remedy } = caught as PortolanError;
  expect(disposition).toBe('invalid');
  expect(message).toContain(name);
  expect(message).toContain(expected);
  expect(message).toMatch(/[^.]\.$/);
  expect(message + remedy).not.toContain(value);
});

test('every option of every command has a variable of its own, named in its help', async () => {
  const { out } = await runHere(['--help']);
  const commands = [...(out.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z]+)(?:\|\S+)? /gm)].map(
    (match) => match[1] ?? '',
  );
  expect(commands).toEqual(expect.arrayContaining(['validate', 'sandbox', 'plan', 'apply']));
  for (const name of commands.filter((command) => command !== 'help')) {
    const help = (await runHere(['help', name])).out.replace(/\n {10,}/g, ' ');
    const options = [...help.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)[^\n]*/gm)].filter(([, flag]) => flag !== 'help');
    const variables = options.map(([line, flag]) => /\[\$(PORTOLAN_[A-Z_]+)\]/.exec(line)?.[1] ?? `${flag} has none`);
    expect(variables.filter((variable) => !variable.startsWith('PORTOLAN_'))).toEqual([]);
    expect(new Set(variables).size, name).toBe(variables.length);
    expect(variables).not.toContain('PORTOLAN_PORT');
  }
});

test('a variables file does not take the name of a variable', () => {
  expect(variableOf('validate', new Option('--var-file <file>'))).toBe('PORTOLAN_VARIABLES_FILE');
  expect(variableOf('validate', new Option('--var <name=value>'))).toBeUndefined();
});
