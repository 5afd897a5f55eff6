import { documentSchema } from '../kinds/schema.ts';
import type { CommandDefinition, Surroundings } from './command.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { kindCalled, kindsTable } from './kind-argument.ts';

const EXAMPLES = `
Examples:
  portolan schema                   the kinds there are
  portolan schema Component         the JSON Schema (2020-12) of one kind
  portolan schema Component > component.schema.json

In an editor with yaml-language-server, the first line of a manifest names its schema:
  # yaml-language-server: $schema=./component.schema.json`;

export const schemaCommand: CommandDefinition = {
  define(command, invoke) {
    command
      .argument('[kind]', 'kind of manifest, in any case of letters')
      .addHelpText('after', EXAMPLES)
      .action((kind) => invoke((surroundings) => schema(kind, surroundings)));
  },
};

async function schema(kind: string | undefined, { terminal }: Surroundings): Promise<ExitCode> {
  terminal.out.write(
    kind === undefined ? kindsTable() : `${JSON.stringify(documentSchema(kindCalled(kind)), null, 2)}\n`,
  );
  return EXIT.ok;
}
