import type { Ledger } from '../../../ledger/ledger.ts';
import { type BoundPlatform, boundPlatforms } from '../../../ledger/binding.ts';
import { isPending } from '../../../ledger/rules.ts';
import { didYouMean } from '../../../manifest/suggest.ts';
import { invalidInput, type PortolanError } from '../../../model/errors.ts';
import type { Json } from '../../../model/json.ts';
import type { HistoryRow, Intent, OwnedObject } from '../../../model/owned.ts';
import { safeLine } from '../../../model/text.ts';
import { defineCommand } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { configOption, outputOption } from '../../session/options.ts';
import { renderTable } from '../../terminal/table.ts';
import { type Output, writeJson } from '../../terminal/terminal.ts';
import { sentences } from '../../terminal/text.ts';
import { doubtJson, doubtText, type DoubtView, doubtView, historyTable, instant, pairs } from './words.ts';
import { isOfSource, ledgerFileOption, readLedger, sourceFilterOption } from './opening.ts';

/** Number of history lines for each object. `ledger history --uid` can show more. */
const HISTORY_LIMIT = 50;

/** Holds everything that a name refers to. */
interface FoundRecords {
  readonly objects: readonly OwnedObject[];
  readonly intents: readonly Intent[];
  /** Newest first. */
  readonly history: readonly HistoryRow[];
  /** Platforms of the objects, or the named platform. */
  readonly platforms: readonly BoundPlatform[];
}

export const showCommand = defineCommand({
  about:
    'Shows everything that the ledger has about one resource, object or request: the values applied last, the values before, and the history. Works while a controller runs.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
  seeAlso: ['ledger list', 'ledger history'],
  examples: `
Examples:
  portolan ledger show StoreInstall/shop-db
  portolan ledger show default:default/team-a/region-1/42:StoreInstall:install/shop-db
  portolan ledger show 3f9c21a07b54          # an intent
  portolan ledger show Platform/default      # the URL and the regions that the ledger is bound to`,
  parameters: (command) =>
    command
      .argument('<name>', 'uid of an object, resource (Kind/name), or id of an intent')
      .addOption(ledgerFileOption())
      .addOption(sourceFilterOption())
      .addOption(configOption())
      .addOption(outputOption(['text', 'json'])),
  async run(surroundings, options, [name]) {
    const { terminal } = surroundings;
    const view = doubtView(options, surroundings);
    const found = await readLedger(options, surroundings, (ledger) => findRecords(ledger, name, options.source));
    if (options.output === 'json') {
      const intents = found.intents.map((intent) => (isPending(intent.state) ? doubtJson(intent, view) : intent));
      return writeJson({ ...found, intents }, terminal);
    }
    const { objects, intents, history, platforms } = found;
    const { out } = terminal;
    const parts = [
      ...(objects.length + intents.length + platforms.length === 0
        ? [`${safeLine(name)} was removed from the ledger.\n`]
        : []),
      ...objects.map((object) => objectText(object, out)),
      ...intents.map((intent) => intentText(intent, view, out)),
      ...platforms.map((platform) => platformText(platform, out)),
      `History, newest first\n${history.length === 0 ? '  none\n' : historyTable(history, new Set(history.map((row) => row.scope)).size > 1, out)}`,
    ];
    terminal.out.write(parts.join('\n'));
  },
});

async function findRecords(ledger: Ledger, name: string, source: string | undefined): Promise<FoundRecords> {
  const platforms = await boundPlatforms(ledger);
  const platform = platforms.find((one) => `Platform/${one.name}` === name);
  if (platform !== undefined) {
    const history = await ledger.history({ scope: `platform:${platform.name}`, limit: HISTORY_LIMIT });
    return { objects: [], intents: [], history, platforms: [platform] };
  }
  const allIntents = await ledger.intents({});
  const intent = allIntents.find(({ id }) => id === name);
  if (intent !== undefined) {
    const rows = await ledger.history({ uid: intent.uid, limit: Number.POSITIVE_INFINITY });
    return { objects: [], intents: [intent], history: rows.filter((row) => isAbout(row, intent.id)), platforms: [] };
  }
  const allObjects = await ledger.objects({ source });
  const isNamed = ({ uid, resource }: { readonly uid: string; readonly resource: string }): boolean =>
    uid === name || resource === name;
  const objects = allObjects.filter(isNamed);
  // A first install in doubt has no object yet.
  const intents = allIntents.filter((one) => isNamed(one) && (source === undefined || isOfSource(one, source)));
  const uids = new Set([...objects, ...intents].map(({ uid }) => uid));
  const lines = await Promise.all(
    // A forgotten object still has its history.
    [...(uids.size === 0 ? [name] : uids)].map((uid) => ledger.history({ uid, limit: HISTORY_LIMIT })),
  );
  const history = lines.flat().sort((left, right) => right.serial - left.serial);
  if (uids.size === 0 && history.length === 0) throw nothingFound(ledger, name, allObjects, allIntents);
  const ofObjects = new Set(objects.map((object) => object.platform));
  return { objects, intents, history, platforms: platforms.filter((one) => ofObjects.has(one.name)) };
}

