import type { Declarations } from '../../kinds/kind.ts';
import { combinedSchema, documentSchema } from '../../kinds/schema.ts';
import type { JsonObject } from '../../model/json.ts';
import { reportSchemas } from '../../report/report-schema.ts';
import { faultRulesSchema } from '../../sandbox/faults.ts';
import { seedSchema } from '../../sandbox/seed-check.ts';
import { defineCommand } from '../session/command.ts';
import { conformanceSchema } from './conformance/report.ts';
import { EXIT } from '../session/exit-codes.ts';
import { kindCalled, kindsTable } from './kind-argument.ts';

export const schemaCommand = defineCommand({
  isData: true,
  about: 'Prints the JSON Schema (2020-12) of a kind of document, or lists the kinds. Reads no files.',
  exitCodes: [EXIT.ok, EXIT.invalid],
  seeAlso: ['explain', 'validate'],
  examples: `
Examples:
  portolan schema                   all kinds
  portolan schema Component         the JSON Schema (2020-12) of one kind
  portolan schema Component > component.schema.json
  portolan schema all > portolan.schema.json   one schema for documents of every kind
  portolan schema plan              the output of plan -o json; also apply, and plan-line for a line of -o jsonl

In an editor with yaml-language-server, the first line of a manifest names its schema:
  # yaml-language-server: $schema=./portolan.schema.json`,
  parameters: (command) =>
    command.argument(
      '[kind]',
      'kind of manifest; or all, for every kind; or plan, apply, plan-line or conformance, for their output with -o json and jsonl; or seed or faults, for files of the sandbox',
    ),
  async run({ terminal, declarations }, _options, [kind]) {
    terminal.out.write(
      kind === undefined
        ? kindsTable(declarations, terminal.out)
        : `${JSON.stringify(schemaOf(declarations, kind), null, 2)}\n`,
    );
  },
});

/** Returns the schema of a kind, or of an output for programs. */
function schemaOf(kinds: Declarations, word: string): JsonObject {
  if (word.toLowerCase() === 'all') return combinedSchema([...kinds.values()]);
  if (word.toLowerCase() === 'conformance') return conformanceSchema;
  if (word.toLowerCase() === 'seed') return seedSchema as JsonObject;
  if (word.toLowerCase() === 'faults') return faultRulesSchema as JsonObject;
  return reportSchemas[`${word.toLowerCase()}.schema.json`] ?? documentSchema(kindCalled(kinds, word));
}
