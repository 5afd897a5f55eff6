import type { Declarations, Foresight } from '../kinds/kind.ts';
import { API_VERSION } from '../kinds/schema.ts';
import { resourceId } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import { parseDocuments } from './documents.ts';
import { type FileText, sortProblems } from './fault.ts';
import { FileCache } from './file-cache.ts';
import { fileProblem } from './source-rules.ts';
import { FAULTS_MAX, type FileReading, fileText, moreFaults, readFile } from './file.ts';
import { LIMITS } from './limits.ts';
import { locate, spanInScalar, spanOfPlace } from './locate.ts';
import { parsePath } from './paths.ts';
import { type Declared, type OperatorNames, type RelationFault, relate } from './relations.ts';
import type { Trust } from './secrets.ts';
import type { DeclaredDocuments } from './sound-file.ts';
import type { Variables } from './substitute.ts';
import type { Unread } from './unread.ts';
import type { SourceFile } from './text.ts';
import { compareText } from '../model/text.ts';

export interface ManifestInput {
  readonly kinds: Declarations;
  readonly files: readonly SourceFile[];
  /** Values for `${NAME}`. Absent: none are set, and every use of one is a fault. */
  readonly variables?: Variables;
  /** The names in the operator's configuration. Absent: references to Platform and Store are not checked. */
  readonly operator?: OperatorNames;
  /** The configuration, to report what a plan would refuse for certain. Absent: that is not checked. */
  readonly foresight?: Foresight | undefined;
  /** Earlier faults, such as those of `readSources`. They count like the others. */
  readonly problems?: readonly Problem[];
  /** Caches readings of files with a `contentId` between calls. */
  readonly cache?: FileCache;
}

export interface LoadedManifests {
  /** All declared resources. Empty if there is a problem: no part of a faulty set may be applied. */
  readonly desired: DesiredState;
  /** Faults by file, line and column, at most `LIMITS.problems` and one with the number of the others. */
  readonly problems: readonly Problem[];
}

const NO_VARIABLES: Variables = new Map();

/**
 * Reads all manifests of a source: syntax, schemas, references, rules across documents.
 * Pure, and never throws.
 */
export function loadManifests(input: ManifestInput): LoadedManifests {
  const { kinds, files, operator, problems = [], variables = NO_VARIABLES, cache = new FileCache() } = input;
  const read = (file: SourceFile): FileReading => readFile(file.content, { trust: 'manifest', kinds, variables });
  if (problems.length === 0 && sourceLimits(files) === undefined) {
    const desired = cache.resume(files, variables, operator, read, declaredBy('manifest', kinds));
    if (desired !== undefined) return { desired, problems: [] };
  }
  const loaded = loadAll(input, cache, read);
  if (input.cache !== undefined && loaded.problems.length === 0) cache.stand(kinds, files, operator, loaded.desired);
  return loaded;
}

function loadAll(input: ManifestInput, cache: FileCache, read: (file: SourceFile) => FileReading): LoadedManifests {
  const files = input.files.toSorted((left, right) => compareText(left.path, right.path));
  const excess = sourceLimits(files);
  if (excess !== undefined) return faulty([...(input.problems ?? []), excess]);
  const declare = declaredBy('manifest', input.kinds);
  const readings = cache.readAll(files, input.variables ?? NO_VARIABLES, LIMITS.problems, read, declare);
  const { set, problems } = combine(files, readings, { ...input, trust: 'manifest', cache });
  const all = [...(input.problems ?? []), ...problems];
  if (all.length > 0) return faulty(all, files[readings.length]?.path, files.length - readings.length);
  return { desired: set, problems: [] };
}

/** Returns a load with faults, limited in number, because each takes memory and time. */
function faulty(problems: readonly Problem[], unread?: string, unreadCount = 0): LoadedManifests {
  const sorted = sortProblems(problems);
  const shown = sorted.slice(0, LIMITS.problems);
  const rest = sorted.slice(LIMITS.problems);
  const file = unread ?? rest.at(0)?.position.file;
  if (file === undefined) return { desired: new Map(), problems: sorted };
  const more = `${rest.length} more ${rest.length === 1 ? 'fault of the source is' : 'faults of the source are'} not shown`;
  const others = unreadCount === 1 ? 'this file was not read' : `${unreadCount} files from this one on were not read`;
  const message = [...(rest.length === 0 ? [] : [more]), ...(unreadCount === 0 ? [] : [others])].join(', and ');
  return { desired: new Map(), problems: [...shown, fileProblem(file, 'limit/faults', message)] };
}

function sourceLimits(files: readonly SourceFile[]): Problem | undefined {
  const first = files.at(0)?.path ?? '';
  if (files.length > LIMITS.files) {
    const message = `the source has ${files.length} files; none was read`;
    return fileProblem(first, 'limit/files', message, `at most ${LIMITS.files}`);
  }
  let total = 0;
  // By index, because a daemon visits ten thousand files for each commit, and an iterator creates garbage.
  for (let index = 0; index < files.length; index += 1) total += (files[index] as SourceFile).content.length;
  if (total <= LIMITS.totalBytes) return undefined;
  const message = `the files of the source have ${total} bytes together; none was read`;
  return fileProblem(first, 'limit/total-size', message, `at most ${LIMITS.totalBytes} (256 MiB)`);
}

/** Returns the parts of the files whose documents are not known. */
function unreadOf(files: readonly SourceFile[], readings: readonly FileReading[], texts: Texts): Unread {
  if (readings.length < files.length || readings.some(({ unread }) => unread === 'all')) return 'anything';
  return readings.flatMap(({ unread }, file) =>
    unread === 'all'
      ? []
      : unread.map(({ kind, name, from, to }) => ({ kind, name, text: () => texts.of(file).text.slice(from, to) })),
  );
}

