import packageFile from '../../package.json' with { type: 'json' };
import { outputOption } from './options.ts';
import type { CommandDefinition, Surroundings } from './command.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

export const versionCommand: CommandDefinition = {
  define(command, invoke) {
    command
      .addOption(outputOption(['text', 'json']))
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
