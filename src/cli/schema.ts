import { kindDeclarations } from '../kinds/declarations.ts';
import { documentSchema } from '../kinds/schema.ts';
import { didYouMean } from '../manifest/suggest.ts';
import { PortolanError } from '../model/errors.ts';
import type { CommandDefinition, Surroundings } from './command.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { renderTable } from './table.ts';
import { sentences } from './text.ts';

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
  const declarations = [...kindDeclarations.values()];
  if (kind === undefined) {
    const rows = declarations.map(({ kind: name, trust, description }) => [
      name,
      trust === 'operator' ? 'configuration' : 'manifests',
      description,
    ]);
    terminal.out.write(renderTable(['kind', 'stands in', 'what it is'], rows));
    return EXIT.ok;
  }
  const declaration = declarations.find(({ kind: name }) => name.toLowerCase() === kind.toLowerCase());
  if (declaration === undefined)
    throw unknownKind(
      kind,
      declarations.map(({ kind: name }) => name),
    );
  terminal.out.write(`${JSON.stringify(documentSchema(declaration), null, 2)}\n`);
  return EXIT.ok;
}

function unknownKind(kind: string, known: readonly string[]): PortolanError {
  return new PortolanError({
    code: 'cli/unknown-kind',
    disposition: 'invalid',
    message: `There is no kind called ${kind}.`,
    remedy: sentences(didYouMean(kind, known), `There are: ${known.join(', ')}.`),
  });
}
