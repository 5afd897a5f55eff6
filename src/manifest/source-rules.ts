import type { Problem } from '../model/problem.ts';
import { editDistance } from './suggest.ts';

/** What is a manifest, by its name alone: the same rule for folders and for commits. */
export function isManifestName(name: string): boolean {
  return /\.(?:ya?ml|json)$/.test(name);
}

/** Whether a name is nearly that of a manifest: `web.ymll`, `web.YAML`. Such a file is not read, and probably should be. */
export function isMisnamed(name: string): boolean {
  if (isManifestName(name)) return false;
  const extension = /\.(y[a-z]{1,5}|json)$/.exec(name.toLowerCase())?.[1];
  if (extension === undefined) return false;
  return ['yaml', 'yml', 'json'].some((known) => editDistance(extension, known, 1) <= 1);
}

/** Files and folders that are left out, with all that is below them. */
export function isHiddenName(name: string): boolean {
  return name.startsWith('.');
}

/**
 * A folder below the named one that holds a file of this name is left out, with all that is below it. A name by itself, so
 * that neither a pattern nor its dialect can be misread; leaving something out counts as taking it out of the source.
 */
export const SKIP_MARKER = '.portolan-skip';

/** A fault of a file as a whole, found before its content was looked at. */
export function fileProblem(file: string, code: string, message: string, expected?: string): Problem {
  const problem = { code, position: { file, line: 1, column: 1 }, path: '', message };
  return expected === undefined ? problem : { ...problem, expected };
}
