import { kindDeclarations } from '../../../src/configuration/declarations.ts';
import type { Contents, LoadContext, LoadedSource, Workbench } from '../../../src/source/contents.ts';
import type { Packed } from '../../../src/source/packing.ts';
import { heldContents } from '../../../src/source/workbench.ts';
import { FileCache } from '../../../src/manifest/file-cache.ts';
import type { SourceFile } from '../../../src/manifest/text.ts';

/** Files in memory. They are kept for a restart as they are: what is compressed in another thread comes in any order. */
class PlainContents implements Contents {
  readonly #held: ReturnType<typeof heldContents>;
  #loaded: Promise<LoadedSource> | undefined;

  constructor(files: readonly SourceFile[], cache = new FileCache()) {
    this.#held = heldContents({ kinds: kindDeclarations, files, cache });
  }

  /** All drivers load it in one context: loaded once, it says the same to each. */
  load(context: LoadContext): Promise<LoadedSource> {
    this.#loaded ??= this.#held.load(context);
    return this.#loaded;
  }

  async pack(): Promise<Packed> {
    const { files } = this.#held;
    const text = JSON.stringify(files.map(({ path, content }) => [path, Buffer.from(content).toString('utf8')]));
    return {
      digests: [String(text.length)],
      parts: (async function* () {
        yield { place: 0, text };
      })(),
    };
  }
}

export function contentsOf(
  files: readonly { readonly path: string; readonly text: string }[],
  cache?: FileCache,
): Contents {
  return new PlainContents(
    files.map(({ path, text }) => ({ path, content: Buffer.from(text), contentId: text })),
    cache,
  );
}

/** Reads nothing from anywhere: the feed hands over what was committed. */
export const workbench: Workbench = workbenchThat((files) => contentsOf(files));

/** As `workbench`, for processes that load the same files in one context: they are parsed once. */
export function sharedWorkbench(): Workbench {
  const cache = new FileCache();
  const known = new Map<string, Contents>();
  return workbenchThat((files) => {
    const key = JSON.stringify(files);
    let contents = known.get(key);
    if (contents === undefined) known.set(key, (contents = contentsOf(files, cache)));
    return contents;
  });
}

type Files = readonly { readonly path: string; readonly text: string }[];

function workbenchThat(unpacks: (files: Files) => Contents): Workbench {
  return {
    commit: () => Promise.reject(new Error('no commit is read by its place')),
    folder: () => Promise.reject(new Error('no folder is read')),
    files: async (files) => new PlainContents(files),
    async unpack(parts) {
      const files: { readonly path: string; readonly text: string }[] = [];
      for await (const part of parts())
        for (const [path, text] of JSON.parse(part) as [string, string][]) files.push({ path, text });
      return unpacks(files);
    },
    judge: () => Promise.reject(new Error('the simulator has no policies')),
    forgetFailures: async () => false,
    close: async () => {},
  };
}
