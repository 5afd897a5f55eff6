import { Option } from '@commander-js/extra-typings';
import { parseScopeKey } from '../../../model/ids.ts';
import type { OwnedObject } from '../../../model/owned.ts';
import { safeText } from '../../../model/text.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { configOption, outputOption } from '../../session/options.ts';
import { renderTable } from '../../terminal/table.ts';
import { count } from '../../terminal/text.ts';
import { doubtJson, doubtText, doubtView } from './doubt.ts';
import { isOfSource, ledgerFileOption, type LedgerOptions, readingLedger, sourceFilterOption } from './opening.ts';
import { pairs, shortened, writeJson } from './words.ts';

const EXAMPLES = `
Examples:
  portolan ledger list
  portolan ledger list --scope default/team-a/region-1/42
  portolan ledger list -o json | jq -r '.intents[].resolve.applied'`;

const APPLIED_WIDTH_MAX = 80;

export const listCommand: CommandDefinition = {
  help: {
    about:
      'Lists the objects on record as ours, and the requests that were sent and whose outcome nobody knows yet, each with the commands that settle it. Works beside a running controller.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
    seeAlso: ['ledger show', 'ledger resolve', 'status'],
  },
  define(command, invoke) {
    command
      .addOption(ledgerFileOption())
      .addOption(new Option('--scope <scope>', 'only this application: platform/team/region/appId'))
      .addOption(sourceFilterOption())
      .addOption(configOption())
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', EXAMPLES)
      .action((options) => invoke((surroundings) => list(options, surroundings)));
  },
};

interface ListOptions extends LedgerOptions {
  readonly scope?: string | undefined;
  readonly source?: string | undefined;
  readonly config?: string | undefined;
  readonly output: 'text' | 'json';
}

async function list(options: ListOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { terminal } = surroundings;
  const { scope, source } = options;
  const view = doubtView(options, surroundings);
  await readingLedger(options, surroundings, async (ledger) => {
    const within = scope === undefined ? {} : { scope };
    const objects = await ledger.objects({ ...within, ...(source === undefined ? {} : { source }) });
    const pending = await ledger.intents({ ...within, states: ['open', 'unknown'] });
    const doubts = source === undefined ? pending : pending.filter((intent) => isOfSource(intent, source));
    if (options.output === 'json') {
      const { location, lineage, epoch } = ledger;
      const intents = doubts.map((intent) => doubtJson(intent, view));
      writeJson({ ledger: { location, lineage, epoch }, objects, intents }, terminal);
      return;
    }
    terminal.out.write(objects.length === 0 ? 'No object is on record.\n' : objectTable(objects));
    if (doubts.length > 0) {
      terminal.out.write(`\n${count(doubts.length, 'request')} without a known outcome:\n`);
      for (const intent of doubts) terminal.out.write(doubtText(intent, view));
    }
    const scopes = (await ledger.scopes()).filter((key) => parseScopeKey(key) !== undefined);
    if (scope !== undefined && !scopes.includes(scope))
      terminal.err.write(
        `note: the ledger has nothing of ${safeText(scope)}; it has: ${scopes.join(', ') || 'nothing'}\n`,
      );
  });
  return EXIT.ok;
}

function objectTable(objects: readonly OwnedObject[]): string {
  const isSeveral = (of: (object: OwnedObject) => string): boolean => new Set(objects.map(of)).size > 1;
  const scopes = isSeveral((object) => object.scope);
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
    shortened(pairs(object.lastApplied), APPLIED_WIDTH_MAX),
  ]);
  return renderTable([...(scopes ? ['scope'] : []), ...(sources ? ['source'] : []), ...headers], rows);
}
