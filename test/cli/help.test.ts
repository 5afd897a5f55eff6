import { expect, test } from 'vitest';
import { layOut } from '../../src/cli/terminal/help-layout.ts';
import { displayWidth } from '../../src/cli/terminal/text.ts';
import { commandPaths, named } from './command-tree.ts';
import { collectingTerminal, runHere } from './running.ts';

const PATHS = commandPaths();
const COMMANDS = PATHS.map((path) => path.join(' '));

async function help(path: readonly string[], columns: number): Promise<string> {
  const { terminal, text } = collectingTerminal({ columns });
  const { code } = await runHere([...path, '--help'], { terminal });
  expect({ code, err: text.err }).toEqual({ code: 0, err: '' });
  return text.out;
}

/** Lines that are longer than a terminal although they could be broken: at a space that no quotes hold together. */
function tooLong(text: string, columns: number): readonly string[] {
  return text.split('\n').filter((line) => {
    const words = line
      .replace(/(["']).*?\1/g, 'q')
      .trim()
      .replace(/ \\$/, '')
      .split(' ');
    return displayWidth(line) > columns && words.length > (words[0]?.startsWith('-') === true ? 2 : 1);
  });
}

test('there are commands, and groups of them', () => {
  expect(COMMANDS).toEqual(expect.arrayContaining(['plan', 'ledger list', 'config', 'completion']));
  expect(COMMANDS).not.toContain('__complete');
});

test.for(PATHS.map(named))('%s: the help is whole, and fits 40, 80 and 120 columns', async ([, path]) => {
  for (const columns of [40, 80, 120]) {
    const text = await help(path, columns);
    expect(tooLong(text, columns), `${columns} columns`).toEqual([]);
    const sections = [...text.matchAll(/^(\S[^\n:]*):/gm)].map(([, name]) => name);
    expect(sections).toEqual(expect.arrayContaining(['Usage', 'Examples', 'Exit codes', 'See also']));
  }
  const text = await help(path, 100);
  // A paragraph, and not only the line that the list of commands has.
  const about = text.split('\n\n')[1] ?? '';
  expect(about.length).toBeGreaterThan(80);
  expect(about).toMatch(/\.$/);
  const related = /^See also: ([^]*)$/m.exec(text)?.[1] ?? '';
  for (const name of related.trim().split(/,\s+/))
    expect(COMMANDS).toContain(name.replace(/\s+/g, ' ').replace('portolan ', ''));
});

test.for(PATHS.map(named))('%s: each example is of this program, and its flags are there', async ([, path]) => {
  const flags = new Map<string, string>();
  const text = await help(path, 100);
  const examples = /^Examples:\n((?: .*\n)+)/m.exec(text)?.[1]?.replaceAll('\\\n', ' ') ?? '';
  const called = [...examples.matchAll(/(?<=^|[|(&]|\s)portolan ((?:[^|&\n#'"]|'[^']*'|"[^"]*")*)/gm)];
  expect(called.length).toBeGreaterThan(0);
  for (const [, line = ''] of called) {
    const command = PATHS.find((words) => `${line} `.startsWith(`${words.join(' ')} `)) ?? aliased(line);
    expect(command, line).toBeDefined();
    const name = command?.join(' ') ?? '';
    const known = flags.get(name) ?? (await help(command ?? [], 100));
    flags.set(name, known);
    for (const [flag] of line.replace(/(["']).*?\1/g, '').matchAll(/(?<=\s)--?[a-z][\w-]*/g))
      expect(known, line).toContain(flag);
  }
});

function aliased(line: string): readonly string[] | undefined {
  return line.startsWith('diff') ? ['plan'] : undefined;
}

test.for(PATHS.map(named))(
  '%s: a misspelt flag or choice is refused with 3, and what was meant is named',
  async ([, path]) => {
    const text = await help(path, 100);
    const flags = [...text.matchAll(/^ {2}(?:-\w, )?(--[a-z-]{5,})/gm)].map(([, flag]) => flag ?? '');
    for (const flag of flags.filter((one) => one !== '--help')) {
      const run = await runHere([...path, `${flag.slice(0, -2)}${flag.at(-1)}${flag.at(-2)}x`]);
      expect(run, flag).toMatchObject({ code: 3, out: '' });
      expect(run.err, flag).toMatch(/unknown option[^]*Did you mean/);
    }
    for (const [, flag = '', first = ''] of text.matchAll(
      /^ {2}(?:-\w, )?(--[a-z-]+) <[^>]*>(?:(?!\n {2}-)[^])*?\(choices: "(\w+)"/gm,
    )) {
      const run = await runHere([...path, flag, `${first}x`]);
      expect(run, flag).toMatchObject({ code: 3, out: '' });
      expect(run.err, flag).toContain(`Did you mean ${first}?`);
    }
  },
);

test.for(PATHS.flatMap((path) => path.map((_, index) => named(path.slice(0, index + 1)))))(
  '%s, misspelt, is refused',
  async ([, path]) => {
    const last = path.at(-1) ?? '';
    const run = await runHere([...path.slice(0, -1), `${last.slice(0, -1)}${last.at(-1)}${last.at(-1)}`]);
    expect(run).toMatchObject({ code: 3, out: '' });
    expect(run.err).toMatch(/unknown command[^]*Did you mean/);
  },
);

test.for([
  ['a paragraph is filled', 'one two three four five\nsix seven eight', 30, 'one two three four five six\nseven eight'],
  ['a heading stands alone', 'Notes:\n  one two', 30, 'Notes:\n  one two'],
  [
    'the second column of a list is kept',
    '  --a   it was done: the object goes on record',
    30,
    '  --a   it was done: the\n        object goes on record',
  ],
  [
    'a note of an example goes above it, and the example on behind a backslash',
    'Examples:\n  portolan plan -f manifests --prune   # what is it for',
    32,
    'Examples:\n  # what is it for\n  portolan plan -f manifests \\\n      --prune',
  ],
  [
    'what is in quotes stays whole',
    'Examples:\n  p --reason "a b c d e f g h i j k"',
    30,
    'Examples:\n  p \\\n      --reason "a b c d e f g h i j k"',
  ],
] as const)('%s', ([, text, columns, laid]) => {
  expect(layOut(text, columns)).toBe(laid);
});
