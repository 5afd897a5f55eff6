import { defaultSettings, operatorNames } from '../../configuration/configuration.ts';
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
import type { CommitAtHand, RevisionPolicy } from './revision.ts';

/** What the shared options say about where input comes from. */
export interface InputOptions {
  readonly filename?: readonly string[] | undefined;
  /** Absent: the files as they are. */
  readonly revision?: string | undefined;
  readonly config?: string | undefined;
  readonly var?: readonly string[] | undefined;
  readonly varFile?: readonly string[] | undefined;
}

export interface Input extends OperatorConfiguration {
  /** Empty as soon as there is one problem. */
  readonly desired: DesiredState;
  /** The commit that the manifests were read from; undefined for files as they are. */
  readonly commit: CommitAtHand | undefined;
  /** How many files were read as manifests. */
  readonly files: number;
  /** What was named: by `-f`, or by the configuration. */
  readonly paths: readonly string[];
  /** Files that were not read, whose names are nearly those of manifests. */
  readonly misnamed: readonly string[];
  /** Of configuration, variables files and manifests together. */
  readonly problems: readonly Problem[];
}

/** Files. Of so many the larger part of the memory would be what V8 has not collected yet. */
const LARGE_SET = 12_000;

const VARIABLE_PREFIX = 'PORTOLAN_VAR_';

/**
 * Reads configuration, variables and manifests, and checks them together.
 * @throws PortolanError `invalid` when nothing is named, or a named file cannot be read.
 */
export async function loadInput(options: InputOptions, surroundings: Surroundings): Promise<Input> {
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
    // A configuration that is at fault names nothing, and then everything that refers to it would seem to be at fault.
    ...(isUsable ? { operator: operatorNames(operator.configuration) } : {}),
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

/** Manifests as they stand in their files, for somebody else to understand. */
export interface InputFiles extends Pick<Input, 'paths' | 'misnamed' | 'commit' | 'problems'> {
  readonly files: readonly SourceFile[];
  readonly variables: Variables;
}

/**
 * Reads manifests and variables without a look into them, or into the configuration: that is for the server they are sent to.
 * @throws PortolanError `invalid`, as `loadInput`.
 */
export async function readInputFiles(options: InputOptions, surroundings: Surroundings): Promise<InputFiles> {
  const operator = (): OperatorConfiguration => readConfiguration(options.config, surroundings);
  const paths = namedPaths(options, operator);
  const { variables, problems } = readVariables(options, surroundings);
  // A configuration may lie among the manifests, and is none.
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
 * What `-f` names; without it, `spec.source.paths` of Settings. With a `url` those are paths of another repository.
 * @throws PortolanError `invalid` when neither names anything.
 */
function namedPaths({ filename = [] }: InputOptions, operator: () => OperatorConfiguration): readonly string[] {
  if (filename.length > 0) return filename;
  const { configuration, problems } = operator();
  const { url, paths } = configuration.settings.source;
  if (url === undefined && paths.length > 0) return paths;
  // Faults of the configuration are reported: they may be why it names nothing.
  if (problems.length > 0) return [];
  throw invalidInput(
    'cli/no-manifests',
    'No manifests are named: there is neither -f nor spec.source.paths in the configuration.',
    'Pass -f with a file or folder (-f - for standard input), or set spec.source.paths in portolan.yaml, as portolan init does.',
  );
}

async function readManifests(
  paths: readonly string[],
  exclude: readonly string[],
  revision: string | undefined,
  policy: RevisionPolicy,
  surroundings: Surroundings,
): Promise<{ readonly sources: ReadSources; readonly commit: CommitAtHand | undefined }> {
  if (revision !== undefined) {
    const { readRevision } = await import('./revision.ts');
    return readRevision(revision, paths, exclude, policy, surroundings);
  }
  const fs = nodeFileSystem(() => surroundings.terminal.input(), directCalls());
  return { sources: await readSources(paths, fs, { exclude }), commit: undefined };
}

/** `--var` goes before `PORTOLAN_VAR_…`, and that before files; a later one of a kind before an earlier. */
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
    // The text is not shown: it may hold a value.
    if (name === undefined || value === undefined)
      throw invalidInput(
        'cli/bad-variable-assignment',
        'A --var is not of the form NAME=value. Nothing was read.',
        'Write --var NAME=value: letters, digits and _ before the equals sign.',
      );
    variables.set(name, value);
  }
  return { variables, problems };
}
