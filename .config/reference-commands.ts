import { EXIT } from '../src/cli/session/exit-codes.ts';
import { GENERATED, type Page, prose, table } from './markdown.ts';
import { runProgramHere } from './program.ts';

/** Lines of code blocks, as wide as a page shows them. */
const COLUMNS = 100;

interface CommandHelp {
  /** `ledger list` */
  readonly words: readonly string[];
  readonly text: string;
  readonly summary: string;
}

const FOLDER = 'docs/reference/commands';

/** Returns a page for each command, and one that lists them in the order in which the program does. */
export async function commandPages(root: string): Promise<readonly Page[]> {
  const top = await helpOf([], root);
  const commands = await helpBelow([], top, root);
  if (commands.length === 0) throw new Error(`no commands can be read from: ${top}`);
  const list = table(
    ['command', 'what it does'],
    commands.map(({ words, summary }) => [`[\`portolan ${words.join(' ')}\`](${words.join('-')}.md)`, summary]),
  );
  const index = `${GENERATED}
# Commands

One page for each command: its \`--help\`, with options, environment variables and examples.

${list}
${block(withoutList(top))}`;
  return [
    { file: `${FOLDER}/README.md`, text: index },
    ...commands.map(({ words, text, summary }) => ({
      file: `${FOLDER}/${words.join('-')}.md`,
      text: `${GENERATED}\n# portolan ${words.join(' ')}\n\n${prose(summary)} ([all commands](README.md))\n\n${block(text)}`,
    })),
  ];
}

/** The page has a list of its own. */
function withoutList(text: string): string {
  return text.replace(/^Commands:\n(?: .*\n)+\n?/m, '');
}

function block(text: string): string {
  return `\`\`\`text\n${text.replace(/[ \t]+$/gm, '').trim()}\n\`\`\`\n`;
}

/** Every command below one, depth first; a command that only stands for others is left out. */
async function helpBelow(words: readonly string[], text: string, root: string): Promise<readonly CommandHelp[]> {
  const found: CommandHelp[] = [];
  for (const { name, summary } of listedIn(text)) {
    const path = [...words, name];
    const help = await helpOf(path, root);
    const below = await helpBelow(path, help, root);
    found.push(...(below.length > 0 ? below : [{ words: path, text: help, summary }]));
  }
  return found;
}

/** The commands that a help text lists. Names come first in a line, and every summary is a sentence. */
function listedIn(text: string): readonly { readonly name: string; readonly summary: string }[] {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => /^Commands:$/.test(line));
  if (from === -1) return [];
  const rest = lines.slice(from + 1);
  const to = rest.indexOf('');
  const items = rest
    .slice(0, to === -1 ? undefined : to)
    .join('\n')
    .split(/\n(?= {2}\S)/);
  return items.flatMap((item) => {
    const [, name = '', summary = ''] = /^ {2}([a-z-]+)\S*(?: \[.*?\]| <.*?>)* {2,}([^]*)$/.exec(item) ?? [];
    if (name === '') throw new Error(`a command cannot be read from: ${item}`);
    return name === 'help' ? [] : [{ name, summary: summary.replace(/\s+/g, ' ') }];
  });
}

/** What the program says to `--help`, in a world where nothing is set. */
async function helpOf(words: readonly string[], root: string): Promise<string> {
  const { code, out, err } = await runProgramHere([...words, '--help'], root, { columns: COLUMNS });
  if (code !== EXIT.ok) throw new Error(`portolan ${words.join(' ')} --help ended with ${code}: ${err}`);
  return out;
}
