import type { Declarations } from '../../../kinds/kind.ts';
import { COMBINED_SCHEMA_FILE, combinedSchema } from '../../../kinds/schema.ts';
import { DEFAULT_CONFIGURATION } from '../../session/configuration.ts';
import type { Answers } from './answers.ts';
import { appendFileSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { putInPlace, readFileIfThere, unwritable } from '../../session/files.ts';

/** One file of a working folder. */
export interface FolderFile {
  /** Below the folder. */
  readonly path: string;
  readonly content: string;
}

export const MANIFESTS = 'manifests';
/** In a hidden folder: readers of manifests leave those out, so `-f .` works. */
export const SCHEMA = `.portolan/${COMBINED_SCHEMA_FILE}`;
export const IGNORE_FILE = '.gitignore';

/** What git need not keep: the ledger is of one machine, and a plan is of one moment. */
const IGNORED: readonly string[] = ['portolan.db*', 'plan.json', '*.plan.json'];

/** Everything that `init` writes as a file of its own: configuration, a manifest, and the schema that both name. */
export function folderFiles(kinds: Declarations, answers: Answers): readonly FolderFile[] {
  return [
    { path: DEFAULT_CONFIGURATION, content: configurationText(answers) },
    // Called as `export` calls it, which can then put all that is there in its place.
    { path: manifestPath(answers), content: applicationText(answers) },
    schemaFile(kinds),
  ];
}

/** Paths of those that do not depend on any answer. */
export function fixedPaths(): readonly string[] {
  return [DEFAULT_CONFIGURATION, SCHEMA];
}

function manifestPath({ name }: Answers): string {
  return `${MANIFESTS}/${name}.yaml`;
}

function schemaFile(kinds: Declarations): FolderFile {
  return {
    path: SCHEMA,
    content: `${JSON.stringify(combinedSchema([...kinds.values()]), null, 2)}
`,
  };
}

export function configurationText({ url, allowPlainHttp, header, token, team, region }: Answers): string {
  const reference = 'env' in token ? `env: ${scalar(token.env)}` : `file: ${scalar(token.file)}`;
  return `# yaml-language-server: $schema=${SCHEMA}
# The operator's configuration: where the platform is, and what manifests may touch. A secret stands here only by
# reference. What each field means: portolan explain Platform, portolan explain Settings.
apiVersion: portolan/v1
kind: Platform
metadata:
  name: default # the platform of every Application that names none
spec:
  url: ${scalar(url)}
  auth:
    header: ${scalar(header)}
    value: { ${reference} } # the token stands there, and nowhere else
${allowPlainHttp ? '  allowPlainHttp: true # the token travels in clear\n' : ''}---
# yaml-language-server: $schema=${SCHEMA}
apiVersion: portolan/v1
kind: Settings
spec:
  scopes:
    allow: [ ${JSON.stringify(`${team}/${region}/*`)} ] # team/region/app: manifests may touch no other application
  source:
    paths: [ ${MANIFESTS} ] # what commands read without -f, from the folder in which they run
`;
}

function applicationText({ team, region, appId, name }: Answers): string {
  return `# yaml-language-server: $schema=../${SCHEMA}
# Which application of the platform the other documents mean. It creates nothing.
# Documents of other kinds stand below, behind a line of ---, or in files of their own beside this one:
# portolan explain Component and portolan explain HttpGatewayRule show some to begin with.
apiVersion: portolan/v1
kind: Application
metadata:
  name: ${scalar(name)} # what other documents say as application: ${name}
spec:
  team: ${scalar(team)}
  region: ${scalar(region)}
  appId: ${appId}
`;
}

/** In quotes unless every reader takes it for text without them; JSON's quotes are YAML's. */
function scalar(text: string): string {
  const isText = /^(?:[A-Za-z_][A-Za-z0-9_-]*|https?:\/\/[A-Za-z0-9.:/_-]*[A-Za-z0-9/])$/.test(text);
  const isWord = /^(?:y|n|yes|no|on|off|true|false|null)$/i.test(text);
  return isText && !isWord ? text : JSON.stringify(text);
}

/** The lines that an ignore file still lacks, with what they are; empty where it has them all. */
export function missingIgnores(existing: string | undefined): string {
  const lines = new Set((existing ?? '').split(/\r?\n/).map((line) => line.trim()));
  const missing = IGNORED.filter((pattern) => !lines.has(pattern));
  if (missing.length === 0) return '';
  return `# Portolan: the ledger is of one machine, and a plan is of one moment.\n${missing.join('\n')}\n`;
}

/** Which of the paths below a folder are taken, by whatever it may be. */
export function existingOf(folder: string, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => {
    try {
      return lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined;
    } catch (error) {
      // A file stands where its folder would: writing says so.
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
      throw unwritable(join(folder, path), 'give-up', 'Nothing was written', error);
    }
  });
}

/**
 * Writes files with the folders that they need. Without `replace` nothing that is there is touched: should one of them
 * have appeared meanwhile, those that were written before it are taken back.
 * @throws PortolanError `give-up` when one cannot be written.
 */
export function writeFiles(folder: string, files: readonly FolderFile[], replace: boolean): void {
  // Files, and the topmost folders that were not there before.
  const made: string[] = [];
  for (const { path, content } of files) {
    const file = join(folder, path);
    try {
      const folderMade = mkdirSync(dirname(file), { recursive: true });
      if (folderMade !== undefined) made.push(folderMade);
      if (replace) putInPlace(file, 0o666, (descriptor) => writeFileSync(descriptor, content));
      else writeFileSync(file, content, { flag: 'wx' });
      made.push(file);
    } catch (error) {
      if (!replace) for (const each of made) rmSync(each, { recursive: true, force: true });
      const undone = replace ? 'What was written before it stays' : 'Nothing was left behind';
      throw unwritable(file, 'give-up', undone, error);
    }
  }
}

/**
 * Adds to a file what it lacks, below what it says.
 * @param lacking of what it says now; undefined: there is none.
 */
export function addToFile(
  folder: string,
  path: string,
  lacking: (existing: string | undefined) => string,
): 'written' | 'added' | 'kept' {
  const file = join(folder, path);
  const content = readFileIfThere(file, path);
  const existing = content === undefined ? undefined : new TextDecoder().decode(content);
  const text = lacking(existing);
  if (text === '') return 'kept';
  const gap = existing === undefined || existing === '' ? '' : existing.endsWith('\n') ? '\n' : '\n\n';
  try {
    appendFileSync(file, gap + text);
  } catch (error) {
    throw unwritable(file, 'give-up', 'Everything else was written', error);
  }
  return existing === undefined ? 'written' : 'added';
}
