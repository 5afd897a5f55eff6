import { compareText } from './fault.ts';
import type { FileReading } from './file.ts';
import type { Declared } from './relations.ts';
import type { Variables } from './substitute.ts';
import type { SourceFile } from './text.ts';

/** What one file declares; the numbers of the documents in it are those of the reading. */
export type DeclaredDocuments = readonly { readonly declared: Declared; readonly document: number }[];

/**
 * What files said, by content and variables. Holds only what the last call needed. A file of which neither content nor
 * name changed gives the very same documents again, and with them the very same resources.
 */
export class FileCache {
  #parsed = 0;
  #variables = '';
  /** By content id. */
  #readings: ReadonlyMap<string, FileReading> = new Map();
  /** By path. */
  #declared = new Map<string, { readonly reading: FileReading; readonly documents: DeclaredDocuments }>();

  /** How many files were read so far, each content once. */
  get parsed(): number {
    return this.#parsed;
  }

  /** `read` for what is new; the rest is kept, and what no file asks for any more is forgotten. */
  readAll(files: readonly SourceFile[], variables: Variables, read: (file: SourceFile) => FileReading): FileReading[] {
    const said = JSON.stringify([...variables].toSorted(([left], [right]) => compareText(left, right)));
    if (said !== this.#variables) this.#readings = new Map();
    this.#variables = said;
    const kept = new Map<string, FileReading>();
    const readings = files.map((file) => {
      const known =
        file.contentId === undefined ? undefined : (kept.get(file.contentId) ?? this.#readings.get(file.contentId));
      if (known === undefined) this.#parsed += 1;
      const reading = known ?? read(file);
      if (file.contentId !== undefined) kept.set(file.contentId, reading);
      return reading;
    });
    this.#readings = kept;
    const paths = new Set(files.map(({ path }) => path));
    for (const path of this.#declared.keys()) if (!paths.has(path)) this.#declared.delete(path);
    return readings;
  }

  /** The documents of a file with their places; `declare` where they are not known. */
  documentsOf(path: string, reading: FileReading, declare: () => DeclaredDocuments): DeclaredDocuments {
    const known = this.#declared.get(path);
    if (known?.reading === reading) return known.documents;
    const documents = declare();
    this.#declared.set(path, { reading, documents });
    return documents;
  }
}
