import { PortolanError } from '../model/errors.ts';
import type { LoadedSource } from '../source/contents.ts';
import type { SourceReading } from '../source/feed.ts';
import { isUnreadable } from '../source/unreadable.ts';
import type { CoreBase } from './options.ts';

type Loaded = LoadedSource | PortolanError;

/** Loads readings of the source. One can be loaded before it is considered, because that may take minutes. */
export class LoadedReading {
  readonly #core: CoreBase;
  #prepared:
    | {
        readonly contents: SourceReading['contents'];
        readonly configuration: CoreBase['configuration'];
        readonly loaded: Promise<Loaded>;
      }
    | undefined;

  constructor(core: CoreBase) {
    this.#core = core;
  }

  /** Loads a reading for a later `load`. A failure is left to that. */
  async prepare({ contents }: SourceReading): Promise<void> {
    const { configuration } = this.#core;
    const loaded = contents.load(configuration).catch(unreadable);
    this.#prepared = { contents, configuration, loaded };
    await Promise.allSettled([loaded]);
  }

  /** Loads a reading, unless it was prepared with the present configuration. @returns why it cannot be read, if it cannot. */
  load({ contents }: SourceReading): Promise<Loaded> {
    const { configuration } = this.#core;
    const prepared = this.#prepared;
    this.#prepared = undefined;
    if (prepared?.contents === contents && prepared.configuration === configuration) return prepared.loaded;
    return contents.load(configuration).catch(unreadable);
  }

  /** Drops what was prepared: it holds all resources of a commit. */
  forget(): void {
    this.#prepared = undefined;
  }
}

function unreadable(error: unknown): PortolanError {
  if (!isUnreadable(error)) throw error;
  return error;
}
