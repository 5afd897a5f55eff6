/**
 * Writes the reference pages: `src/kinds/README.md` from the schemas, `src/cli/README.md` from what each command says with
 * `--help`. Run it (`npm run reference`) after every change to either.
 *
 *   --check   writes nothing; exit code 1 if a page is not what the program says
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commandsPage } from './reference-commands.ts';
import { kindsPage } from './reference-kinds.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const pages: readonly (readonly [string, string])[] = [
  ['src/kinds/README.md', kindsPage()],
  ['src/cli/README.md', await commandsPage(root)],
];
const stale = pages.filter(([file, text]) => {
  const path = join(root, file);
  return !existsSync(path) || readFileSync(path, 'utf8') !== text;
});

if (values.check) {
  for (const [file] of stale) console.error(`${file} is not what the program says`);
  if (stale.length > 0) {
    console.error('run: npm run reference');
    process.exitCode = 1;
  }
} else {
  for (const [file, text] of stale) writeFileSync(join(root, file), text);
  console.log(`${stale.length} written, ${pages.length} in all`);
}
