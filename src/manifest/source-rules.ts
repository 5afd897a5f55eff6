import type { Problem } from '../model/problem.ts';
import { editDistance } from './suggest.ts';

/** Returns whether a file is a manifest by its name. The rule is the same for folders and for commits. */
export function isManifestName(name: string): boolean {
  return /\.(?:ya?ml|json)$/.test(name);
}

/** Returns whether a name is nearly that of a manifest: `web.ymll`, `web.YAML`. Such a file is not read, and probably should be. */
export function isMisnamed(name: string): boolean {
  if (isManifestName(name)) return false;
  const extension = /\.(y[a-z]{1,5}|json)$/.exec(name.toLowerCase())?.[1];
  if (extension === undefined) return false;
  return ['yaml', 'yml', 'json'].some((known) => editDistance(extension, known, 1) <= 1);
}

/** Returns whether a file or folder is skipped, with everything below it. */
export function isHiddenName(name: string): boolean {
  return name.startsWith('.');
}

/**
 * The name of a file that makes Portolan skip its folder and everything below it. It is a file, not a pattern, because
 * patterns have dialects that can be misread. A skipped manifest counts as removed from the source.
 */
export const SKIP_MARKER = '.portolan-skip';

/** Returns a fault of a whole file, which is found without reading its content. */
export function fileProblem(file: string, code: string, message: string, expected?: string): Problem {
  const problem = { code, position: { file, line: 1, column: 1 }, path: '', message };
  return expected === undefined ? problem : { ...problem, expected };
}
