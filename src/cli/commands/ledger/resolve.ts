import type { Command } from '@commander-js/extra-typings';
import { invalidInput } from '../../../model/errors.ts';
import {
  type Decision,
  type ManuallyResolved,
  resolveManually,
} from '../../../reconcile/resolution/manual-resolution.ts';
import { readerOfScope } from '../../../reconcile/resolution/scope-access.ts';
import { safeText } from '../../../model/text.ts';
import { defineCommand, type OptionsOf } from '../../session/command.ts';
import { readConfiguration } from '../../session/configuration.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { createLog } from '../../session/logging.ts';
import { addLogOptions, configOption, outputOption } from '../../session/options.ts';
import { timingOf } from '../../../reconcile/apply/world.ts';
import { openPlatforms } from '../../session/platforms.ts';
import { refuseFaults } from '../../session/problems.ts';
import { isOnServer, ledgerFileOption, writeLedger } from './opening.ts';
import { resolveOnServer } from './on-server.ts';
import { requiredReason, writeResult } from './words.ts';

const parameters = (command: Command) =>
  addLogOptions(
    command
      .argument('<intent>', 'id of the intent, as portolan ledger list prints it')
      .option('--applied', 'the change was made')
      .option('--not-applied', 'the change was not made')
      .option('--id <id>', 'with --applied: the http_rule_id of the rule, or the install group')
      .option('--reason <text>', 'how you know, for the history (required)')
      .option('--force', 'resolve it although the request may still arrive')
      .option(
        '--offline',
        'do not read from the platform what the request created: the id of a rule, the components of an install',
      )
      .addOption(ledgerFileOption())
      .option('--server <url>', 'use this running controller (portolan run), such as http://127.0.0.1:7780')
      .option('--token-file <file>', 'file with the token for --server (default: the variable PORTOLAN_SERVER_TOKEN)')
      .addOption(configOption())
      .addOption(outputOption(['text', 'json'])),
  );

export const resolveCommand = defineCommand({
  about:
    'Records the outcome of one request that observation cannot decide, after a person has checked the platform. The history keeps your name and the reason, and the next apply relies on the outcome.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.locked],
  seeAlso: ['ledger list', 'ledger retry', 'apply'],
  examples: `
Check the platform before you run this command. Nothing is sent to the platform.

  --applied      the change was made: the object is recorded as if the answer had arrived. The components of an install
                 are read from the platform, if the configuration names it and it can list them.
  --not-applied  the change was not made: the next apply may send it again. If this is wrong, an install is made twice.

Examples:
  portolan ledger resolve 3f9c21a07b54 --not-applied --reason "the application has no mysql, checked in the console"
  portolan ledger resolve 3f9c21a07b54 --applied --id 17 --reason "install group 17 in the console"`,
  parameters,
  async run(surroundings, options, [intent]) {
    const decision = decisionOf(options);
    const reason = requiredReason(options.reason);
    if (isOnServer(options)) {
      const sent = { decision: decision.type, reason, force: options.force === true, ...idOf(decision) };
      const answer = await resolveOnServer(intent, sent, options, surroundings);
      const text = `resolved ${intent}: ${decision.type === 'applied' ? 'it was applied' : 'it was not applied'}\n`;
      writeResult(options, surroundings, answer, safeText(text), answer.warnings);
      return;
    }
    const { configuration, file, problems } = readConfiguration(options.config, surroundings);
    refuseFaults(problems);
    const platforms = openPlatforms({ configuration, file, surroundings, log: await createLog(options, surroundings) });
    let resolved: ManuallyResolved;
    try {
      resolved = await writeLedger('ledger resolve', options, surroundings, (world) =>
        resolveManually(
          { ...world, timing: timingOf(configuration.settings) },
          {
            intent,
            decision,
            reason,
            force: options.force === true,
            platform: async (scope) => {
              if (options.offline === true || !configuration.platforms.has(scope.platform)) return undefined;
              const access = { client: () => platforms.client(scope.platform), ledger: world.ledger };
              return readerOfScope(access, scope, OFFLINE);
            },
          },
        ),
      );
    } finally {
      await platforms.close();
    }
    const { object = null, warnings } = resolved;
    const result = { intent, decision: decision.type, object, warnings };
    writeResult(options, surroundings, result, safeText(describeResolution(resolved, decision)), warnings);
  },
});

const OFFLINE = 'Or add --offline to record the outcome without data from the platform.';

function decisionOf({ applied, notApplied, id }: OptionsOf<typeof parameters>): Decision {
  if ((applied === true) === (notApplied === true)) {
    throw invalidInput(
      'cli/no-decision',
      `${applied === true ? 'Both --applied and --not-applied were' : 'Neither --applied nor --not-applied was'} given. Nothing was recorded.`,
      'Pass --applied if the platform made the change, or --not-applied if it did not.',
    );
  }
  if (applied === true) return { type: 'applied', id };
  if (id === undefined) return { type: 'not-applied' };
  throw invalidInput(
    'cli/id-of-nothing',
    '--id names the object that a request created, and --not-applied says that it created none. Nothing was recorded.',
    'Omit one of the two.',
  );
}

function idOf(decision: Decision): { readonly id?: string } {
  return decision.type === 'applied' && decision.id !== undefined ? { id: decision.id } : {};
}

function describeResolution({ intent, object }: ManuallyResolved, decision: Decision): string {
  const what = `${intent.operation} for ${intent.resource}`;
  if (decision.type === 'not-applied')
    return `resolved ${intent.id}: ${what} was not applied\nThe next apply may send it again.\n`;
  const id = object?.remoteId ?? null;
  const row =
    object === undefined
      ? 'The ledger needs no record of it.'
      : `Recorded: ${object.uid}, ${object.state}${id === null ? '' : `, id ${id}`}.`;
  return `resolved ${intent.id}: ${what} was applied\n${row}\nNothing was sent. The next apply continues from this outcome.\n`;
}
