import type { SourceLedger } from '../ledger/source-ledger.ts';
import { PortolanError } from '../model/errors.ts';
import type { ScopeKey } from '../model/ids.ts';
import type { SourceStatus, StatusError } from '../model/status.ts';
import type { Refusal } from '../plan/guard.ts';
import type { SourceReading, SourceState } from '../source/feed.ts';
import type { LoadContext, LoadedSource } from '../source/contents.ts';
import { settleLost } from '../source/snapshot.ts';
import { isUnreadable } from '../source/unreadable.ts';
import { type AcceptedSource, accept, type Allowances, nothingAllowed } from './acceptance.ts';
import type { EventLog } from './events.ts';
import { keepSource, restoreSource } from './kept-source.ts';
import type { ControllerConfiguration, ControllerOptions } from './options.ts';

export interface Taken {
  readonly accepted: AcceptedSource;
  readonly reading: Pick<SourceReading, 'observedMs' | 'commit'>;
}

export interface IntakeOptions
  extends Pick<ControllerOptions, 'clock' | 'log' | 'feed' | 'workbench' | 'source' | 'actor' | 'allow'> {
  readonly sourceLedger: SourceLedger;
  readonly events: EventLog;
  configuration(): ControllerConfiguration;
  /** Returns the scopes of the accepted source whose removals no person approved; undefined while not all are known. */
  unapproved(accepted: AcceptedSource): ReadonlySet<ScopeKey> | undefined;
}

