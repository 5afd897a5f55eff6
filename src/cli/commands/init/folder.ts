import type { Declarations } from '../../../kinds/kind.ts';
import { COMBINED_SCHEMA_FILE, combinedSchema } from '../../../kinds/schema.ts';
import { DEFAULT_CONFIGURATION } from '../../session/configuration.ts';
import type { Answers } from './answers.ts';
import { appendFileSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { putInPlace, readFileIfThere, unwritable } from '../../session/files.ts';

/** One file of a new project. */
export interface FolderFile {
  /** Relative to the project. */
  readonly path: string;
  readonly content: string;
}

export const MANIFESTS = 'manifests';
/** Readers of manifests skip hidden folders, so `-f .` works. */
export const SCHEMA = `.portolan/${COMBINED_SCHEMA_FILE}`;
export const IGNORE_FILE = '.gitignore';

/** Patterns for .gitignore: the ledger belongs to one machine, and a plan to one moment. */
const IGNORED: readonly string[] = ['portolan.db*', 'plan.json', '*.plan.json'];

/** Returns every new file of `init`: configuration, a manifest, and the schema that both refer to. */
export function folderFiles(kinds: Declarations, answers: Answers): readonly FolderFile[] {
  return [
    { path: DEFAULT_CONFIGURATION, content: configurationText(answers) },
    // `export` uses the same name, so it can replace this file with all that exists.
    { path: manifestPath(answers), content: applicationText(answers) },
    schemaFile(kinds),
  ];
}

/** Returns the paths that do not depend on any answer. */
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
# The operator's configuration: the platform, and what manifests may change. It contains secrets only by
# reference. The fields are explained by portolan explain Platform and portolan explain Settings.
apiVersion: portolan/v1
kind: Platform
metadata:
  name: default # the platform of every Application that names none
spec:
  url: ${scalar(url)}
  auth:
    header: ${scalar(header)}
    value: { ${reference} } # where the token is
${allowPlainHttp ? '  allowPlainHttp: true # the token travels in clear\n' : ''}---
# yaml-language-server: $schema=${SCHEMA}
apiVersion: portolan/v1
kind: Settings
spec:
  scopes:
    allow: [ ${JSON.stringify(`${team}/${region}/*`)} ] # team/region/app: manifests may touch no other application
  source:
    paths: [ ${MANIFESTS} ] # read by commands without -f, relative to the working directory
`;
}

function applicationText({ team, region, appId, name }: Answers): string {
  return `# yaml-language-server: $schema=../${SCHEMA}
# The application of the platform that other documents refer to. This document creates nothing.
# Write documents of other kinds below, after a line of ---, or in other files of this folder.
# portolan explain Component and portolan explain HttpGatewayRule show examples.
apiVersion: portolan/v1
kind: Application
metadata:
  name: ${scalar(name)} # other documents refer to it as application: ${name}
spec:
  team: ${scalar(team)}
  region: ${scalar(region)}
  appId: ${appId}
`;
}

/** Quotes a text unless every YAML reader takes it for text without quotes. JSON quotes are valid in YAML. */
function scalar(text: string): string {
  const isText = /^(?:[A-Za-z_][A-Za-z0-9_-]*|https?:\/\/[A-Za-z0-9.:/_-]*[A-Za-z0-9/])$/.test(text);
  const isWord = /^(?:y|n|yes|no|on|off|true|false|null)$/i.test(text);
  return isText && !isWord ? text : JSON.stringify(text);
}

/** Returns the lines that an ignore file lacks, with a comment; empty where it has them all. */
export function missingIgnores(existing: string | undefined): string {
  const lines = new Set((existing ?? '').split(/\r?\n/).map((line) => line.trim()));
  const missing = IGNORED.filter((pattern) => !lines.has(pattern));
  if (missing.length === 0) return '';
  return `# Portolan: the ledger is of one machine, and a plan is of one moment.\n${missing.join('\n')}\n`;
}

/** Returns the paths below a folder that already exist, as any kind of file. */
export function existingOf(folder: string, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => {
    try {
      return lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined;
    } catch (error) {
      // A file has the name of its folder. Writing reports that.
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
      throw unwritable(join(folder, path), 'give-up', 'Nothing was written', error);
    }
  });
}

/**
 * Writes files and their folders. Without `replace`, existing files are not touched: if one appears in the meantime, the
 * files written before it are removed again.
 * @throws PortolanError `give-up` when a file cannot be written.
 */
export function writeFiles(folder: string, files: readonly FolderFile[], replace: boolean): void {
  // New files, and the topmost of the new folders.
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
      const undone = replace ? 'Files that were written before it stay' : 'Nothing was left behind';
      throw unwritable(file, 'give-up', undone, error);
    }
  }
}

/**
 * Appends to a file what it lacks.
 * @param lacking returns the missing text for the current content; undefined: the file does not exist.
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
