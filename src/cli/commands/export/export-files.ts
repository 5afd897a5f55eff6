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

/** A file of manifests: `path` is where it goes, or what it would be called. */
export interface ManifestFile extends SourceFile {
  readonly content: string;
}

/** Where files go, and where they find the JSON Schemas. */
export interface Layout {
  readonly kinds: Declarations;
  /** undefined: to standard output. */
  readonly to: string | undefined;
  /** Folder or address of the schemas of each kind; undefined: the schema of all kinds that `init` wrote, if it is there. */
  readonly schemas: string | undefined;
  /** Masks secrets. */
  readonly redact: (text: string) => string;
}

/**
 * A file is begun anew before it is more than the loader takes: ports have a word or sign to every 1.6 bytes, and the limit
 * on those is reached first.
 */
export const FILE_BYTES_MAX = LIMITS.lexemes * 1.2;

/** The files of one application: one, unless it is too large. */
export function filesOf(
  application: ExportedApplication,
  { kinds, to, schemas, redact }: Layout,
): readonly ManifestFile[] {
  const schemaOf = schemaPlaces(schemas, to);
  const texts: string[] = [];
  for (const [index, document] of application.documents.entries()) {
    const text = redact(writeManifest(document, schemaOf(document.kind), index === 0 ? headOf(application) : []));
    const last = texts.at(-1);
    if (last === undefined || Buffer.byteLength(last) + Buffer.byteLength(text) > FILE_BYTES_MAX) texts.push(text);
    else texts[texts.length - 1] = `${last}---\n${text}`;
  }
  return texts.map((content, index) => {
    const name = `${application.name}${index === 0 ? '' : `.${index + 1}`}.yaml`;
    return laidOut(kinds, { path: to === undefined ? name : join(to, name), content });
  });
}

/** As `portolan fmt` leaves it. */
function laidOut(kinds: Declarations, file: ManifestFile): ManifestFile {
  const formatting = formatFile(kinds, file);
  return formatting.type === 'formatted' ? { ...file, content: formatting.text } : file;
}

function headOf({ live, left, unseen }: ExportedApplication): readonly string[] {
  return [
    `Exported from ${scopeKey(live.scope)}.`,
    ...unseen.map((sentence) => `Not shown: ${sentence}`),
    ...left.map((sentence) => `Not written, and so not managed: ${sentence}`),
  ];
}

/** Returns where an editor finds the schema of a kind. No line names a file that is not there: undefined then. */
function schemaPlaces(schemas: string | undefined, to: string | undefined): (kind: string) => string | undefined {
  if (schemas !== undefined) {
    const place = schemaPlace(schemas, to);
    return (kind) => `${place}/${schemaFileName(kind)}`;
  }
  // Nobody knows where standard output will be kept.
  if (to === undefined || readFileIfThere(SCHEMA, 'the JSON Schema for editors') === undefined) return () => undefined;
  const place = schemaPlace(SCHEMA, to);
  return () => place;
}

/** As a file in `to` names it: relative to itself, unless it is an address or absolute. */
function schemaPlace(schemas: string, to: string | undefined): string {
  const place = schemas.replace(/\/+$/, '');
  if (to === undefined || /^[a-z]+:\/\//i.test(place) || isAbsolute(place)) return place;
  const path = relative(resolve(to), resolve(place)).replaceAll('\\', '/');
  return path.startsWith('.') ? path : `./${path}`;
}

/** A file that was written, and what only the one before it had. */
export interface WrittenFile {
  readonly path: string;
  readonly losses: readonly string[];
}

/**
 * Writes every file, or none of them.
 * @param replaces whether files that are there and differ may be replaced.
 * @returns those that were written; what is there already as it should be is not touched.
 * @throws PortolanError `invalid` when one is there and differs, and may not be replaced.
 */
export function writeFiles(files: readonly ManifestFile[], replaces: boolean): readonly WrittenFile[] {
  const news = files
    .map(({ path, content }) => ({ path, content, former: readFileIfThere(path, 'a manifest that is there') }))
    .filter(({ content, former }) => former === undefined || new TextDecoder().decode(former) !== content);
  const present = news.filter(({ former }) => former !== undefined);
  const [first] = present;
  if (first !== undefined && !replaces) {
    const others = present.length === 1 ? '' : ` (and ${present.length - 1} more)`;
    throw invalidInput(
      'export/file-exists',
      `${first.path} exists and differs from what is there now${others}. No file was written.`,
      'Export to another folder and compare, or add --force to replace what is there.',
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
 * Refuses to write files beside others of the folder that declare the same: every later command would reject both.
 * @param hasNames whether the manifests of the folder gave the export their names.
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
  // A clash is reported at the later file.
  const { problems } = loadManifests({ kinds: declarations, files: [...staying, ...files] });
  const clash = problems.find(({ code, position }) => CLASHES.includes(code) && written.has(resolve(position.file)));
  if (clash === undefined) return;
  throw invalidInput(
    'export/already-declared',
    `${clash.position.file} would declare what is declared in ${to} already: ${clash.message}. No file was written.`,
    hasNames
      ? 'Give the other file the name of the one that would be written and add --force, remove it, or export to another folder.'
      : `Add -f ${to} --force, so that the export takes the names from there and replaces the file of that name; or export to another folder.`,
  );
}
