import type { Command } from '@commander-js/extra-typings';
import type { ScopeReader } from '../../../kinds/reconciled.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import type { Configuration } from '../../../configuration/configuration.ts';
import { errorFacts, invalidInput, PortolanError } from '../../../model/errors.ts';
import type { Scope } from '../../../model/ids.ts';
import { mustBeBoundRegion, mustBeBoundUrl } from '../../../reconcile/binding.ts';
import {
  type Decision,
  type ManuallyResolved,
  resolveManually,
} from '../../../reconcile/resolution/manual-resolution.ts';
import { createScopeReader } from '../../../reconcile/scope-reader.ts';
import { safeText } from '../../../model/text.ts';
import { defineCommand, type OptionsOf } from '../../session/command.ts';
import { readConfiguration } from '../../session/configuration.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { createLog } from '../../session/logging.ts';
import { addLogOptions, configOption, outputOption } from '../../session/options.ts';
import { timingOf } from '../../../reconcile/apply/world.ts';
import { openPlatforms, type Platforms } from '../../session/platforms.ts';
import { refuseFaults } from '../../session/problems.ts';
import { ledgerFileOption, writeLedger } from './opening.ts';
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
            platform: (scope) =>
              options.offline === true
                ? Promise.resolve(undefined)
                : readerOf(scope, platforms, configuration, world.ledger),
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

/**
 * Returns a reader of the application on the platform; undefined: the platform is not configured.
 * @throws PortolanError when the platform is configured and does not answer: "nothing was created" would be a guess.
 */
async function readerOf(
  scope: Scope,
  platforms: Platforms,
  configuration: Configuration,
  ledger: Ledger,
): Promise<ScopeReader | undefined> {
  if (!configuration.platforms.has(scope.platform)) return undefined;
  const offline = 'Or add --offline to record the outcome without data from the platform.';
  try {
    const client = platforms.client(scope.platform);
    await mustBeBoundUrl(client, ledger);
    await mustBeBoundRegion(client, ledger, scope);
    const application = await client.application(scope);
    if (application !== undefined) return createScopeReader(client, scope, { application });
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const message = `${error.message} Nothing was recorded.`;
    throw new PortolanError({ ...errorFacts(error), message, remedy: `${error.remedy} ${offline}`, cause: error });
  }
  throw new PortolanError({
    code: 'application/not-found',
    disposition: 'give-up',
    message: `Platform/${scope.platform} has no application ${scope.appId} of team ${scope.team} in region ${scope.region}. Nothing was recorded.`,
    remedy: `Check that the configuration names the platform that the request was sent to. ${offline}`,
  });
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
