import { PortolanError } from '../model/errors.ts';
import { CheckoutReader, type CheckoutOptions } from './checkout-reader.ts';
import { locatePaths } from './checkout.ts';
import type { SourceReading } from './feed.ts';
import { FolderReader } from './folder-reader.ts';
import type { SourceReader } from './level-feed.ts';
import type { WatchPlan } from './watch-plan.ts';

export interface LocalOptions extends Omit<CheckoutOptions, 'ref'> {
  /** Absent: `HEAD` where the paths are in a repository, else the files as they are. */
  readonly ref: string | undefined;
  /** Plain files are refused: the source was a repository before, or must bear signatures. */
  readonly isRepository: boolean;
  /** How long plain files must have held still. */
  readonly settleMs: number;
}

/**
 * What `-f` names: a repository, else plain files. Which of the two is found out once and kept: a checkout that has
 * lost its `.git` is broken, and not a folder of files.
 */
export class LocalReader implements SourceReader {
  readonly #options: LocalOptions;
  readonly #asRepository: CheckoutReader;
  #chosen: SourceReader | undefined;

  constructor(options: LocalOptions) {
    this.#options = options;
    this.#asRepository = new CheckoutReader({ ...options, ref: options.ref ?? 'HEAD' });
    if (options.isRepository || options.ref !== undefined) this.#chosen = this.#asRepository;
  }

  get location(): string {
    return this.#chosen?.location ?? this.#options.paths.join(', ');
  }

  get filesRead(): number {
    return this.#chosen?.filesRead ?? 0;
  }

  async look(): Promise<SourceReading> {
    try {
      const reader = this.#chosen ?? (await this.#choose());
      const reading = await reader.look();
      this.#chosen = reader;
      return reading;
    } catch (error) {
      if (isNoRepository(error)) throw notRepository(this.#options);
      throw error;
    }
  }

  async watchPlan(): Promise<WatchPlan | undefined> {
    return this.#chosen?.watchPlan();
  }

  async close(): Promise<void> {
    await this.#asRepository.close();
    if (this.#chosen !== this.#asRepository) await this.#chosen?.close();
  }

  async #choose(): Promise<SourceReader> {
    try {
      await locatePaths(this.#options.paths);
      return this.#asRepository;
    } catch (error) {
      if (!isNoRepository(error)) throw error;
    }
    return new FolderReader(this.#options);
  }
}

function isNoRepository(error: unknown): boolean {
  return error instanceof PortolanError && error.code === 'source/no-repository';
}

function notRepository({ paths, ref, signatures }: LocalOptions): PortolanError {
  const asked =
    ref !== undefined
      ? `a ref (${ref}) is asked for`
      : signatures.by !== 'nobody'
        ? 'spec.source.signatures asks for signed commits'
        : 'what was read before was a commit';
  return new PortolanError({
    code: 'source/no-repository',
    disposition: 'give-up',
    message: `${paths.join(', ')} is not in a git repository that can be read now, and ${asked}, so the files were not read. What was read before stands.`,
    remedy:
      'Bring the checkout back, or correct -f; it is looked for by itself. To go over to plain files, ask for no ref and start with --allow-rewind.',
  });
}
