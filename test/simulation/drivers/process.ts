import type { Ledger, LedgerTransaction } from '../../../src/ledger/ledger.ts';
import type { Intent } from '../../../src/model/owned.ts';
import { full } from '../../../src/ledger/errors.ts';
import { createRequestBudget } from '../../../src/platform/budget.ts';
import type { PlatformClient } from '../../../src/platform/client.ts';
import { createPlatformClient } from '../../../src/platform/platform-client.ts';
import type { PlatformRequest, Transport } from '../../../src/platform/transport.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import type { Chance } from '../chance.ts';
import { Sleeps } from '../sleep.ts';
import type { Span } from '../spans.ts';
import { ledThrough } from '../ledgers.ts';
import { EPOCH_MS } from '../server.ts';
import { never } from '../wire.ts';
import { nameOfPath } from './estate.ts';
import type { Write } from './permissions.ts';
import type { Sender, Surroundings } from './surroundings.ts';

/** Listings that answer for many applications. */
const SHARED = new Set(['listApplications', 'listAllRules']);

/** One process with the ledger open, whatever it runs. Killed, it never hears of anything again. */
export abstract class DriverProcess implements Sender {
  readonly number: number;
  readonly world: Surroundings;
  readonly chance: Chance;
  readonly #bornMs: number;
  #diedMs: number | undefined;
  protected readonly sleeps = new Sleeps();
  alive = true;
  epoch = 0;
  /** Virtual time at which it was asked to end. */
  drainMs: number | undefined;

  constructor(world: Surroundings, number: number) {
    this.world = world;
    this.number = number;
    this.chance = world.chanceOf(number);
    this.#bornMs = world.timeline.nowMs;
  }

  abstract readonly kind: 'daemon' | 'command' | 'person';
  /** A person, or a job in the name of one, has seen what it removes. */
  abstract readonly isAgreed: boolean;
  /** `--allow-rewind`: a person confirms the rewind, for this run and for those after it. */
  abstract readonly allowsRewind: boolean;
  /** From its beginning to its end. */
  abstract live(): Promise<void>;
  /** SIGTERM. */
  abstract stop(): void;
  /**
   * A write leaves: what must be allowed then.
   * @param atMs when its intent was opened.
   * @returns whether it is done in the name of a person, and so counts for no allowance.
   */
  abstract check(write: Write, atMs: number): boolean;
  /** It has told the ledger something. */
  hasCommitted(_transaction: LedgerTransaction): void {}
  /** A reading of one application left, or was answered. */
  abstract hasRead(request: PlatformRequest): void;

  /** Whether an intent is one of its own. */
  owns({ epoch }: Intent): boolean {
    return epoch === this.epoch;
  }

  /** When it lived. */
  get life(): Span {
    return { fromMs: this.#bornMs, untilMs: this.#diedMs };
  }

  kill(): void {
    this.#diedMs ??= this.world.timeline.nowMs;
    this.alive = false;
    this.sleeps.end();
  }

  /** Something that it waited for has come. */
  protected deliver(run: () => void): void {
    if (this.alive) run();
  }

  wallMs(): number {
    return EPOCH_MS + this.world.timeline.nowMs + this.world.wallOffsetMs;
  }

  readonly clock: Clock = {
    now: () => this.wallMs(),
    monotonic: () => this.world.timeline.nowMs - this.#bornMs,
    sinceBoot: () => ({ boot: this.world.boot, uptimeMs: this.world.timeline.nowMs }),
    sleep: (ms, signal) => this.#sleep(ms, signal),
  };

  #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return this.sleeps.begin(signal, (wake) => this.world.timeline.after(ms, () => this.deliver(wake)));
  }

  protected async openLedger(readOnly = false): Promise<Ledger> {
    const { world } = this;
    const ledger = await world.ledgers.open();
    this.epoch = ledger.epoch;
    world.books.opened(ledger.epoch);
    return ledThrough(
      ledger,
      (answer) => (this.alive ? answer : never()),
      async (transaction) => {
        if (readOnly) world.violate('I-READONLY', 'a command that only looks told the ledger something');
        await this.#commit(ledger, transaction);
      },
    );
  }

  async #commit(ledger: Ledger, transaction: LedgerTransaction): Promise<void> {
    const { world } = this;
    const step = world.begin(this, { kind: 'commit', operation: 'commit' });
    if (step === 'dead') return never();
    if (world.takeFullDisk()) {
      world.note(`p${this.number} commit full`);
      throw full(ledger.location, undefined);
    }
    await ledger.commit(transaction);
    world.committed(transaction, this);
    if (world.diesAfter(this, step)) return never();
    return this.alive ? undefined : never();
  }

  /** What lies between it and the platform. */
  protected transport(send: Transport): Transport {
    return send;
  }

  protected openClient(name = 'default'): PlatformClient {
    const { world, clock } = this;
    const send = this.transport(world.transportOf(this));
    const transport: Transport = (request) => {
      if (SHARED.has(request.operation)) world.sharedReadings += 1;
      if (!request.isRead || nameOfPath(request.path) === undefined) return send(request);
      this.hasRead(request);
      // Equal readings under way are one request: a pass may have joined one that left before it began.
      return send(request).finally(() => this.hasRead(request));
    };
    return createPlatformClient({
      name,
      url: 'http://platform',
      transport,
      clock,
      random: this.chance,
      log: silentLog,
      dialect: world.server.dialect,
      budget: createRequestBudget({ concurrency: 16, requestsPerSecond: 1_000_000 }, clock),
      limits: { timeoutMs: 30_000 },
    });
  }
}
