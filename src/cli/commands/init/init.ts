import type { Declarations } from '../../../kinds/kind.ts';
import { loadConfiguration, operatorNames } from '../../../configuration/configuration.ts';
import { loadManifests } from '../../../manifest/load.ts';
import { invalidInput } from '../../../model/errors.ts';
import { safeLine } from '../../../model/text.ts';
import { defineCommand, type Surroundings } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { integerArgument } from '../../session/options.ts';
import type { Answers } from './answers.ts';
import {
  addToFile,
  existingOf,
  fixedPaths,
  type FolderFile,
  folderFiles,
  IGNORE_FILE,
  MANIFESTS,
  missingIgnores,
  SCHEMA,
  writeFiles,
} from './folder.ts';
import { gatherAnswers } from './questions.ts';

export const initCommand = defineCommand({
  about:
    "Initializes a project: writes the operator's configuration, a first application and the JSON Schema that editors check manifests with. Existing files are not replaced. Reads the platform to offer and check names, and changes nothing on it.",
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.interrupted],
  seeAlso: ['validate', 'plan', 'explain'],
  examples: `
On a terminal it asks for everything that flags leave open, and offers what the platform lists; < returns to the previous
question. Flags are checked against the same lists. The platform is only read, and not at all with --offline.

It writes portolan.yaml, a first file in manifests/, the JSON Schema for editors in .portolan/, and the lines that
.gitignore lacks. The configuration refers to the token and does not contain it. Existing files are not replaced.

Examples:
  portolan init
  portolan init shop
  portolan init shop --url http://127.0.0.1:7070 --team team-a --region region-1 --app-id 42
  portolan init --auth-file /run/secrets/platform-token`,
  parameters: (command) =>
    command
      .argument('[folder]', 'folder of the project (default: the working directory)')
      .option('--url <address>', 'address of the platform')
      .option('--auth-env <name>', 'variable that holds the token (default: PORTOLAN_TOKEN)')
      .option('--auth-file <path>', 'file that holds the token, in place of a variable')
      .option('--auth-header <name>', 'header that carries the token', 'Authorization')
      .option('--team <team>', 'team of the application')
      .option('--region <region>', 'region of the application')
      .option('--app-id <number>', 'number of the application', integerArgument(1, 999_999_999_999_999))
      .option('--name <name>', 'name of the application in other documents (default: derived from its name)')
      .option('--allow-plain-http', 'allow http:// to another machine: the token travels in clear')
      .option('--offline', 'do not read the platform: names are neither offered nor checked')
      .option('--force', 'replace the files of an earlier init'),
  /** Writes nothing before every answer is known. */
  async run(surroundings, options, [folder = '.']) {
    const { terminal, env, signal, declarations } = surroundings;
    if (options.force !== true) refuseExisting(folder, fixedPaths());
    const answers = await gatherAnswers(options, surroundings);
    const files = folderFiles(declarations, answers);
    check(declarations, files);
    if (options.force !== true)
      refuseExisting(
        folder,
        files.map(({ path }) => path),
      );
    signal.throwIfAborted();
    writeFiles(folder, files, options.force === true);
    const ignores = addToFile(folder, IGNORE_FILE, missingIgnores);
    terminal.out.write(report(folder, files, ignores, answers, env));
  },
});

function refuseExisting(folder: string, paths: readonly string[]): void {
  const existing = existingOf(folder, paths);
  if (existing.length === 0) return;
  throw invalidInput(
    'cli/already-there',
    `${safeLine(folder)} has these already: ${existing.join(', ')}. Nothing was written.`,
    'Name another folder, or pass --force to replace these files and no others.',
  );
}

/** Checks that `validate` accepts the files. Otherwise this program has a bug, and nothing is written. */
function check(kinds: Declarations, files: readonly FolderFile[]): void {
  const [configurationFile, ...rest] = files;
  const { configuration, problems } = loadConfiguration(kinds, configurationFile?.content ?? '', 'portolan.yaml');
  const manifests = loadManifests({
    kinds,
    files: rest.filter(({ path }) => path.startsWith(`${MANIFESTS}/`)),
    operator: operatorNames(configuration),
    problems,
  });
  const [first] = manifests.problems;
  if (first !== undefined) throw new Error(`what init would write is not valid: ${first.path} ${first.message}`);
}

function report(
  folder: string,
  files: readonly FolderFile[],
  ignores: 'written' | 'added' | 'kept',
  { token }: Answers,
  env: Surroundings['env'],
): string {
  const written = files.map(({ path }) => (path === SCHEMA ? `${path} (for editors)` : path));
  const ignored = { written: [IGNORE_FILE], added: [`${IGNORE_FILE} (lines added)`], kept: [] }[ignores];
  const lines = [...written, ...ignored];
  const unset = 'env' in token && (env[token.env] ?? '') === '';
  const where = folder === '.' ? '' : `, in ${safeLine(folder)}`;
  return [
    `wrote${where}:`,
    ...lines.map((line) => `  ${line}`),
    '',
    ...(unset ? [`${token.env} is not set here: set it to the token of the platform first.`, ''] : []),
    'next:',
    ...(folder === '.' ? [] : [`  cd ${quoted(folder)}`]),
    '  portolan validate',
    '  portolan plan',
    `  portolan export -f ${MANIFESTS} --to ${MANIFESTS} --force    # writes existing resources as manifests`,
    '',
  ].join('\n');
}

/** Quotes a text for a shell where needed. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${safeLine(text).replaceAll("'", "'\\''")}'`;
}
