import { type Formatting, formatFile } from '../../manifest/format.ts';
import { nodeFileSystem, readSources } from '../../manifest/read.ts';
import { renderProblems } from '../../manifest/render.ts';
import { screenOf } from '../session/problems.ts';
import { directCalls } from '../../manifest/system-calls.ts';
import type { SourceFile } from '../../manifest/text.ts';
import type { Problem } from '../../model/problem.ts';
import { safeLine, safeText } from '../../model/text.ts';
import { own } from '../terminal/terminal.ts';
import { defineCommand, type Surroundings } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';
import { replaceTextFile } from '../session/files.ts';
import { filenameOption } from '../session/options.ts';
import { count } from '../terminal/text.ts';

export const fmtCommand = defineCommand({
  isData: true,
  about:
    'Formats manifests and configuration: order of fields, indentation and quotes. Comments and meaning stay the same. A file that cannot be parsed reliably is not changed.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid],
  seeAlso: ['validate'],
  examples: `
A file whose comments or meaning would change is not written, nor is a file with faults. The other files are formatted.
The command prints the names of the files that it writes, or would write.

Exit codes: 0 done, or nothing to do; 1 with --check if a file is not formatted; 3 if a file has faults.

Examples:
  portolan fmt                          all files in the working directory
  portolan fmt manifests portolan.yaml
  portolan fmt --check manifests        for CI; writes nothing
  portolan fmt --diff manifests         shows the changes; writes nothing
  portolan fmt - < in.yaml > out.yaml`,
  parameters: (command) =>
    command
      .argument('[paths...]', 'files and folders, or - for standard input (default: the working directory)')
      .addOption(filenameOption())
      .option('--check', 'write nothing, and exit with 1 if a file is not formatted')
      .option('--diff', 'write nothing, and show the changes'),
  async run({ terminal, declarations }, options, [named], { command }) {
    // Flags and arguments take precedence over the environment.
    const isOfFlag = named.length === 0 || command.getOptionValueSource('filename') === 'cli';
    const all = [...named, ...(isOfFlag ? (options.filename ?? []) : [])];
    const paths = all.length === 0 ? ['.'] : all;
    const fs = nodeFileSystem(() => terminal.input(), directCalls());
    const { files, problems: unread } = await readSources(paths, fs);
    const problems: Problem[] = [...unread];
    let amiss = 0;
    for (const file of files) {
      if (file.path.endsWith('.json')) {
        // In a folder of manifests, a JSON file is normal and needs no note.
        if (paths.includes(file.path)) terminal.err.write(`note: ${safeLine(file.path)} is JSON and was not changed\n`);
        continue;
      }
      const formatting = formatFile(declarations, file);
      if (formatting.type === 'refused') problems.push(...formatting.problems);
      else if (await handle(file, formatting, options, terminal)) amiss += 1;
    }
    if (problems.length > 0) {
      terminal.err.write(own(terminal.err, renderProblems(problems, screenOf(terminal.err))));
      terminal.err.write('Files with faults were not changed.\n');
      return EXIT.invalid;
    }
    if (amiss === 0 || !options.check) return EXIT.ok;
    terminal.err.write(`${count(amiss, 'file')} not formatted. Run portolan fmt without --check to format.\n`);
    return EXIT.failed;
  },
});

interface FormatOptions {
  readonly check?: true | undefined;
  readonly diff?: true | undefined;
}

/** Formats one file, or shows the result. @returns whether the file was not formatted before. */
async function handle(
  { path, content }: SourceFile,
  { before, text }: Formatting & { readonly type: 'formatted' },
  { check, diff }: FormatOptions,
  { out }: Surroundings['terminal'],
): Promise<boolean> {
  const original =
    typeof content === 'string' ? content : new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);
  const isChanged = original !== text;
  const isWritten = check !== true && diff !== true;
  if (path === '<stdin>' && isWritten) {
    out.write(text);
    return isChanged;
  }
  if (!isChanged) return false;
  if (diff) out.write(await differenceOf(path, before, text));
  else out.write(`${safeLine(path)}\n`);
  if (isWritten) replaceTextFile(path, text, content as Uint8Array);
  return true;
}

/** With more changed lines, the comparison would take too long: the whole file is shown as new. */
const CHANGES_MAX = 2000;

async function differenceOf(path: string, before: string, after: string): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff');
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, maxEditLength: CHANGES_MAX };
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, options);
  return safeText(patch ?? replacementOf(path, before, after));
}

function replacementOf(path: string, before: string, after: string): string {
  const lines = (text: string): readonly string[] => text.replace(/\n$/, '').split('\n');
  const [old, now] = [lines(before), lines(after)];
  const hunk = [
    `@@ -1,${old.length} +1,${now.length} @@`,
    ...old.map((line) => `-${line}`),
    ...now.map((line) => `+${line}`),
  ];
  return `--- ${path}\n+++ ${path}\n${hunk.join('\n')}\n`;
}
