import type { Ledger, LedgerTransaction } from '../../../src/ledger/ledger.ts';
import { MemoryDatabase } from '../../support/memory-database.ts';
import { MemoryStore, openMemoryLedger } from '../../support/memory-ledger.ts';
import { Chance } from '../chance.ts';
import { type AppName, namedBy, namedIn, nameOfScope } from '../drivers/estate.ts';
import type { Commit } from '../drivers/git.ts';
import type { ReplicaPerturbation } from '../drivers/perturbations.ts';
import type { Sender } from '../drivers/surroundings.ts';
import { DriversWorld } from '../drivers/world.ts';
import { memoryHost } from '../ledgers.ts';
import { EPOCH_MS } from '../server.ts';
import { Leaders } from './leaders.ts';
import { Replica } from './replica.ts';
import {
  CLOCK_ERROR,
  LAG_MS,
  platforms,
  platformTiming,
  type ReplicaSurroundings,
  settingTimes,
} from './surroundings.ts';

const REPLICAS_MAX = 4;

interface ReplicasSettings {
  readonly seed: number;
  readonly tracing: boolean;
}

/** Several controllers, a database that they share, and everything that can happen between them. */
export class ReplicasWorld extends DriversWorld implements ReplicaSurroundings {
  readonly database: MemoryDatabase;
  readonly leaders: Leaders;
  readonly lostSignals: number;
  readonly #draw: Chance;
  #outUntilMs = 0;
  #accepted: { readonly commit: Commit; readonly atMs: number } | undefined;
  /** What was accepted before, and until when. */
  readonly #former: { readonly commit: Commit; readonly untilMs: number }[] = [];
  /** How many processes there are when all is well. */
  readonly wanted: number;
  replicas = 0;

  constructor({ seed, tracing }: ReplicasSettings) {
    super({
      seed,
      driving: 'daemon',
      ledgers: memoryHost(),
      tracing,
      platforms,
      timing: platformTiming,
      lagMs: LAG_MS,
      settingTimes,
      clockError: CLOCK_ERROR,
    });
    this.#draw = new Chance(seed, 30);
    this.lostSignals = this.#draw.pick([0, 0.3, 1]);
    this.wanted = this.#draw.between(2, 3);
    this.leaders = new Leaders(this);
    // A leader may have heard of it, whatever is accepted first.
    this.permissions.told(this.git.head, 0);
    const offsetMs = this.#draw.pick([0, 2_200_000, -90_000]);
    this.database = new MemoryDatabase(new MemoryStore('lineage'), () => EPOCH_MS + this.timeline.nowMs + offsetMs, {
      took: (unit, epoch, replica, expiresMs) => this.leaders.took(unit, epoch, replica, expiresMs),
      released: (unit, epoch) => this.leaders.released(unit, epoch),
      committed: (transaction, lead, replica) => this.#committed(transaction, lead, replica),
    });
  }

  override start(): Sender {
    const number = this.processes.length + 1;
    this.daemons += 1;
    return this.launch(new Replica(this, number));
  }

  /** Those that were not asked to end. */
  get working(): readonly Replica[] {
    return this.alive.filter(({ drainMs }) => drainMs === undefined);
  }

  get alive(): readonly Replica[] {
    return this.processes.filter((process): process is Replica => process instanceof Replica && process.alive);
  }

  named(name: string): Replica | undefined {
    return this.processes.find((process): process is Replica => process instanceof Replica && process.name === name);
  }

  /** A person reaches any of them. */
  override get daemon(): Replica | undefined {
    const awake = this.working.filter(({ isFrozen }) => !isFrozen);
    return awake.length === 0 ? undefined : this.#draw.pick(awake);
  }

  /** One that ended is started again, unless there are enough; now and then one more joins. */
  protected override startAfter(ms: number): void {
    this.timeline.after(ms, () => {
      if (this.working.length < this.wanted) this.start();
    });
  }

  protected override joins(): void {
    if (this.alive.length < REPLICAS_MAX) this.start();
  }

  protected override befallReplica(process: Sender, perturbation: ReplicaPerturbation): void {
    const { type, ms } = perturbation;
    if (type === 'outage') this.#outUntilMs = Math.max(this.#outUntilMs, this.timeline.nowMs + ms);
    else if (!(process instanceof Replica)) return;
    else if (type === 'freeze') process.freeze(ms);
    else process.cut(perturbation.link, ms);
  }

  /** An application that has moved is watched by those who led either platform. */
  override watchedMs(scope: string, fromMs: number, toMs: number): number {
    const name = nameOfScope(scope);
    if (name === undefined || this.git.hasMoved(name)) return toMs - fromMs;
    return this.leaders.ledMs(`platform:${scope.slice(0, scope.indexOf('/'))}`, fromMs, toMs);
  }

  /** The ledger, as it is. */
  async reader(): Promise<Ledger> {
    return openMemoryLedger(this.database.store, { readOnly: true });
  }

  isOut(): boolean {
    return this.timeline.nowMs < this.#outUntilMs;
  }

  #committed(
    transaction: LedgerTransaction,
    lead: { readonly unit: string; readonly epoch: number },
    name: string,
  ): void {
    // It may have died since it sent the transaction.
    const replica = this.named(name);
    if (replica === undefined) throw new Error(`there is no ${name}`);
    this.leaders.committed(transaction, lead, name);
    this.books.epoch = lead.epoch;
    replica.epoch = lead.epoch;
    for (const operation of transaction.operations) {
      if (operation.op !== 'accept-snapshot') continue;
      const commit = this.git.commitOf(operation.snapshot.commit);
      if (commit === undefined) continue;
      if (this.#accepted?.commit !== commit) {
        if (this.#accepted !== undefined) {
          this.sourceChanges += 1;
          this.#former.push({ commit: this.#accepted.commit, untilMs: this.timeline.nowMs });
        }
        this.#accepted = { commit, atMs: this.timeline.nowMs };
      }
      this.permissions.told(commit, this.timeline.nowMs);
    }
    this.committed(transaction, replica);
  }

  /** What was accepted so long ago that every process that can write knows it; undefined: not so long ago. */
  settledCommit(): Commit | undefined {
    const accepted = this.#accepted;
    return accepted !== undefined && this.timeline.nowMs - accepted.atMs > LAG_MS ? accepted.commit : undefined;
  }

  /** Whether the accepted revision names a rule, or one did that some process may still follow. */
  isNamed(name: AppName, key: string): boolean {
    return this.#followed().some(({ content }) => namedBy(content, name).has(key));
  }

  isPlaced(scope: string): boolean {
    return this.#followed().some(({ content }) => namedIn(content, scope) !== undefined);
  }

  movedMs(scope: string): number | undefined {
    const content = this.#accepted?.commit.content;
    const name = nameOfScope(scope);
    if (content === undefined || name === undefined || !content.apps.has(name)) return undefined;
    if (namedIn(content, scope) !== undefined) return undefined;
    return this.#former.findLast(({ commit }) => namedIn(commit.content, scope) !== undefined)?.untilMs;
  }

  /** Commits that some process may work towards. */
  #followed(): readonly Commit[] {
    const { nowMs } = this.timeline;
    const followed = this.#former.filter(({ untilMs }) => nowMs - untilMs <= LAG_MS).map(({ commit }) => commit);
    return this.#accepted === undefined ? followed : [...followed, this.#accepted.commit];
  }

  protected override survivors(): readonly Sender[] {
    this.#outUntilMs = 0;
    for (const replica of this.alive) replica.heal();
    return this.alive;
  }
}
