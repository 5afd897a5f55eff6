import type { AttentionItem } from '../../model/fleet.ts';
import type { Doubt } from '../../model/manual.ts';
import type { ControllerStatus } from '../../model/status.ts';
import { safeLine } from '../../model/text.ts';
import { ATTENTION_WORDS } from '../../views/attention-words.ts';
import { oldStateOf } from '../../views/database.ts';
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
The exit code is 0 if nothing requires manual action, and otherwise 4. It is also 4 while the controller cannot read the
database that it shares with others: the list is as old as its last read then.

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
    // Asked after the list, so that an old list is never shown as the present one.
    const { database } = (await server.get('status', 'phase')) as Pick<ControllerStatus, 'database'>;
    const old = oldStateOf(database);
    const { out, err } = surroundings.terminal;
    const reader = readerOf(surroundings);
    if (output === 'json') {
      out.write(`${JSON.stringify(items, null, 2)}\n`);
      if (old !== undefined) err.write(`warning: ${old.why} ${old.what}\n`);
    } else if (database === undefined || old === undefined) out.write(textOfLines(attentionLines(items, reader)));
    else out.write(textOfLines([...databaseLines(old, database.asOfMs, reader), '', ...oldLines(items, reader)]));
    return (items.length === 0 && old === undefined ? EXIT.ok : EXIT.held) satisfies ExitCode;
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

/** Returns the items of a controller that cannot read whether there are others. */
function oldLines(items: readonly AttentionItem[], reader: Reader): readonly string[] {
  return items.length === 0 ? ['Nothing else required manual action then.'] : attentionLines(items, reader);
}

function databaseLines(
  { why, what }: NonNullable<ReturnType<typeof oldStateOf>>,
  asOfMs: number,
  reader: Reader,
): readonly string[] {
  return [
    reader.paint('hold', 'database') + reader.paint('dim', `  since ${sinceText(asOfMs, reader)}`),
    ...fold(`${why} Everything else here is as of then.`, '  ', '  ', reader),
    ...fold(what, `  ${reader.glyphs.arrow} `, '    ', reader),
  ];
}

function fold(text: string, first: string, rest: string, { isTerminal, columns }: Reader): readonly string[] {
  if (!isTerminal) return [`${first}${safeLine(text)}`];
  const lines = wrap(safeLine(text), Math.max(20, columns - rest.length));
  return lines.map((line, at) => `${at === 0 ? first : rest}${line}`);
}

function sinceText(sinceMs: number, { isTerminal, nowMs }: Reader): string {
  return isTerminal ? relativeTime(sinceMs, nowMs) : new Date(sinceMs).toISOString();
}

function itemLines(item: AttentionItem, reader: Reader): readonly string[] {
  const { paint, glyphs } = reader;
  const { kind, sinceMs, application, resource, scope, message, remedy, command, problems = [], doubt } = item;
  const about = resource ?? application ?? scope ?? 'source';
  return [
    paint('hold', safeLine(`${ATTENTION_WORDS[kind]}: ${about}`)) +
      paint('dim', `  since ${sinceText(sinceMs, reader)}`),
    ...fold(message, '  ', '  ', reader),
    ...problems.map(({ file, line, column, message: fault }) => safeLine(`  ${file}:${line}:${column}: ${fault}`)),
    ...(doubt === undefined ? [] : fold(doubtText(doubt), '  ', '  ', reader)),
    ...fold(remedy, `  ${glyphs.arrow} `, '    ', reader),
    ...(command === null || remedy.includes(command) ? [] : [`    ${safeLine(command)}`]),
  ];
}

function doubtText({ id, operation, sentMs, answer, evidence }: Doubt): string {
  const seen = evidence === null ? 'not observed since' : `evidence: ${evidence}`;
  return `intent ${id}: ${operation} was sent ${new Date(sentMs).toISOString()}, answer: ${answer ?? 'none'}; ${seen}`;
}
