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
import type { Output } from '../terminal/terminal.ts';
import type { Surroundings } from './command.ts';
import { type ExitCode, reportError } from './exit-codes.ts';
import { type CompactFlag, paintFor, styleFor, worstOf } from './plan-view.ts';
import { FaultyInput, type ProblemFormat, renderProblemsAs } from './problems.ts';
import type { Redaction } from './redaction.ts';
import { checkWritable, writeWholeFile } from './files.ts';

/** Holds the format of a plan, and the files that it is also written to. */
export interface OutputOptions extends CompactFlag {
  readonly output: PlanFormat;
  readonly out?: readonly string[] | undefined;
  /** Another file that the same command writes. */
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

/** Parses a value of `--out`: `plan.md`, `markdown=summary`; `./markdown=x` is a file of that name. */
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

/** Writes the result of one command to the screen and to files. */
export interface Outputs {
  /** Format of standard output. */
  readonly format: PlanFormat;
  /** Writes a report to standard output. */
  show(report: PlanReport, desired: DesiredState): Promise<void>;
  /**
   * Writes a report to every file of `--out`. Files that cannot be written are reported on stderr.
   * @param exitCode of the command so far.
   * @returns the exit code to end with.
   */
  keep(report: PlanReport, desired: DesiredState, exitCode: ExitCode): Promise<ExitCode>;
  /** Runs `work`. Faults of the input are also written to every output whose format has a place for them. */
  showFaultsOf(work: () => Promise<ExitCode>): Promise<ExitCode>;
}

/**
 * Checks that every file of `--out` can be written, before anything else is done.
 * @throws PortolanError `invalid` where one cannot.
 */
export function openOutputs({ output, out = [], save, compact }: OutputOptions, surroundings: Surroundings): Outputs {
  const files = out.map(outFile);
  refuseTwice([...(save === undefined ? [] : [save]), ...files.map(({ path }) => path)]);
  for (const { path } of files) checkWritable(path);
  const { terminal, redaction } = surroundings;
  const rendered = (report: PlanReport, format: PlanFormat, desired: DesiredState, screen?: Output) =>
    renderReport(withoutSecrets(report, redaction), format, {
      positionOf: positionsOf(desired),
      version: packageFile.version,
      paint: screen === undefined ? plainPaint : paintFor(screen),
      style: styleFor(report.plan, { compact }, screen),
    });
  const refuse = async (problems: readonly Problem[]): Promise<void> => {
    const shown = problems.map(atCheckout);
    const format = problemFormat(output);
    if (format !== undefined) terminal.out.write(await renderProblemsAs(format, shown, []));
    for (const { path, format: wanted } of files) {
      const known = problemFormat(wanted);
      if (known === undefined) terminal.err.write(`${path} was not written: there is no plan.\n`);
      else writeWholeFile(path, safeOutput(redaction.redact(await renderProblemsAs(known, shown, []))));
    }
  };
  return {
    format: output,
    async show(report, desired) {
      terminal.out.write(await rendered(report, output, desired, terminal.out));
    },
    async keep(report, desired, exitCode) {
      const codes = [exitCode];
      for (const { path, format } of files) {
        try {
          writeWholeFile(path, safeOutput(redaction.redact(await rendered(report, format, desired))));
        } catch (error) {
          if (!(error instanceof PortolanError)) throw error;
          codes.push(reportError(error, surroundings));
        }
      }
      return worstOf(codes) ?? exitCode;
    },
    async showFaultsOf(work) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof FaultyInput)) throw error;
        // The faults are reported first, because writing one of the outputs can fail.
        const exitCode = reportError(error, surroundings);
        await refuse(error.problems);
        return exitCode;
      }
    },
  };
}

/** Refuses two outputs to the same file, because one of them would be lost. */
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
  return format === 'github' || format === 'gitlab' || format === 'sarif' || format === 'junit' ? format : undefined;
}

/**
 * Returns the position of each resource, with its file relative to the working directory, as reviews and scanners expect
 * it.
 */
function positionsOf(desired: DesiredState): PositionOf {
  return (resource) => {
    const position = desired.get(resource as `${string}/${string}`)?.position;
    return position === undefined ? undefined : fromHere(position);
  };
}

/** Returns a problem with its file relative to the working directory. */
export function atCheckout(problem: Problem): Problem {
  return { ...problem, position: fromHere(problem.position) };
}

function fromHere(position: Position): Position {
  const { file } = position;
  if (file.startsWith('<')) return position;
  const path = relative('', file);
  // A file outside the working directory keeps its whole name.
  return path === '' || path.startsWith('..') || isAbsolute(path) ? position : { ...position, file: path };
}

/** Masks secrets in a report before it is formatted: an escaped secret would not be recognized in the output. */
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
