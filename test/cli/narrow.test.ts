import { expect, test } from 'vitest';
import { collectingTerminal, runHere } from './running.ts';
import { Screen } from './screen.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';
import { fitText } from '../../src/cli/terminal/fitting.ts';
import { displayWidth } from '../../src/cli/terminal/text.ts';
import { renderTable } from '../../src/cli/terminal/table.ts';

/** Returns the lines that a person would see broken by the terminal. A single long word is left whole, to be copied. */
function tooWide(text: string, columns: number): readonly string[] {
  return text.split('\n').filter((line) => displayWidth(line) > columns && /\S\s+\S/.test(line.trim()));
}

/** Runs a command line on a terminal of a width. */
async function shown(scene: Scene, columns: number, args: readonly string[]): Promise<string> {
  const screen = new Screen();
  const write = (text: string): void => screen.write(text);
  const output = { ...collectingTerminal({ isTerminal: true, columns }).terminal.out, write };
  const terminal = { out: output, err: output, async *input() {} };
  await runHere(args, { env: scene.env, clock: scene.clock, terminal });
  return screen.lines.join('\n');
}

test('what people read fits a terminal of 80 and of 60 columns, and elsewhere nothing is cut', async () => {
  const long = rule(
    'with-a-name-that-is-rather-long',
    'www.a-domain-that-is-also-rather-long.example.com',
    'path: /with/a/long/path',
  );
  const scene = await setScene({ manifests: { 'shop.yaml': shop(web(PORTS), long) } });
  const config = ['--config', scene.options.at(-1) ?? ''];
  const ledger = ['--ledger', scene.ledgerFile];
  const manifests = [...scene.options, ...ledger];
  const commands = [
    ['plan', ...manifests],
    ['apply', ...manifests, '--yes'],
    ['status', ...manifests],
    ['tree', ...manifests],
    ['validate', ...scene.options],
    ['plan', ...manifests, '--target', 'Component/unknown'],
    ['ledger', 'list', ...ledger],
    ['ledger', 'history', ...ledger],
    ['ledger', 'show', 'HttpGatewayRule/with-a-name-that-is-rather-long', ...ledger],
    ['ledger', 'verify', ...ledger],
    ['regions', ...config],
    ['config', '--variables', ...config],
    ['schema'],
    ['explain', 'component.ports'],
    ['export', '--team', 'team-a', ...config, '--dry-run'],
  ];
  for (const columns of [80, 60])
    for (const args of commands) {
      const text = await shown(scene, columns, args);
      expect(tooWide(text, columns), `portolan ${args.join(' ')} at ${columns} columns`).toEqual([]);
    }
  const piped = await scene.portolan(['ledger', 'list']);
  expect(piped.out).toContain('alias=RPC inner=true outer=false protocol=grpc');
  expect(piped.out.split('\n')[0]).toMatch(/^RESOURCE +KIND +OBJECT +ORIGIN +STATE +FAILURES +LAST APPLIED$/);
  expect(piped.out).not.toContain('…');
});

test('a quoted line is cut to the terminal around the underlined text', async () => {
  const port = `{ ${Array.from({ length: 12 }, (_, at) => `k${at}: ${at}`).join(', ')}, port: 99999, more: ${'x'.repeat(60)} }`;
  const scene = await setScene({ manifests: { 'shop.yaml': shop(web(`ports:\n  - ${port}`)) } });
  const text = await shown(scene, 60, ['validate', ...scene.options]);
  expect(tooWide(text, 60)).toEqual([]);
  const lines = text.split('\n');
  const at = lines.findIndex((line) => /^ +\| +\^{5}$/.test(line));
  expect(lines[at - 1]?.slice(lines[at]?.indexOf('^'), lines[at]?.lastIndexOf('^') ?? 0)).toBe('9999');
});

test.for([
  ['a sentence', 'one two three four five six seven', ['one two three four five six', 'seven']],
  ['a question', 'one two three four five six [seven]: ', ['one two three four five six', '[seven]: ']],
  ['an entry', '  + one two three four five six', ['  + one two three four five', '    six']],
  ['a remedy', '    → one two three four five six', ['    → one two three four five', '      six']],
  [
    'a command',
    '  portolan ledger resolve 1 --applied --reason "x y"',
    ['  portolan ledger resolve 1 \\', '      --applied \\', '      --reason "x y"'],
  ],
  ['a value', '  a: {"one":"two","three":"four","five":6}', ['  a: {"one":"two",', '    "three":"four", "five":6}']],
  ['a digest', 'Digest: 0123456789012345678901234567890123', ['Digest:', '0123456789012345678901234567890123']],
  ['JSON', '{"one":1,"two":"a b c d e f g h i j k"}', ['{"one":1,"two":"a b c d e f g h i j k"}']],
] as const)('%s that is too long continues on the next line', ([, text, lines]) => {
  expect(fitText(text, 30).split('\n')).toEqual(lines);
});

test('columns that do not fit go below their line, and a last column with sentences is wrapped', () => {
  const out = { isTerminal: true, columns: 40 };
  const rows = [
    ['shop', 'a-value-of-some-length', 'yes', 'another-value-of-some-length'],
    ['blog', undefined, 'no', undefined],
  ];
  expect(renderTable(['name', 'value', 'on', 'other'], rows, out).split('\n')).toEqual([
    'NAME   VALUE                    ON',
    'shop   a-value-of-some-length   yes',
    '    other: another-value-of-some-length',
    'blog   -                        no',
    '',
  ]);
  const sentences = [['shop', 'a sentence of several words that goes on']];
  expect(renderTable(['name', 'about'], sentences, out).split('\n')).toEqual([
    'NAME   ABOUT',
    'shop   a sentence of several words that',
    '       goes on',
    '',
  ]);
});
