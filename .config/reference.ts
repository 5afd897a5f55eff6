/**
 * Writes the generated pages of `docs/reference`: kinds from the schemas, commands from their `--help`, codes of errors from the
 * code that reports them, API, metrics and events of the controller, the pictures of `docs/concepts` from their
 * flowcharts, and the picture of a plan in README from a run. Run it (`npm run reference`) after every change to them.
 *
 *   --check   writes nothing; exit code 1 if a page differs from the program
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { GENERATED, type Page } from './markdown.ts';
import { commandPages } from './reference-commands.ts';
import { daemonPages } from './reference-daemon.ts';
import { diagramPages } from './reference-diagrams.ts';
import { errorPages } from './reference-errors.ts';
import { kindPages } from './reference-kinds.ts';
import { planPages } from './reference-plan.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const pages: readonly Page[] = [
  ...kindPages(),
  ...(await commandPages(root)),
  ...(await daemonPages()),
  ...errorPages(root),
  ...diagramPages(root),
  ...(await planPages(root)),
];
const textOf = (file: string): string | undefined =>
  existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : undefined;
const stale = pages.filter(({ file, text }) => textOf(file) !== text);
const left = readdirSync(join(root, 'docs', 'reference'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => join('docs', 'reference', file))
  .filter((file) => !pages.some((page) => page.file === file) && textOf(file)?.startsWith(GENERATED));

if (values.check) {
  for (const { file } of stale) console.error(`${file} differs from the program`);
  for (const file of left) console.error(`${file} describes nothing of the program`);
  if (stale.length + left.length > 0) {
    console.error('run: npm run reference');
    process.exitCode = 1;
  }
} else {
  for (const file of left) rmSync(join(root, file));
  for (const { file, text } of stale) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  console.log(`${stale.length} written, ${left.length} removed, ${pages.length} in all`);
}
