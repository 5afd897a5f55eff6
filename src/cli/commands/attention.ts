import type { AttentionItem } from '../../model/fleet.ts';
import type { Doubt } from '../../model/manual.ts';
import { safeLine } from '../../model/text.ts';
import { ATTENTION_WORDS } from '../../views/attention-words.ts';
import { openServer } from '../server/client.ts';
import { addServerOptions, applicationArgument } from '../server/options.ts';
import { defineCommand } from '../session/command.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { outputOption } from '../session/options.ts';
import { relativeTime } from '../terminal/age.ts';
import { count, textOfLines, wrap } from '../terminal/text.ts';
import { type Reader, readerOf } from './status/table.ts';

export const attentionCommand = defineCommand({
  about:
    'Lists everything of a running controller that requires manual action, the oldest first, each with its remedy. Needs a token with the role viewer.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['status', 'approve', 'commits'],
  examples: `
The exit code is 0 if nothing requires manual action, and otherwise 4.

Examples:
  portolan attention --server http://127.0.0.1:7780
  portolan attention --application shop
  portolan attention -o json | jq -r '.[] | select(.kind == "approval") | .command'`,
  parameters: (command) =>
    addServerOptions(command)
      .option('--application <name>', 'only items of this application', applicationArgument)
      .addOption(outputOption(['text', 'json'])),
  async run(surroundings, { application, output, ...flags }) {
    const server = openServer(flags, surroundings);
    const items = (await Array.fromAsync(server.list('attention', { application }))) as readonly AttentionItem[];
    const { out } = surroundings.terminal;
    if (output === 'json') out.write(`${JSON.stringify(items, null, 2)}\n`);
    else out.write(textOfLines(attentionLines(items, readerOf(surroundings))));
    return (items.length === 0 ? EXIT.ok : EXIT.held) satisfies ExitCode;
  },
});

function attentionLines(items: readonly AttentionItem[], reader: Reader): readonly string[] {
  if (items.length === 0) return ['Nothing requires manual action.'];
  const entries = items.flatMap((item) => [...itemLines(item, reader), '']);
  return [
    ...entries,
    reader.paint('title', `${count(items.length, 'item')} require${items.length === 1 ? 's' : ''} manual action.`),
  ];
}

function itemLines(item: AttentionItem, { isTerminal, columns, nowMs, paint, glyphs }: Reader): readonly string[] {
  const { kind, sinceMs, application, resource, scope, message, remedy, command, problems = [], doubt } = item;
  const fold = (text: string, first: string, rest: string): readonly string[] => {
    if (!isTerminal) return [`${first}${safeLine(text)}`];
    const lines = wrap(safeLine(text), Math.max(20, columns - rest.length));
    return lines.map((line, at) => `${at === 0 ? first : rest}${line}`);
  };
  const about = resource ?? application ?? scope ?? 'source';
  const since = isTerminal ? relativeTime(sinceMs, nowMs) : new Date(sinceMs).toISOString();
  return [
    paint('hold', safeLine(`${ATTENTION_WORDS[kind]}: ${about}`)) + paint('dim', `  since ${since}`),
    ...fold(message, '  ', '  '),
    ...problems.map(({ file, line, column, message: fault }) => safeLine(`  ${file}:${line}:${column}: ${fault}`)),
    ...(doubt === undefined ? [] : fold(doubtText(doubt), '  ', '  ')),
    ...fold(remedy, `  ${glyphs.arrow} `, '    '),
    ...(command === null || remedy.includes(command) ? [] : [`    ${safeLine(command)}`]),
  ];
}

function doubtText({ id, operation, sentMs, answer, evidence }: Doubt): string {
  const seen = evidence === null ? 'not observed since' : `evidence: ${evidence}`;
  return `intent ${id}: ${operation} was sent ${new Date(sentMs).toISOString()}, answer: ${answer ?? 'none'}; ${seen}`;
}
