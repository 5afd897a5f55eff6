import type { Command } from '@commander-js/extra-typings';
import type { ScopeKey } from '../../../model/ids.ts';
import type { HistoryRow } from '../../../model/owned.ts';
import { type HistoryEntry, historyEntries } from '../../../views/history.ts';
import { addServerOptions, applicationArgument } from '../../server/options.ts';
import { defineCommand, type OptionsOf, type Surroundings } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import {
  addVariableOptions,
  configOption,
  filenameOption,
  integerArgument,
  outputOption,
} from '../../session/options.ts';
import { inAscii, speaksUtf8 } from '../../terminal/drawing/glyphs.ts';
import { withoutCommands } from '../../terminal/guarded.ts';
import { ledgerFileOption, readLedger } from '../ledger/opening.ts';
import { writeJson } from '../../terminal/terminal.ts';
import { readerOf } from '../status/table.ts';
import { historyRows, historyRowsOf } from '../../../ledger/history-rows.ts';
import { isResourceName, scopeOf, scopeOfResource } from './read.ts';
import { historyLines } from './text.ts';

const ENTRIES_SHOWN = 20;

const parameters = (command: Command) =>
  addVariableOptions(
    addServerOptions(
      command
        .argument(
          '<name>',
          'an application (Application/shop, shop, or its scope), or one resource (Component/shop-web)',
          applicationArgument,
        )
        .option('--revert <revision>', 'write the patch that undoes the manifest change of this commit')
        .addOption(filenameOption())
        .addOption(configOption())
        .addOption(ledgerFileOption()),
    )
      .option('--limit <n>', 'maximum number of entries', integerArgument(1, 1_000_000), ENTRIES_SHOWN)
      .addOption(outputOption(['text', 'json'])),
  );

type HistoryOptions = OptionsOf<typeof parameters>;

export const historyCommand = defineCommand({
  isData: true,
  about:
    'Shows the history of an application, newest first: each run with its commit, author and time, every change with its values, drift and approvals. Reads the ledger, or asks a running controller with --server. With --revert, writes a patch for git instead.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['apply', 'ledger history', 'events'],
  examples: `
--revert needs only a checkout (-f). The patch undoes the change of one commit in the files of the application, as git revert
would. Nothing is written: neither files nor the platform. Commit the patch, and the change is applied like any other.

Examples:
  portolan history shop
  portolan history shop --server http://127.0.0.1:7780 --limit 5
  portolan history HttpGatewayRule/shop-www                  # back to its creation or adoption
  portolan history shop -o json | jq '.entries[] | select(.type == "run") | .run'
  portolan history shop --revert 5a2e3399 -f manifests/ | git apply`,
  parameters,
  async run(surroundings, options, [name]) {
    if (options.revert !== undefined) {
      // The code that reads commits is loaded only for this.
      const { writeRevert } = await import('./revert.ts');
      return writeRevert(name, options.revert, options, surroundings);
    }
    const found = await readHistory(name, options, surroundings);
    writeHistory(name, found, options, surroundings);
    return EXIT.ok;
  },
});

interface FoundHistory {
  /** null: the server resolved it. */
  readonly scope: ScopeKey | null;
  readonly entries: readonly HistoryEntry[];
  readonly hasMore: boolean;
}

async function readHistory(name: string, options: HistoryOptions, surroundings: Surroundings): Promise<FoundHistory> {
  const { limit } = options;
  if (options.server === undefined)
    return readLedger(options, surroundings, async (ledger) => {
      if (!isResourceName(name)) {
        const scope = await scopeOf(ledger, name);
        return { scope, ...(await newest(historyRows(ledger, scope), limit)) };
      }
      const scope = await scopeOfResource(ledger, name);
      const rows = historyRowsOf(ledger, { scope, resource: name, limit: Number.POSITIVE_INFINITY });
      return { scope, ...(await newest(rows, limit)) };
    });
  // The HTTP client is loaded only for this.
  const { openServer } = await import('../../server/client.ts');
  const rows = openServer(options, surroundings).list(
    'history',
    isResourceName(name) ? { resource: name } : { application: name },
  );
  return { scope: null, ...(await newest(rows as AsyncIterable<HistoryRow>, limit)) };
}

async function newest(rows: AsyncIterable<HistoryRow>, limit: number): Promise<Omit<FoundHistory, 'scope'>> {
  const entries: HistoryEntry[] = [];
  for await (const entry of historyEntries(rows)) {
    if (entries.length === limit) return { entries, hasMore: true };
    entries.push(entry);
  }
  return { entries, hasMore: false };
}

function writeHistory(
  name: string,
  { scope, entries, hasMore }: FoundHistory,
  { output, limit }: HistoryOptions,
  surroundings: Surroundings,
): void {
  const { terminal, env } = surroundings;
  if (output === 'json') return writeJson({ application: name, scope, entries, hasMore }, terminal);
  const text =
    entries.length === 0
      ? `${isResourceName(name) ? name : `Application/${name}`} has no history.`
      : historyLines(name, scope, entries, readerOf(surroundings)).join('\n');
  // The command writes patches too, which are never changed.
  terminal.out.write(`${withoutCommands(speaksUtf8(env) ? text : inAscii(text), env)}\n`);
  if (hasMore) terminal.err.write(`This is not the whole history. --limit ${2 * limit} shows more.\n`);
}
