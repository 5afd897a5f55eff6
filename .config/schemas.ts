/**
 * Writes `schemas/<kind>.schema.json` from the kinds' declarations: what editors use by a `$schema` modeline.
 *
 *   --check   writes nothing; exit code 1 if a file is missing, stale, or belongs to no kind
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { kindDeclarations } from '../src/kinds/declarations.ts';
import { documentSchema, schemaFileName } from '../src/kinds/schema.ts';

const folder = fileURLToPath(new URL('../schemas', import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const wanted = new Map(
  [...kindDeclarations.values()].map((declaration) => [
    schemaFileName(declaration.kind),
    `${JSON.stringify(documentSchema(declaration), null, 2)}\n`,
  ]),
);
const present = existsSync(folder) ? readdirSync(folder) : [];
const stale = [...wanted].filter(
  ([file, text]) => !present.includes(file) || readFileSync(join(folder, file), 'utf8') !== text,
);
const foreign = present.filter((file) => file.endsWith('.json') && !wanted.has(file));

if (values.check) {
  for (const [file] of stale) console.error(`schemas/${file} is not what src/kinds says`);
  for (const file of foreign) console.error(`schemas/${file} belongs to no kind`);
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
