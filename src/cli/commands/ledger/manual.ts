import { invalidInput } from '../../../model/errors.ts';
import { parseScopeKey, scopeKey } from '../../../model/ids.ts';
import { safeLine } from '../../../model/text.ts';
import {
  adoptObject,
  confirmInstalls,
  forgetObjects,
  forgetWarnings,
  objectsNamed,
  retryObjects,
} from '../../../reconcile/resolution/manual-changes.ts';
import { defineCommand } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { count } from '../../terminal/text.ts';
import { adoptOnServer, forgetOnServer, retryOnServer } from './on-server.ts';
import { isOnServer, ledgerOptions, recordOptions, writeLedger } from './opening.ts';
import { requiredReason, writeResult } from './words.ts';

export const adoptCommand = defineCommand({
  about:
    'Assigns the id of an object of the platform to a recorded rule, when observation finds several candidates or none. Changes only the ledger.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.locked],
  seeAlso: ['adopt', 'ledger list', 'ledger forget'],
  examples: `
Use it for rules that the ledger records as observed but unmanaged, or as managed but never observed. --id says which
object of the platform is the rule. To adopt a rule that is not recorded, use apply --adopt, which observes it first.

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
    const { adopted } = isOnServer(options)
      ? await adoptOnServer(name, { reason, id: options.id }, options, surroundings)
      : await writeLedger('ledger adopt', options, surroundings, async (world) => ({
          adopted: await adoptObject(
            world,
            await objectsNamed(world, name, { source: options.source }),
            options.id,
            reason,
          ),
        }));
    const id =
      adopted.remoteId === null
        ? 'its id is not known, so it cannot be observed on this server'
        : `id ${adopted.remoteId}`;
    const text = `adopted ${safeLine(adopted.uid)} (${safeLine(id)})\nNothing was sent to the platform.\n`;
    writeResult(options, surroundings, { adopted }, text);
  },
});

export const forgetCommand = defineCommand({
  about:
    'Removes objects from the ledger. They stay on the platform unchanged and unmanaged, so nothing prunes them. Changes only the ledger.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
  seeAlso: ['ledger list', 'ledger adopt'],
  examples: `
Nothing is sent to the platform. While a manifest names the resource, the next apply treats it as an existing, unmanaged
resource.

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
    const { forgotten, warnings } = isOnServer(options)
      ? await forgetOnServer(name, reason, options, surroundings)
      : await writeLedger('ledger forget', options, surroundings, async (world) => {
          const objects = await objectsNamed(world, name, { source: options.source });
          await forgetObjects(world, objects, reason);
          return { forgotten: objects, warnings: objects.flatMap((object) => forgetWarnings(world.kinds, object)) };
        });
    const lines = [...forgotten.map(({ uid }) => `forgot ${safeLine(uid)}`), 'Nothing was sent to the platform.'];
    writeResult(options, surroundings, { forgotten, warnings }, `${lines.join('\n')}\n`, warnings);
  },
});

export const retryCommand = defineCommand({
  about:
    'Releases changes that are held because the platform accepted them three times without making them. The next apply retries them.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
  seeAlso: ['ledger list', 'apply'],
  examples: `
A change that the platform accepted three times without making it is held, so that it is not sent forever. Remove the
cause before you run this command.

Examples:
  portolan ledger retry default:default/team-a/region-1/42:Component:port/6f3c1d5e/8080
  portolan ledger retry Component/shop-web`,
  parameters: (command) =>
    recordOptions(command.argument('<name>', 'uid of an object, or resource (Kind/name) for all its objects')),
  async run(surroundings, options, [name]) {
    const { retried: released } = isOnServer(options)
      ? await retryOnServer(name, options, surroundings)
      : await writeLedger('ledger retry', options, surroundings, async (world) => ({
          retried: await retryObjects(world, await objectsNamed(world, name, { source: options.source })),
        }));
    const lines = released.map(({ uid, failures }) => `${safeLine(uid)}: ${count(failures, 'failure')} cleared\n`);
    const text =
      released.length === 0
        ? `${safeLine(name)} has no recorded failure; nothing was changed\n`
        : `${lines.join('')}The next apply retries.\n`;
    writeResult(options, surroundings, { retried: released.map(({ uid, failures }) => ({ uid, failures })) }, text);
  },
});

export const confirmCommand = defineCommand({
  about:
    'Confirms that installing into an application is safe. Installs wait for this after the ledger was restored, and in an application that the ledger does not know.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
  seeAlso: ['ledger list', 'ledger restore'],
  examples: `
Installs are never repeated. If the ledger cannot know what is already installed (it has never recorded the application,
or it was restored from a backup), installs wait until a person confirms that the application does not have them yet.

Examples:
  portolan ledger confirm default/team-a/region-1/42`,
  parameters: (command) => ledgerOptions(command.argument('<scope>', 'the application: platform/team/region/appId')),
  async run(surroundings, options, [name]) {
    const scope = parseScopeKey(name);
    if (scope === undefined)
      throw invalidInput(
        'cli/no-scope',
        `${name} is not a scope. Nothing was recorded.`,
        'Write platform/team/region/appId, such as default/team-a/region-1/42: the name of the Platform first, the number of the application last.',
      );
    const { type, known } = await writeLedger('ledger confirm', options, surroundings, (world) =>
      confirmInstalls(world, scope),
    );
    const alreadyConfirmed = type === 'already';
    const text = alreadyConfirmed
      ? `installs into ${name} were already confirmed; nothing was changed\n`
      : `installs into ${name} are confirmed: the next apply may install there\n`;
    const warnings = known
      ? []
      : [`the ledger has no record of ${name}; compare the spelling with plan and ledger list`];
    writeResult(options, surroundings, { scope: scopeKey(scope), alreadyConfirmed, warnings }, text, warnings);
  },
});
