/**
 * Writes `schemas/<kind>.schema.json` from the kinds' declarations, which editors use by a `$schema` modeline, one schema of all kinds, and the schemas
 * of what `plan`, `apply` and `conformance` write for programs.
 *
 *   --check   writes nothing; exit code 1 if a file is missing, stale, or belongs to nothing
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { conformanceSchema } from '../src/cli/commands/conformance/report.ts';
import { kindDeclarations } from '../src/configuration/declarations.ts';
import { COMBINED_SCHEMA_FILE, combinedSchema, documentSchema, schemaFileName } from '../src/kinds/schema.ts';
import { reportSchemas } from '../src/report/report-schema.ts';

const folder = fileURLToPath(new URL('../schemas', import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const ofKinds = [...kindDeclarations.values()].map(
  (declaration) => [schemaFileName(declaration.kind), documentSchema(declaration)] as const,
);
const wanted = new Map(
  [
    ...ofKinds,
    [COMBINED_SCHEMA_FILE, combinedSchema([...kindDeclarations.values()])] as const,
    ...Object.entries(reportSchemas),
    ['conformance.schema.json', conformanceSchema] as const,
  ].map(([file, schema]) => [file, `${JSON.stringify(schema, null, 2)}\n`]),
);
const present = existsSync(folder) ? readdirSync(folder) : [];
const stale = [...wanted].filter(
  ([file, text]) => !present.includes(file) || readFileSync(join(folder, file), 'utf8') !== text,
);
const foreign = present.filter((file) => file.endsWith('.json') && !wanted.has(file));

if (values.check) {
  for (const [file] of stale) console.error(`schemas/${file} is not what src says`);
  for (const file of foreign) console.error(`schemas/${file} belongs to nothing in src`);
  if (stale.length + foreign.length > 0) {
    console.error('run: npm run schemas');
    process.exitCode = 1;
  }
} else {
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of stale) writeFileSync(join(folder, file), text);
  for (const file of foreign) rmSync(join(folder, file));
  console.log(`${stale.length} written, ${foreign.length} removed, ${wanted.size} in all`);
}
