import packageFile from '../../../package.json' with { type: 'json' };
import { outputOption } from '../session/options.ts';
import { defineCommand } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';

export const versionCommand = defineCommand({
  about:
    'Prints the versions of Portolan and of Node, and the platform of this machine. Add this output to a bug report.',
  exitCodes: [EXIT.ok, EXIT.invalid],
  seeAlso: ['config'],
  examples: `
Examples:
  portolan version
  portolan version -o json | jq -r .portolan`,
  parameters: (command) => command.addOption(outputOption(['text', 'json'])),
  async run({ terminal, runtimeVersions }, { output }) {
    const facts = { portolan: packageFile.version, ...runtimeVersions };
    terminal.out.write(
      output === 'json'
        ? `${JSON.stringify(facts)}\n`
        : `portolan ${facts.portolan} (Node ${facts.node}, ${facts.platform})\n`,
    );
  },
});
