import { parseScopeKey } from '../../../model/ids.ts';
import type { OwnedObject } from '../../../model/owned.ts';
import { safeText } from '../../../model/text.ts';
import { defineCommand } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { configOption, integerArgument, outputOption } from '../../session/options.ts';
import { renderTable } from '../../terminal/table.ts';
import { type Output, writeJson } from '../../terminal/terminal.ts';
import { count, shortOnTerminal } from '../../terminal/text.ts';
import { doubtJson, doubtText, doubtView, historyTable, pairs } from './words.ts';
import { isOfSource, ledgerFileOption, readLedger, sourceFilterOption } from './opening.ts';

const APPLIED_WIDTH_MAX = 80;

export const listCommand = defineCommand({
  about:
    'Lists the managed objects, and the requests whose outcome is not known, each with the commands that resolve it. Works while a controller runs.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
  seeAlso: ['ledger show', 'ledger resolve', 'status'],
  examples: `
Examples:
  portolan ledger list
  portolan ledger list --scope default/team-a/region-1/42
  portolan ledger list -o json | jq -r '.intents[].resolve.applied'`,
  parameters: (command) =>
    command
      .addOption(ledgerFileOption())
      .option('--scope <scope>', 'only this application: platform/team/region/appId')
      .addOption(sourceFilterOption())
      .addOption(configOption())
      .addOption(outputOption(['text', 'json'])),
  async run(surroundings, options) {
    const { terminal } = surroundings;
    const { scope, source } = options;
    const view = doubtView(options, surroundings);
    await readLedger(options, surroundings, async (ledger) => {
      const objects = await ledger.objects({ scope, source });
      const pending = await ledger.intents({ scope, states: ['open', 'unknown'] });
      const doubts = source === undefined ? pending : pending.filter((intent) => isOfSource(intent, source));
      if (options.output === 'json') {
        const { location, lineage, epoch } = ledger;
        const intents = doubts.map((intent) => doubtJson(intent, view));
        writeJson({ ledger: { location, lineage, epoch }, objects, intents }, terminal);
        return;
      }
      terminal.out.write(objects.length === 0 ? 'The ledger has no object.\n' : objectTable(objects, terminal.out));
      if (doubts.length > 0) {
        terminal.out.write(`\n${count(doubts.length, 'request')} without a known outcome:\n`);
        for (const intent of doubts) terminal.out.write(doubtText(intent, view));
      }
      const scopes = (await ledger.scopes()).filter((key) => parseScopeKey(key) !== undefined);
      if (scope !== undefined && !scopes.includes(scope))
        terminal.err.write(
          `note: the ledger has no record of ${safeText(scope)}; it has: ${scopes.join(', ') || 'nothing'}\n`,
        );
    });
  },
});

function objectTable(objects: readonly OwnedObject[], out: Output): string {
  const isSeveral = (of: (object: OwnedObject) => string): boolean => new Set(objects.map(of)).size > 1;
  const scopes = isSeveral((object) => object.scope);
  // A terminal has no room for long columns that repeat themselves.
  if (out.isTerminal && scopes)
    return [...Map.groupBy(objects, ({ scope }) => scope)]
      .map(([scope, group]) => `${safeText(scope)}\n${objectTable(group, out)}`)
      .join('\n');
  const sources = isSeveral((object) => object.source);
  const headers = ['resource', 'kind', 'object', 'origin', 'state', 'failures', 'last applied'];
  const rows = objects.map((object) => [
    ...(scopes ? [object.scope] : []),
    ...(sources ? [object.source] : []),
    object.resource,
    object.kind,
    object.naturalKey,
    object.origin,
    object.state,
    String(object.failures),
    shortOnTerminal(pairs(object.lastApplied), APPLIED_WIDTH_MAX, out),
  ]);
  return renderTable([...(scopes ? ['scope'] : []), ...(sources ? ['source'] : []), ...headers], rows, out);
}

const LINES_SHOWN = 50;

export const historyCommand = defineCommand({
  about: 'Lists requests, answers, records and manual resolutions, newest first. Works while a controller runs.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
  seeAlso: ['ledger show', 'events'],
  examples: `
Examples:
  portolan ledger history
  portolan ledger history --scope default/team-a/region-1/42 --limit 200
  portolan ledger history --uid default:default/team-a/region-1/42:StoreInstall:install/shop-db`,
  parameters: (command) =>
    command
      .addOption(ledgerFileOption())
      .option('--scope <scope>', 'only this application: platform/team/region/appId')
      .option('--uid <uid>', 'only this object')
      .option('--limit <n>', 'maximum number of lines', integerArgument(1, 1_000_000), LINES_SHOWN)
      .addOption(outputOption(['text', 'json'])),
  async run(surroundings, options) {
    const { terminal } = surroundings;
    const { scope, uid, limit, output } = options;
    const found = await readLedger(options, surroundings, (ledger) => ledger.history({ scope, uid, limit: limit + 1 }));
    const rows = found.slice(0, limit);
    const hasMore = found.length > limit;
    if (output === 'json') return writeJson({ history: rows, hasMore }, terminal);
    terminal.out.write(
      rows.length === 0 ? 'No history was found.\n' : historyTable(rows, scope === undefined, terminal.out),
    );
    if (hasMore) terminal.err.write(`These are the newest ${count(limit, 'line')}. Pass --limit to show more.\n`);
  },
});
