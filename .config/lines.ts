/**
 * Counts the lines of code of `src` without the sandbox: no blank lines, no lines that hold only comments, generated files
 * left out.
 *
 *   node .config/lines.ts [COMMIT]   also at a commit, for comparison
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { parseSync } from 'rolldown/utils';

type Files = Iterable<readonly [path: string, text: string]>;

const isCounted = (path: string): boolean => /^src\/(?!sandbox\/).*\.tsx?$/.test(path);

function* here(): Files {
  for (const path of globSync('src/**/*.{ts,tsx}')) yield [path, readFileSync(path, 'utf8')];
}

function* atCommit(commit: string): Files {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  for (const path of git('ls-tree', '-r', '--name-only', commit, 'src').split('\n'))
    if (isCounted(path)) yield [path, git('show', `${commit}:${path}`)];
}

function linesOf(path: string, text: string): number {
  const { comments } = parseSync(path, text);
  let code = '';
  let at = 0;
  for (const { start, end } of comments) {
    // The line breaks of a comment keep its lines apart from those of the code around it.
    code += text.slice(at, start) + text.slice(start, end).replaceAll(/[^\n]/g, '');
    at = end;
  }
  return (code + text.slice(at)).split('\n').filter((line) => line.trim() !== '').length;
}

function count(files: Files): number {
  let lines = 0;
  for (const [path, text] of files) if (isCounted(path)) lines += linesOf(path, text);
  return lines;
}

const now = count(here());
const [commit] = process.argv.slice(2);
if (commit === undefined) console.log(now);
else {
  const before = count(atCommit(commit));
  const percent = ((100 * (now - before)) / before).toFixed(1);
  console.log(`${before} at ${commit}, ${now} now: ${percent} %`);
}