function isAbout({ detail }: HistoryRow, intent: string): boolean {
  return typeof detail === 'object' && detail !== null && 'intent' in detail && detail.intent === intent;
}

function nothingFound(
  ledger: Ledger,
  name: string,
  objects: readonly OwnedObject[],
  intents: readonly Intent[],
): PortolanError {
  const candidates = new Set([...objects, ...intents].flatMap(({ resource, uid }) => [resource, uid]));
  return invalidInput(
    'ledger/no-object',
    `The ledger ${ledger.location} has no object, resource or intent ${name}.`,
    sentences(
      didYouMean(name, [...candidates, ...intents.map(({ id }) => id)]),
      'List its objects: portolan ledger list.',
    ),
  );
}

function objectText(object: OwnedObject, out: Output): string {
  return (
    `${safeLine(`${object.resource}  ${object.naturalKey}`)}\n` +
    fields(
      [
        ['uid', object.uid],
        ['scope', object.scope],
        ['source', object.source],
        ['remote id', object.remoteId],
        ['origin', object.origin],
        ['state', object.state],
        ['failures', String(object.failures)],
        ['last applied', jsonOrNone(object.lastApplied)],
        ['other data', jsonOrNone(object.remoteAux)],
        ['must restore', object.obligation === null ? null : pairs(object.obligation)],
        ['snapshot', object.lastSnapshot],
      ],
      out,
    )
  );
}

function platformText({ name, url, regions }: BoundPlatform, out: Output): string {
  const bound = regions.map((region) => `${region.name} with the id ${region.id}`);
  return (
    `${safeLine(`Platform/${name}`)}\n` +
    fields(
      [
        ['bound to', url],
        [
          'regions',
          bound.length === 0
            ? 'none bound: their ids were not read yet, or the server does not show them'
            : bound.join(', '),
        ],
      ],
      out,
    )
  );
}

function intentText(intent: Intent, view: DoubtView, out: Output): string {
  const head = isPending(intent.state)
    ? `Without a known outcome:\n${doubtText(intent, view)}`
    : `${safeLine(`Intent ${intent.id}: ${intent.operation} for ${intent.resource}, ${intent.state}${intent.resolvedBy === null ? '' : `, by ${intent.resolvedBy}`}`)}\n`;
  const { step } = intent.action;
  return (
    head +
    fields(
      [
        ['object', intent.uid],
        ['state', intent.state],
        ['written', instant(intent.createdMs)],
        ['epoch', String(intent.epoch)],
        ['repeated', REPETITION[intent.idempotence]],
        ['step', step === undefined ? null : pairs(step)],
        ['before', jsonOrNone(intent.preimage)],
        ['answer', jsonOrNone(intent.outcome)],
        ['request hash', intent.requestHash],
      ],
      out,
    )
  );
}

const REPETITION: Readonly<Record<Intent['idempotence'], string>> = {
  'target-state': 'is harmless',
  'duplicate-rejecting': 'is refused by the platform',
  'duplicate-accepting': 'creates a second copy',
};

function fields(rows: readonly (readonly [label: string, value: string | null])[], out: Output): string {
  const table = renderTable(
    ['', ''],
    rows.map(([label, value]) => [`  ${label}`, value ?? '-']),
    out,
  );
  return table.slice(table.indexOf('\n') + 1);
}

function jsonOrNone(value: Json): string | null {
  const isEmpty = value === null || (typeof value === 'object' && Object.keys(value).length === 0);
  return isEmpty ? null : pairs(value);
}