/** Returns the origin of each declared document: the number of its file, and its number in the file. */
function originsOf(documents: readonly DeclaredDocuments[]) {
  return new Map(
    documents.flatMap((ofFile, file) => ofFile.map(({ declared, document }) => [declared, { file, document }])),
  );
}

/** The rules that documents of a set are checked by. */
interface Combining {
  readonly kinds: Declarations;
  readonly trust: Trust;
  readonly operator?: OperatorNames | undefined;
  readonly foresight?: Foresight | undefined;
  readonly cache: FileCache;
}

/**
 * Combines the readings of all files, of manifests or of the configuration.
 * @param readings the readings of the first files, in their order. Files without a reading were not read.
 */
export function combine(
  files: readonly SourceFile[],
  readings: readonly FileReading[],
  { kinds, trust, operator, foresight, cache }: Combining,
): { readonly set: DesiredState; readonly problems: readonly Problem[] } {
  const texts = new Texts(files, readings);
  const problems: Problem[] = [];
  const all: Declared[] = [];
  const documents: DeclaredDocuments[] = [];
  const declare = declaredBy(trust, kinds);
  for (const [file, reading] of readings.entries()) {
    for (const fault of reading.faults) problems.push(texts.of(file).problem(fault));
    const path = (files[file] as SourceFile).path;
    const ofFile = cache.documentsOf(path, reading, declare);
    documents.push(ofFile);
    for (const { declared } of ofFile) all.push(declared);
  }
  const { set, faults } = relate(kinds, all, { operator, unread: unreadOf(files, readings, texts), foresight });
  const origins = originsOf(faults.length === 0 ? [] : documents);
  const shown = new Map<number, number>();
  for (const fault of faults) {
    const origin = origins.get(fault.declared);
    if (origin === undefined) continue;
    const before = shown.get(origin.file) ?? 0;
    shown.set(origin.file, before + 1);
    if (before < FAULTS_MAX) problems.push(texts.problem(fault, origin));
  }
  for (const [file, count] of shown) {
    if (count > FAULTS_MAX)
      problems.push(texts.of(file).problem(moreFaults(count - FAULTS_MAX, texts.of(file).text.length)));
  }
  return { set, problems };
}

/** Returns a function that gives the documents of a file their ids and positions. */
function declaredBy(trust: Trust, kinds: Declarations): (path: string, reading: FileReading) => DeclaredDocuments {
  return (path, { documents, starts }) =>
    documents.flatMap(({ kind, name, content, remains, isWhole, references }, document) => {
      if (kind === undefined || name === undefined || kinds.get(kind)?.trust !== trust) return [];
      const id = resourceId(kind, name);
      const { line, column } = starts[document] as FileReading['starts'][number];
      const position = { file: path, line, column };
      const whole = content ?? remains;
      const resource: Resource | undefined = whole && { id, kind, name, ...whole, position };
      const sound = content !== undefined;
      return [{ declared: { id, position, resource, sound, isWhole: sound || isWhole, references }, document }];
    });
}

/** Parses texts and nodes of files again for the positions of faults: a set without faults does not store nodes. */
class Texts {
  readonly #files: readonly SourceFile[];
  readonly #readings: readonly FileReading[];
  readonly #texts = new Map<number, FileText>();
  /** The nodes of the last file. Faults are in the order of files. */
  #nodes: { readonly file: number; readonly contents: readonly unknown[] } = { file: -1, contents: [] };

  constructor(files: readonly SourceFile[], readings: readonly FileReading[]) {
    this.#files = files;
    this.#readings = readings;
  }

  of(file: number): FileText {
    const known = this.#texts.get(file);
    if (known !== undefined) return known;
    const { path, content } = this.#files[file] as SourceFile;
    const text = fileText(path, content, this.#readings[file] as FileReading);
    this.#texts.set(file, text);
    return text;
  }

  problem(
    { declared, problem }: RelationFault,
    { file, document }: { readonly file: number; readonly document: number },
  ): Problem {
    const text = this.of(file);
    if (this.#nodes.file !== file) {
      this.#nodes = { file, contents: parseDocuments(text.text).documents.map(({ contents }) => contents) };
    }
    const { place } = locate(this.#nodes.contents[document], parsePath(problem.path));
    const { at, ...words } = problem;
    const span = at === undefined ? spanOfPlace(place) : spanInScalar(place.value, at, text.text);
    return text.problem({ ...words, ...span, resource: declared.id });
  }
}

/**
 * Validates resources that were stored outside of manifests, such as in a saved plan, by all rules of manifests, because the
 * file may have been changed. `${NAME}` in values is not replaced.
 * @param file the file that contains them, for the positions of faults.
 * @returns the resources in the given order, with their own positions.
 */
export function recheckResources(
  kinds: Declarations,
  resources: readonly Resource[],
  file: string,
  operator: OperatorNames | undefined,
): LoadedManifests {
  // JSON is YAML.
  const files = resources.map(({ id, kind, name, labels, annotations, spec }) => {
    const document = { apiVersion: API_VERSION, kind, metadata: { name, labels, annotations }, spec: spec as Json };
    return { path: `${file} (${id})`, content: JSON.stringify(document, null, 1) };
  });
  const readings = files.map(({ content }) => readFile(content, { trust: 'manifest', kinds }));
  const { set, problems } = combine(files, readings, { kinds, trust: 'manifest', operator, cache: new FileCache() });
  if (problems.length > 0) return { desired: new Map(), problems: sortProblems(problems) };
  const kept = resources.flatMap(({ id, position }) => {
    const resource = set.get(id);
    return resource === undefined ? [] : [[id, { ...resource, position }] as const];
  });
  return { desired: new Map(kept), problems: [] };
}
