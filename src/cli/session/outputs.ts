import { extname, isAbsolute, relative, resolve } from 'node:path';
import packageFile from '../../../package.json' with { type: 'json' };
import type { Json } from '../../model/json.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import type { Position, Problem } from '../../model/problem.ts';
import type { DesiredState } from '../../model/resource.ts';
import type { PositionOf } from '../../report/findings.ts';
import { PLAN_FORMATS, type PlanFormat, renderReport } from '../../report/formats.ts';
import { plainPaint } from '../../report/text.ts';
import type { PlanReport } from '../../plan/report.ts';
import { safeOutput } from '../terminal/guarded.ts';
import type { Surroundings } from './command.ts';
import { type ExitCode, reportError } from './exit-codes.ts';
import { paintFor, worstOf } from './plan-view.ts';
import { type ProblemFormat, renderProblemsAs } from './problems.ts';
import type { Redaction } from './redaction.ts';
import { checkWritable, writeWholeFile } from './files.ts';

/** How a plan is shown, and what it is written to besides. */
export interface OutputOptions {
  readonly output: PlanFormat;
  readonly out?: readonly string[] | undefined;
  /** A file that the same command writes too. */
  readonly save?: string | undefined;
}

interface OutFile {
  readonly path: string;
  readonly format: PlanFormat;
}

const FORMAT_OF: Readonly<Record<string, PlanFormat>> = {
  '.txt': 'text',
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.sarif': 'sarif',
  '.xml': 'junit',
  '.html': 'html',
  '.htm': 'html',
};

/** `plan.md`, `markdown=summary`; `./markdown=x` is a file of that name. */
function outFile(text: string): OutFile {
  const [, named, path] = /^([a-z]+)=(.+)$/s.exec(text) ?? [];
  const format = PLAN_FORMATS.find((name) => name === named);
  if (format !== undefined && path !== undefined) return { path, format };
  const byExtension = FORMAT_OF[extname(text).toLowerCase()];
  if (byExtension !== undefined) return { path: text, format: byExtension };
  throw invalidInput(
    'cli/format-of-file',
    `--out names ${text}, and that extension says no format. Nothing was done.`,
    `Write FORMAT=FILE, with one of: ${PLAN_FORMATS.join(', ')}.`,
  );
}

/** The screen and the files of one command. */
export interface Outputs {
  /** Of standard output. */
  readonly format: PlanFormat;
  /** The report on standard output. */
  show(report: PlanReport, positionOf: PositionOf): Promise<void>;
  /** The report to every file. @returns the exit code of what could not be written; it has been told on stderr. */
  keep(report: PlanReport, positionOf: PositionOf): Promise<ExitCode | undefined>;
  /** Faults of manifests, in those of the formats that have a place for them. */
  refuse(problems: readonly Problem[]): Promise<void>;
}

/**
 * Checks that every file of `--out` can be written, before anything else is done.
 * @throws PortolanError `invalid` where one cannot.
 */
export function openOutputs({ output, out = [], save }: OutputOptions, surroundings: Surroundings): Outputs {
  const files = out.map(outFile);
  refuseTwice([...(save === undefined ? [] : [save]), ...files.map(({ path }) => path)]);
  for (const { path } of files) checkWritable(path);
  const { terminal, redaction } = surroundings;
  const rendered = (report: PlanReport, format: PlanFormat, positionOf: PositionOf, paint = plainPaint) =>
    renderReport(report, format, { positionOf, version: packageFile.version, paint });
  return {
    format: output,
    show: async (report, positionOf) => {
      const paint = paintFor(terminal.out);
      terminal.out.write(await rendered(withoutSecrets(report, redaction), output, positionOf, paint));
    },
    keep: async (report, positionOf) => {
      const masked = withoutSecrets(report, redaction);
      let failed: ExitCode | undefined;
      for (const { path, format } of files) {
        try {
          writeWholeFile(path, safeOutput(redaction.redact(await rendered(masked, format, positionOf))));
        } catch (error) {
          if (!(error instanceof PortolanError)) throw error;
          failed = reportError(error, surroundings);
        }
      }
      return failed;
    },
    refuse: async (problems) => {
      const shown = problems.map(atCheckout);
      const format = problemFormat(output);
      if (format !== undefined) terminal.out.write(await renderProblemsAs(format, shown, []));
      for (const { path, format: wanted } of files) {
        const known = problemFormat(wanted);
        if (known === undefined) terminal.err.write(`${path} was not written: there is no plan.\n`);
        else writeWholeFile(path, safeOutput(redaction.redact(await renderProblemsAs(known, shown, []))));
      }
    },
  };
}

/** One of the two would be lost. */
function refuseTwice(paths: readonly string[]): void {
  const twice = paths.find((path, at) => paths.slice(0, at).some((other) => resolve(other) === resolve(path)));
  if (twice === undefined) return;
  throw invalidInput(
    'cli/file-named-twice',
    `${twice} is named twice as a file to write. Nothing was done.`,
    'Give each of --out and --save a file of its own.',
  );
}

function problemFormat(format: PlanFormat): Exclude<ProblemFormat, 'text' | 'json'> | undefined {
  return format === 'github' || format === 'sarif' || format === 'junit' ? format : undefined;
}

/** What a command ends with that may not have been able to write all it was to. */
export function orUnwritten(unwritten: ExitCode | undefined, exitCode: ExitCode): ExitCode {
  return unwritten === undefined ? exitCode : (worstOf([unwritten, exitCode]) ?? unwritten);
}

/** Where each resource stands, in files as the working directory names them: what reviews and scanners look for. */
export function positionsOf(desired: DesiredState): PositionOf {
  return (resource) => {
    const position = desired.get(resource as `${string}/${string}`)?.position;
    return position === undefined ? undefined : fromHere(position);
  };
}

/** A fault with its file as the working directory names it. */
export function atCheckout(problem: Problem): Problem {
  return { ...problem, position: fromHere(problem.position) };
}

function fromHere(position: Position): Position {
  const { file } = position;
  if (file.startsWith('<')) return position;
  const path = relative('', file);
  // What lies elsewhere keeps its whole name.
  return path === '' || path.startsWith('..') || isAbsolute(path) ? position : { ...position, file: path };
}

/** Before it is written in any format: escapes would hide a secret from the last net. */
function withoutSecrets(report: PlanReport, redaction: Redaction): PlanReport {
  return masked(report as unknown as Json, redaction) as unknown as PlanReport;
}

function masked(value: Json | undefined, redaction: Redaction): Json | undefined {
  if (typeof value === 'string') return redaction.redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => masked(item, redaction) ?? null);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [redaction.redact(name), masked(member, redaction)]),
  );
}
