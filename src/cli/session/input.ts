import { defaultSettings, foresightOf, operatorNames } from '../../configuration/configuration.ts';
import { loadManifests } from '../../manifest/load.ts';
import { nodeFileSystem, type ReadSources, readSources } from '../../manifest/read.ts';
import { directCalls } from '../../manifest/system-calls.ts';
import { parseVariables, type Variables } from '../../manifest/substitute.ts';
import type { SourceFile } from '../../manifest/text.ts';
import { invalidInput } from '../../model/errors.ts';
import type { Problem } from '../../model/problem.ts';
import type { DesiredState } from '../../model/resource.ts';
import type { Surroundings } from './command.ts';
import { DEFAULT_CONFIGURATION, type OperatorConfiguration, readConfiguration } from './configuration.ts';
import { readNamedFile } from './files.ts';
import type { LoadedCommit, RevisionPolicy } from './revision.ts';

/** Holds the shared options that name the input. */
export interface InputOptions {
  readonly filename?: readonly string[] | undefined;
  /** Absent: the manifests are read from the working tree. */
  readonly revision?: string | undefined;
  readonly config?: string | undefined;
  readonly var?: readonly string[] | undefined;
  readonly varFile?: readonly string[] | undefined;
}

export interface Input extends OperatorConfiguration {
  /** Empty when there is a problem. */
  readonly desired: DesiredState;
  /** The commit that the manifests were read from; undefined for the working tree. */
  readonly commit: LoadedCommit | undefined;
  /** Number of files that were read as manifests. */
  readonly files: number;
  /** The paths that `-f` or the configuration names. */
  readonly paths: readonly string[];
  /** Files that were not read although their names resemble those of manifests. */
  readonly misnamed: readonly string[];
  /** Problems of configuration, variables files and manifests together. */
  readonly problems: readonly Problem[];
}

/** Number of files from which most of the memory would be garbage that V8 has not collected yet. */
const LARGE_SET = 12_000;

const VARIABLE_PREFIX = 'PORTOLAN_VAR_';

/**
 * Reads configuration, variables and manifests, and checks them together.
 * @param foresees also reports as faults what a plan would refuse whatever the platform says.
 * @throws PortolanError `invalid` when no manifests are named, or a named file cannot be read.
 */
export async function loadInput(options: InputOptions, surroundings: Surroundings, foresees = false): Promise<Input> {
  const operator = readConfiguration(options.config, surroundings);
  const paths = namedPaths(options, () => operator);
  const { variables, problems } = readVariables(options, surroundings);
  const exclude = operator.file === undefined ? [] : [operator.file];
  const { source } = operator.configuration.settings;
  const { sources, commit } = await readManifests(paths, exclude, options.revision, source, surroundings);
  if (sources.files.length >= LARGE_SET) surroundings.spareMemory?.();
  const isUsable = operator.file !== undefined && operator.problems.length === 0;
  const { desired, problems: all } = loadManifests({
    kinds: surroundings.declarations,
    files: sources.files,
    variables,
    // A faulty configuration names nothing, so every reference to it would look like a fault.
    ...(isUsable ? { operator: operatorNames(operator.configuration) } : {}),
    ...(isUsable && foresees ? { foresight: foresightOf(operator.configuration) } : {}),
    problems: [...operator.problems, ...problems, ...sources.problems],
  });
  return {
    ...operator,
    desired,
    problems: all,
    files: sources.files.length,
    paths,
    misnamed: sources.misnamed ?? [],
    commit,
  };
}

/** Holds manifests as text, to send them to a server. */
export interface InputFiles extends Pick<Input, 'paths' | 'misnamed' | 'commit' | 'problems'> {
  readonly files: readonly SourceFile[];
  readonly variables: Variables;
}

/**
 * Reads manifests and variables without parsing them or the configuration: the server does that.
 * @throws PortolanError `invalid`, as `loadInput`.
 */
export async function readInputFiles(options: InputOptions, surroundings: Surroundings): Promise<InputFiles> {
  const operator = (): OperatorConfiguration => readConfiguration(options.config, surroundings);
  const paths = namedPaths(options, operator);
  const { variables, problems } = readVariables(options, surroundings);
  // The configuration may be in the same folder, and is not a manifest.
  const exclude = [options.config ?? DEFAULT_CONFIGURATION];
  const policy = { signatures: { by: 'nobody' }, limits: defaultSettings().source.limits } as const;
  const { sources, commit } = await readManifests(paths, exclude, options.revision, policy, surroundings);
  const ofConfiguration = paths.length === 0 ? operator().problems : [];
  const { files, misnamed = [] } = sources;
  return {
    files,
    variables,
    paths,
    misnamed,
    commit,
    problems: [...ofConfiguration, ...problems, ...sources.problems],
  };
}

/**
 * Returns the paths of `-f`, or else `spec.source.paths` of Settings. With a `url`, those are paths of another
 * repository.
 * @throws PortolanError `invalid` when neither names a path.
 */
function namedPaths({ filename = [] }: InputOptions, operator: () => OperatorConfiguration): readonly string[] {
  if (filename.length > 0) return filename;
  const { configuration, problems } = operator();
  const { url, paths } = configuration.settings.source;
  if (url === undefined && paths.length > 0) return paths;
  // The faults of the configuration are reported: they may be the reason why it names no path.
  if (problems.length > 0) return [];
  throw invalidInput(
    'cli/no-manifests',
    'No manifests are given: neither by -f nor by spec.source.paths of the configuration.',
    'Pass -f with a file or folder (-f - for standard input), or set spec.source.paths in portolan.yaml, as portolan init does.',
  );
}

async function readManifests(
  paths: readonly string[],
  exclude: readonly string[],
  revision: string | undefined,
  policy: RevisionPolicy,
  surroundings: Surroundings,
): Promise<{ readonly sources: ReadSources; readonly commit: LoadedCommit | undefined }> {
  if (revision !== undefined) {
    const { readRevision } = await import('./revision.ts');
    return readRevision(revision, paths, exclude, policy, surroundings);
  }
  const fs = nodeFileSystem(() => surroundings.terminal.input(), directCalls());
  return { sources: await readSources(paths, fs, { exclude }), commit: undefined };
}

/**
 * Reads the variables for manifests. `--var` takes precedence over `PORTOLAN_VAR_…`, and that over files; of two of the
 * same kind, the later one wins.
 */
export function readVariables(
  options: InputOptions,
  { env }: Surroundings,
): { variables: Variables; problems: readonly Problem[] } {
  const variables = new Map<string, string>();
  const problems: Problem[] = [];
  for (const file of options.varFile ?? []) {
    const parsed = parseVariables(readNamedFile(file, 'the variables'), file);
    problems.push(...parsed.problems);
    for (const [name, value] of parsed.variables) variables.set(name, value);
  }
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith(VARIABLE_PREFIX) && value !== undefined)
      variables.set(name.slice(VARIABLE_PREFIX.length), value);
  }
  for (const assignment of options.var ?? []) {
    const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(assignment) ?? [];
    // The message does not contain the text: it may hold a secret.
    if (name === undefined || value === undefined)
      throw invalidInput(
        'cli/bad-variable-assignment',
        'A --var does not have the form NAME=value.',
        'Write --var NAME=value: letters, digits and _ before the equals sign.',
      );
    variables.set(name, value);
  }
  return { variables, problems };
}
