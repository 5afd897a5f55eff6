import { isAbsolute, join, relative, resolve } from 'node:path';
import type { ExportedApplication } from '../../../manifest/export.ts';
import { formatFile } from '../../../manifest/format.ts';
import { LIMITS } from '../../../manifest/limits.ts';
import { lossesBetween } from '../../../manifest/losses.ts';
import type { SourceFile } from '../../../manifest/text.ts';
import { writeManifest } from '../../../manifest/write.ts';
import { SCHEMA } from '../init/folder.ts';
import type { Declarations } from '../../../kinds/kind.ts';
import { schemaFileName } from '../../../kinds/schema.ts';
import { scopeKey } from '../../../model/ids.ts';
import { invalidInput } from '../../../model/errors.ts';
import { readFileIfThere, writeWholeFile } from '../../session/files.ts';
import { loadManifests } from '../../../manifest/load.ts';
import { nodeFileSystem, readSources } from '../../../manifest/read.ts';
import { directCalls } from '../../../manifest/system-calls.ts';
import type { Surroundings } from '../../session/command.ts';

/** Holds a file of manifests. On standard output, `path` is the name it would have. */
export interface ManifestFile extends SourceFile {
  readonly content: string;
}

/** Says where files are written, and where their JSON Schemas are. */
export interface Layout {
  readonly kinds: Declarations;
  /** A folder; undefined: standard output. */
  readonly to: string | undefined;
  /** Folder or URL with a schema for each kind; undefined: the schema that `init` wrote, if it exists. */
  readonly schemas: string | undefined;
  /** Masks secrets. */
  readonly redact: (text: string) => string;
}

/**
 * A larger file is split, because the loader would reject it. Its limit of lexemes is reached first: ports have one lexeme
 * for every 1.6 bytes.
 */
export const FILE_BYTES_MAX = LIMITS.lexemes * 1.2;

/** Returns the files of one application: one, unless it is too large. */
export function filesOf(
  application: ExportedApplication,
  { kinds, to, schemas, redact }: Layout,
): readonly ManifestFile[] {
  const schemaOf = schemaPathsFor(schemas, to);
  const texts: string[] = [];
  for (const [index, document] of application.documents.entries()) {
    const text = redact(writeManifest(document, schemaOf(document.kind), index === 0 ? headingOf(application) : []));
    const last = texts.at(-1);
    if (last === undefined || Buffer.byteLength(last) + Buffer.byteLength(text) > FILE_BYTES_MAX) texts.push(text);
    else texts[texts.length - 1] = `${last}---\n${text}`;
  }
  return texts.map((content, index) => {
    const name = `${application.name}${index === 0 ? '' : `.${index + 1}`}.yaml`;
    return formatted(kinds, { path: to === undefined ? name : join(to, name), content });
  });
}

/** Returns the file as `portolan fmt` formats it. */
function formatted(kinds: Declarations, file: ManifestFile): ManifestFile {
  const formatting = formatFile(kinds, file);
  return formatting.type === 'formatted' ? { ...file, content: formatting.text } : file;
}

function headingOf({ live, left, unseen }: ExportedApplication): readonly string[] {
  return [
    `Exported from ${scopeKey(live.scope)}.`,
    ...unseen.map((sentence) => `Not shown: ${sentence}`),
    ...left.map((sentence) => `Not written, and so not managed: ${sentence}`),
  ];
}

/** Returns a function that gives the schema of a kind for editors; undefined where no such file exists. */
function schemaPathsFor(schemas: string | undefined, to: string | undefined): (kind: string) => string | undefined {
  if (schemas !== undefined) {
    const place = schemaPath(schemas, to);
    return (kind) => `${place}/${schemaFileName(kind)}`;
  }
  // A relative path needs a folder, and standard output has none.
  if (to === undefined || readFileIfThere(SCHEMA, 'the JSON Schema for editors') === undefined) return () => undefined;
  const place = schemaPath(SCHEMA, to);
  return () => place;
}

/** Returns the path of the schemas relative to the folder `to`. URLs and absolute paths stay as they are. */
function schemaPath(schemas: string, to: string | undefined): string {
  const place = schemas.replace(/\/+$/, '');
  if (to === undefined || /^[a-z]+:\/\//i.test(place) || isAbsolute(place)) return place;
  const path = relative(resolve(to), resolve(place)).replaceAll('\\', '/');
  return path.startsWith('.') ? path : `./${path}`;
}

/** Holds a written file, and what only its former content had. */
export interface WrittenFile {
  readonly path: string;
  readonly losses: readonly string[];
}

/**
 * Writes all files or none.
 * @param replaces whether existing files that differ may be replaced.
 * @returns the written files, without those that existed with the same content.
 * @throws PortolanError `invalid` when an existing file differs and must not be replaced.
 */
export function writeFiles(files: readonly ManifestFile[], replaces: boolean): readonly WrittenFile[] {
  const news = files
    .map(({ path, content }) => ({ path, content, former: readFileIfThere(path, 'the existing manifest') }))
    .filter(({ content, former }) => former === undefined || new TextDecoder().decode(former) !== content);
  const present = news.filter(({ former }) => former !== undefined);
  const [first] = present;
  if (first !== undefined && !replaces) {
    const others = present.length === 1 ? '' : ` (and ${present.length - 1} more)`;
    throw invalidInput(
      'export/file-exists',
      `${first.path} exists and differs from the export${others}. No file was written.`,
      'Export to another folder and compare, or add --force to replace existing files.',
    );
  }
  for (const { path, content } of news) writeWholeFile(path, content, 'make');
  return news.map(({ path, content, former }) => ({
    path,
    losses: former === undefined ? [] : lossesBetween(former, content),
  }));
}

const CLASHES: readonly string[] = ['identity/claimed-twice', 'document/duplicate'];

/**
 * Refuses files that declare the same resources as other files in the folder: every later command would reject both.
 * @param hasNames whether the export took its names from the manifests of the folder.
 * @throws PortolanError `invalid`, before anything is written.
 */
export async function refuseClashes(
  files: readonly ManifestFile[],
  to: string,
  hasNames: boolean,
  { terminal, declarations }: Surroundings,
): Promise<void> {
  const written = new Set(files.map(({ path }) => resolve(path)));
  const fs = nodeFileSystem(() => terminal.input(), directCalls());
  const there = await readSources([to], fs);
  const staying = there.files.filter(({ path }) => !written.has(resolve(path)));
  if (staying.length === 0) return;
  // The loader reports a clash at the later file.
  const { problems } = loadManifests({ kinds: declarations, files: [...staying, ...files] });
  const clash = problems.find(({ code, position }) => CLASHES.includes(code) && written.has(resolve(position.file)));
  if (clash === undefined) return;
  throw invalidInput(
    'export/already-declared',
    `${clash.position.file} would declare a resource that ${to} already declares: ${clash.message}. No file was written.`,
    hasNames
      ? 'Give the other file the name of the exported one and add --force, remove the other file, or export to another folder.'
      : `Add -f ${to} --force, so that the export takes its names from there and replaces that file; or export to another folder.`,
  );
}
