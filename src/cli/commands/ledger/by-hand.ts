import { makesCopies, type ReconciledKinds } from '../../../kinds/define.ts';
import { invalidInput } from '../../../model/errors.ts';
import { parseScopeKey, scopeKey } from '../../../model/ids.ts';
import type { OwnedObject } from '../../../model/owned.ts';
import { safeLine } from '../../../model/text.ts';
import {
  adoptByHand,
  confirmByHand,
  forgetByHand,
  objectsNamed,
  retryByHand,
} from '../../../reconcile/resolution/books-by-hand.ts';
import { defineCommand } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { count } from '../../terminal/text.ts';
import { ledgerOptions, recordOptions, writingLedger } from './opening.ts';
import { requiredReason, writeResult } from './words.ts';

export const adoptCommand = defineCommand({
  about:
    'Ties a rule to the object of the platform that it is, by its id, where observation finds several that it could be or none. Only the ledger changes.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.locked],
  seeAlso: ['adopt', 'ledger list', 'ledger forget'],
  examples: `
For rules that are on record as seen but not ours, or as ours but never seen: a person says that one of them is ours, and
with --id which one it is. What is not on record at all is adopted by apply --adopt, which looks at it first.

Examples:
  portolan ledger adopt HttpGatewayRule/shop-www --id 9d2f0a1a42eb94c856e683e1e8bcc7f5 --reason "looked it up in the console"`,
  parameters: (command) =>
    recordOptions(
      command
        .argument('<name>', 'uid of an object, or resource (Kind/name) with one object')
        .option('--id <id>', "the platform's id of the rule (http_rule_id)")
        .option('--reason <text>', 'why, for the history (required)'),
    ),
  async run(surroundings, options, [name]) {
    const reason = requiredReason(options.reason);
    const adopted = await writingLedger('ledger adopt', options, surroundings, async (world) =>
      adoptByHand(world, await objectsNamed(world, name, options.source), options.id, reason),
    );
    const id =
      adopted.remoteId === null
        ? 'its id is not known, so this server can be asked nothing about it'
        : `id ${adopted.remoteId}`;
    const text = `adopted ${safeLine(adopted.uid)} (${safeLine(id)})\nNothing was sent to the platform.\n`;
    writeResult(options, surroundings, { adopted }, text);
  },
});

export const forgetCommand = defineCommand({
  about:
    'Takes objects off the record: on the platform they stay as they are, and nothing prunes them any more. Only the ledger changes.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
  seeAlso: ['ledger list', 'ledger adopt'],
  examples: `
Nothing is sent to the platform: what the objects stand for stays there, and is not ours any more. While a manifest
names it, the next apply sees it as something that exists and is not ours.

Examples:
  portolan ledger forget HttpGatewayRule/shop-www --reason "deleted in the console, ticket 4711"
  portolan ledger forget default:default/team-a/region-1/42:Component:port/6f3c1d5e/8080 --reason "…"`,
  parameters: (command) =>
    recordOptions(
      command
        .argument('<name>', 'uid of an object, or resource (Kind/name) for all its objects')
        .option('--reason <text>', 'why, for the history (required)'),
    ),
  async run(surroundings, options, [name]) {
    const reason = requiredReason(options.reason);
    const forgotten = await writingLedger('ledger forget', options, surroundings, async (world) => {
      const objects = await objectsNamed(world, name, options.source);
      await forgetByHand(world, objects, reason);
      return objects;
    });
    const kinds = await surroundings.kinds.reconciled();
    const warnings = forgotten.flatMap((object) => warningsOf(kinds, object));
    const lines = [...forgotten.map(({ uid }) => `forgot ${safeLine(uid)}`), 'Nothing was sent to the platform.'];
    writeResult(options, surroundings, { forgotten, warnings }, `${lines.join('\n')}\n`, warnings);
  },
});

/** Returns the consequences of forgetting an object: a repeated install, and values that are no longer restored. */
function warningsOf(kinds: ReconciledKinds, { kind, resource, scope, obligation }: OwnedObject): readonly string[] {
  const owed = Object.entries(obligation ?? {}).map(([field, value]) => `${field} = ${JSON.stringify(value)}`);
  return [
    ...(makesCopies(kinds, kind)
      ? [
          `while a manifest names ${resource}, an apply would install it a second time; that waits until somebody says that it is safe: portolan ledger confirm ${scope}`,
        ]
      : []),
    ...(owed.length === 0
      ? []
      : [`${resource} was changed for a moment and is not put back by itself any more: restore ${owed.join(', ')}`]),
  ];
}

export const retryCommand = defineCommand({
  about:
    'What the platform accepted and did not make is held after three attempts. This lets the next apply try it again.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
  seeAlso: ['ledger list', 'apply'],
  examples: `
What the platform accepted three times without doing it is held, so that nothing is written for ever. After you have
seen to the cause, this lets the next apply try it again.

Examples:
  portolan ledger retry default:default/team-a/region-1/42:Component:port/6f3c1d5e/8080
  portolan ledger retry Component/shop-web`,
  parameters: (command) =>
    recordOptions(command.argument('<name>', 'uid of an object, or resource (Kind/name) for all its objects')),
  async run(surroundings, options, [name]) {
    const released = await writingLedger('ledger retry', options, surroundings, async (world) =>
      retryByHand(world, await objectsNamed(world, name, options.source)),
    );
    const lines = released.map(({ uid, failures }) => `${safeLine(uid)}: ${count(failures, 'failure')} forgiven\n`);
    const text =
      released.length === 0
        ? `${safeLine(name)} has no failure on record; nothing was changed\n`
        : `${lines.join('')}The next apply tries again.\n`;
    writeResult(options, surroundings, { retried: released.map(({ uid, failures }) => ({ uid, failures })) }, text);
  },
});

export const confirmCommand = defineCommand({
  about:
    'Installs into an application wait after its ledger was restored, or was never seen to have any. This says that what is there has been looked at, and that installing is safe.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
  seeAlso: ['ledger list', 'ledger restore'],
  examples: `
Installs are never repeated. Where the ledger cannot know what is installed already (an application that it has never
recorded, or a ledger restored from a backup), they wait until a person has looked and says that nothing there is what
would be installed.

Examples:
  portolan ledger confirm default/team-a/region-1/42`,
  parameters: (command) => ledgerOptions(command.argument('<scope>', 'the application: platform/team/region/appId')),
  async run(surroundings, options, [name]) {
    const scope = parseScopeKey(name);
    if (scope === undefined)
      throw invalidInput(
        'cli/no-scope',
        `${name} is no scope. Nothing was recorded.`,
        'Write platform/team/region/appId, such as default/team-a/region-1/42: the platform by its name in the configuration, the application by its number.',
      );
    const { type, known } = await writingLedger('ledger confirm', options, surroundings, (world) =>
      confirmByHand(world, scope),
    );
    const alreadyConfirmed = type === 'already';
    const text = alreadyConfirmed
      ? `installs into ${name} were confirmed already; nothing was changed\n`
      : `installs into ${name} are confirmed: the next apply may install there\n`;
    const warnings = known
      ? []
      : [`the ledger has never heard of ${name}; see that it is spelt as plan and list print it`];
    writeResult(options, surroundings, { scope: scopeKey(scope), alreadyConfirmed, warnings }, text, warnings);
  },
});
