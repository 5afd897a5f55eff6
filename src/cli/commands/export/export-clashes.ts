import { resolve } from 'node:path';
import { loadManifests } from '../../../manifest/load.ts';
import { nodeFileSystem, readSources } from '../../../manifest/read.ts';
import { directCalls } from '../../../manifest/system-calls.ts';
import { PortolanError } from '../../../model/errors.ts';
import type { Surroundings } from '../../session/command.ts';
import type { ManifestFile } from './export-files.ts';

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
  throw new PortolanError({
    code: 'export/already-declared',
    disposition: 'invalid',
    message: `${clash.position.file} would declare what is declared in ${to} already: ${clash.message}. No file was written.`,
    remedy: hasNames
      ? 'Give the other file the name of the one that would be written and add --force, remove it, or export to another folder.'
      : `Add -f ${to} --force, so that the export takes the names from there and replaces the file of that name; or export to another folder.`,
  });
}