/** What is taken in of the source, and what of it is worked towards. */
export class Intake {
  readonly #options: IntakeOptions;
  #allow: Allowances;
  #accepted: AcceptedSource | undefined;
  #acceptedMs: number | null = null;
  #last: SourceReading | undefined;
  #error: StatusError | null = null;
  #standing = false;
  /** Why the source could not be read last, while it cannot. */
  #failure: StatusError | null = null;
  /** The last reading was read and exceeded a limit when it was parsed. */
  #isUnloadable = false;
  /** What an earlier process accepted did not exceed a limit in this one. */
  #isRestorable = true;
  #kept: Promise<void> = Promise.resolve();

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#allow = options.allow;
  }

  get accepted(): AcceptedSource | undefined {
    return this.#accepted;
  }

  /** The accepted snapshot is what the source said last. */
  get isStanding(): boolean {
    return this.#standing;
  }

  status(): SourceStatus {
    return {
      name: this.#options.source,
      location: this.#options.feed.location,
      observedRevision: this.#last?.revision ?? null,
      observedMs: this.#last?.observedMs ?? null,
      acceptedRevision: this.#accepted?.revision ?? null,
      acceptedMs: this.#acceptedMs,
      error: this.#error,
      resources: this.#accepted?.desired.size ?? 0,
    };
  }

  keeps(prunes: number): readonly Refusal[] {
    return this.#accepted?.keeps(prunes) ?? [];
  }

  /** A state of the feed. @returns what is accepted now, when that is news. */
  async take(state: SourceState): Promise<Taken | undefined> {
    if (state.type === 'failed') {
      this.#failed(state.error);
      return undefined;
    }
    const { reading } = state;
    this.#failure = null;
    if (reading.revision !== this.#last?.revision)
      this.#options.events.publish({
        type: 'source.observed',
        severity: 'info',
        revision: reading.revision,
        message: `${this.#options.feed.location} is at ${reading.revision}`,
      });
    this.#last = reading;
    return this.#consider(reading);
  }

  /** The last reading again, because the configuration changed. */
  async again(): Promise<Taken | undefined> {
    return this.#last === undefined ? this.restore() : this.#consider(this.#last);
  }

  /** What failed is tried again, because somebody asks for it; if it fails again, that is told again. */
  async retry(): Promise<Taken | undefined> {
    this.#error = null;
    return this.#isUnloadable ? this.again() : undefined;
  }

  /** Resolves when what was accepted is kept for the next process. */
  settled(): Promise<void> {
    return this.#kept;
  }

  async #consider(reading: SourceReading): Promise<Taken | undefined> {
    const { clock, events, log } = this.#options;
    this.#isUnloadable = false;
    let loaded: LoadedSource;
    try {
      loaded = await reading.contents.load(this.#context());
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#isUnloadable = true;
      this.#failed(error);
      return undefined;
    }
    const acceptance = await this.#accept(reading, loaded, this.#allow).catch((error: unknown) => {
      // The ledger failed: what the source says now is known, and is not what is worked towards.
      this.#standing = false;
      throw error;
    });
    if (acceptance.type === 'refused') {
      this.#standing = false;
      if (this.#error?.message !== acceptance.error.message) {
        const { code, message, remedy } = acceptance.error;
        log.error(message, { code, remedy, revision: reading.revision });
        events.publish({
          type: 'source.refused',
          severity: 'error',
          revision: reading.revision,
          message: `${message} ${remedy}`,
          detail: {
            code,
            problems: acceptance.problems.slice(0, 20).map(({ code: fault, position, message: what }) => ({
              code: fault,
              file: position.file,
              line: position.line,
              column: position.column,
              message: what,
            })),
          },
        });
      }
      this.#error = acceptance.error;
      return undefined;
    }
    const { accepted } = acceptance;
    this.#allow = nothingAllowed;
    // An earlier reading that is taken in again says nothing of what the source is now.
    this.#error = this.#failure;
    this.#standing = this.#failure === null;
    const isNews = accepted.snapshot !== this.#accepted?.snapshot || accepted.revision !== this.#accepted.revision;
    this.#accepted = accepted;
    if (isNews) {
      this.#acceptedMs = clock.now();
      this.#kept = this.#kept
        .then(() => keepSource(this.#options.sourceLedger, accepted.snapshot, accepted.revision, reading.contents))
        .catch((error: unknown) => {
          if (!(error instanceof PortolanError)) throw error;
          log.warn('the accepted source could not be kept for a restart', { why: error.message });
        });
    }
    return { accepted, reading };
  }

  #context(): LoadContext {
    const { variables, operator } = this.#options.configuration();
    return { variables, operator };
  }

  async #accept(reading: SourceReading, loaded: LoadedSource, allow: Allowances) {
    const { sourceLedger, unapproved } = this.#options;
    const scopes = this.#accepted && unapproved(this.#accepted);
    if (this.#accepted !== undefined && scopes !== undefined)
      await settleLost({ ...sourceLedger, desired: this.#accepted.desired, scopes });
    return accept(reading, loaded, sourceLedger, allow);
  }

  #failed({ code, message, remedy }: PortolanError): void {
    const { clock, events, log } = this.#options;
    this.#standing = false;
    if (this.#error?.message !== message) {
      log.error(message, { code, remedy });
      events.publish({ type: 'source.failed', severity: 'error', message: `${message} ${remedy}`, detail: { code } });
    }
    this.#failure = { code, message, remedy, atMs: clock.now() };
    this.#error = this.#failure;
  }

  /** The files are read again as they were; what they mean must be what was accepted, or nothing is done. */
  async restore(): Promise<Taken | undefined> {
    if (this.#accepted !== undefined || !this.#isRestorable) return undefined;
    const { sourceLedger, source, clock, log, events, workbench } = this.#options;
    const kept = await restoreSource(sourceLedger);
    const last = await sourceLedger.ledger.lastSnapshot(source);
    if (kept === undefined || last?.id !== kept.snapshot) {
      log.warn('nothing of an earlier process can be gone on with; waiting for the source', { source });
      return undefined;
    }
    const reading = { revision: kept.revision, commit: null, observedMs: clock.now() };
    let loaded: LoadedSource;
    try {
      loaded = await (await workbench.unpack(kept.parts)).load(this.#context());
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      log.error(error.message, { code: error.code, remedy: error.remedy });
      this.#isRestorable = false;
      return undefined;
    }
    const restored = await restoreAccepted(reading.revision, loaded, this.#options);
    // The source may have answered meanwhile.
    if (restored === undefined || this.#accepted !== undefined) return undefined;
    this.#accepted = restored;
    this.#acceptedMs = last.acceptedMs;
    events.publish({
      type: 'source.accepted',
      severity: 'warning',
      revision: kept.revision,
      message: `the source cannot be read yet; going on with ${kept.revision}, which was accepted before the restart, and removing nothing`,
      detail: { snapshot: kept.snapshot, restored: true },
    });
    return { accepted: restored, reading };
  }
}

async function restoreAccepted(
  revision: string,
  { desired, problems, snapshot }: LoadedSource,
  { sourceLedger, source, log }: IntakeOptions,
): Promise<AcceptedSource | undefined> {
  const last = await sourceLedger.ledger.lastSnapshot(source);
  const [problem] = problems;
  if (problem !== undefined || last === undefined || snapshot !== last.id) {
    log.warn(
      'what was accepted before the restart means something else now (variables, configuration); waiting for the source',
      {
        source,
        why: problem?.message,
      },
    );
    return undefined;
  }
  const owned = await sourceLedger.ledger.objectCount({ source });
  return { desired, revision, snapshot: last.id, owned, keeps: () => [] };
}
