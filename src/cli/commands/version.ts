import packageFile from '../../../package.json' with { type: 'json' };
import { outputOption } from '../session/options.ts';
import type { CommandDefinition, Surroundings } from '../session/command.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';

const EXAMPLES = `
Examples:
  portolan version
  portolan version -o json | jq -r .portolan`;

export const versionCommand: CommandDefinition = {
  help: {
    about:
      'Prints which Portolan this is, which Node runs it, and on what machine: what a report of a fault should say. Reads nothing else.',
    exitCodes: [EXIT.ok, EXIT.invalid],
    seeAlso: ['config'],
  },
  define(command, invoke) {
    command
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', EXAMPLES)
      .action((options) => invoke((surroundings) => version(options.output, surroundings)));
  },
};

async function version(output: string, { terminal, runtimeVersions }: Surroundings): Promise<ExitCode> {
  const facts = { portolan: packageFile.version, ...runtimeVersions };
  terminal.out.write(
    output === 'json'
      ? `${JSON.stringify(facts)}\n`
      : `portolan ${facts.portolan} (Node ${facts.node}, ${facts.platform})\n`,
  );
  return EXIT.ok;
}
