import { PortolanError } from '../../../model/errors.ts';
import { parseScopeKey, scopeKey } from '../../../model/ids.ts';
import { confirmByHand } from '../../../reconcile/resolution/books-by-hand.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { outputOption } from '../../session/options.ts';
import { ledgerFileOption, type LedgerOptions, writingLedger } from './opening.ts';
import { warn, writeJson } from './words.ts';

const HELP = `
Installs are never repeated. Where the ledger cannot know what is installed already (an application that it has never
recorded, or a ledger restored from a backup), they wait until a person has looked and says that nothing there is what
would be installed.

Examples:
  portolan ledger confirm default/team-a/region-1/42`;

export const confirmCommand: CommandDefinition = {
  help: {
    about:
      'Installs into an application wait after its ledger was restored, or was never seen to have any. This says that what is there has been looked at, and that installing is safe.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.locked],
    seeAlso: ['ledger list', 'ledger restore'],
  },
  define(command, invoke) {
    command
      .argument('<scope>', 'the application: platform/team/region/appId')
      .addOption(ledgerFileOption())
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', HELP)
      .action((scope, options) => invoke((surroundings) => confirm(scope, options, surroundings)));
  },
};

async function confirm(
  name: string,
  options: LedgerOptions & { readonly output: 'text' | 'json' },
  surroundings: Surroundings,
): Promise<ExitCode> {
  const scope = parseScopeKey(name);
  if (scope === undefined) throw noScope(name);
  const { terminal } = surroundings;
  const confirmed = await writingLedger('ledger confirm', options, surroundings, (world) =>
    confirmByHand(world, scope),
  );
  const warnings = confirmed.known
    ? []
    : [`the ledger has never heard of ${name}; see that it is spelt as plan and list print it`];
  if (options.output === 'json') {
    writeJson({ scope: scopeKey(scope), alreadyConfirmed: confirmed.type === 'already', warnings }, terminal);
    return EXIT.ok;
  }
  terminal.out.write(
    confirmed.type === 'already'
      ? `installs into ${name} were confirmed already; nothing was changed\n`
      : `installs into ${name} are confirmed: the next apply may install there\n`,
  );
  warn(warnings, terminal);
  return EXIT.ok;
}

function noScope(name: string): PortolanError {
  return new PortolanError({
    code: 'cli/no-scope',
    disposition: 'invalid',
    message: `${name} is no scope. Nothing was recorded.`,
    remedy:
      'Write platform/team/region/appId, such as default/team-a/region-1/42: the platform by its name in the configuration, the application by its number.',
  });
}
