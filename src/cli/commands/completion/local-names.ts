import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Declarations } from '../../../kinds/kind.ts';
import { NAME_PATTERN } from '../../../kinds/schema.ts';
import { DEFAULT_CONFIGURATION } from '../../session/configuration.ts';
import { type LocalNames, plain } from './candidates.ts';

/** Limits of what is read: a person who presses Tab waits for the answer, so a larger source is read in part. */
const FILES_MAX = 500;
const BYTES_MAX = 4 * 1024 * 1024;
const FILE_BYTES_MAX = 1024 * 1024;
const DEPTH_MAX = 8;

const NAME = new RegExp(NAME_PATTERN);

/**
 * Returns names from files on this machine, found by a quick check of their lines: a manifest in the middle of an edit is
 * often not valid YAML. Throws nothing. Leaves out text that is not a valid name, because a shell will use it.
 */
export function readLocalNames(
  declarations: Declarations,
  env: Readonly<Record<string, string | undefined>>,
): LocalNames {
  const namedIn = (paths: readonly string[]): readonly Named[] =>
    textsIn(paths)
      .flatMap(documentsOf)
      .filter(({ kind }) => declarations.has(kind));
  const manifests = (files: readonly string[]): readonly Named[] => {
    const fromEnvironment = env['PORTOLAN_FILENAME']?.split(',').filter((path) => path !== '') ?? [];
    const paths = files.length > 0 ? files : fromEnvironment.length > 0 ? fromEnvironment : ['.'];
    return namedIn(paths).filter(({ kind }) => declarations.get(kind)?.trust === 'manifest');
  };
  return {
    resources: (files) => unique(manifests(files), (kind, name) => (kind === 'Application' ? [] : [`${kind}/${name}`])),
    applications: (files) => unique(manifests(files), (kind, name) => (kind === 'Application' ? [name] : [])),
    platforms: (_files, config) =>
      unique(namedIn([config ?? (env['PORTOLAN_CONFIG'] || DEFAULT_CONFIGURATION)]), (kind, name) =>
        kind === 'Platform' ? [name] : [],
      ),
    kinds: () =>
      [...declarations.values()].map(({ kind, specSchema }) => ({ value: kind, description: specSchema.description })),
  };
}

interface Named {
  readonly kind: string;
  readonly name: string;
}

function unique(found: readonly Named[], wordsOf: (kind: string, name: string) => readonly string[]) {
  return plain([...new Set(found.flatMap(({ kind, name }) => wordsOf(kind, name)))]);
}

function textsIn(paths: readonly string[]): readonly string[] {
  const left = { files: FILES_MAX, bytes: BYTES_MAX };
  return paths.flatMap((path) => filesAt(path, 0, left));
}

/** Returns the text of the YAML files at a path and below it. */
function filesAt(path: string, depth: number, left: { files: number; bytes: number }): readonly string[] {
  if (left.files <= 0 || left.bytes <= 0 || depth > DEPTH_MAX || path === '-') return [];
  try {
    const status = statSync(path);
    if (status.isDirectory()) {
      const entries = readdirSync(path, { withFileTypes: true }).sort(byName);
      return entries.filter(isOfInterest).flatMap(({ name }) => filesAt(join(path, name), depth + 1, left));
    }
    if (!status.isFile() || status.size > FILE_BYTES_MAX) return [];
    left.files -= 1;
    left.bytes -= status.size;
    return [readFileSync(path, 'utf8')];
  } catch {
    // An unreadable file gives no names; the command itself reports it.
    return [];
  }
}

function byName(left: Dirent, right: Dirent): number {
  return left.name < right.name ? -1 : 1;
}

function isOfInterest(entry: Dirent): boolean {
  if (entry.name.startsWith('.') || entry.name === 'node_modules') return false;
  return entry.isDirectory() || /\.ya?ml$/.test(entry.name);
}

/** Returns kind and name of each document, in block style and in flow style. */
function documentsOf(text: string): readonly Named[] {
  return text.split(/^---.*$/m).flatMap((document) => {
    const kind = /^kind:[ \t]*["']?([A-Za-z]+)/m.exec(document)?.[1];
    const name =
      /^metadata:[ \t]*\{[^}\n]*?\bname:[ \t]*["']?([^\s"',}]+)/m.exec(document)?.[1] ??
      /^metadata:[^\n{]*\n(?:[ \t]+[^\n]*\n|[ \t]*\n)*?[ \t]+name:[ \t]*["']?([^\s"'#]+)/m.exec(document)?.[1];
    if (kind === undefined || name === undefined || !NAME.test(name)) return [];
    return [{ kind, name }];
  });
}
