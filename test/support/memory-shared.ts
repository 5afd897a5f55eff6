import { closed, fenced, inputOutput } from '../../src/ledger/errors.ts';
import type { Ledger, LedgerTransaction } from '../../src/ledger/ledger.ts';
import type {
  ChangedFacts,
  Command,
  Lead,
  LeaseUnit,
  LiveReplica,
  ReplicaReport,
  SharedLedger,
  SignalTopic,
  UnitLeader,
} from '../../src/ledger/shared.ts';
import { momentOf, TimeLimit } from '../../src/runtime/time-limit.ts';
import { whileBusy } from '../../src/ledger/patience.ts';
import { retryWithin } from '../../src/ledger/retry-within.ts';
import { holderText, readHolder } from '../../src/ledger/lease-holder.ts';
import { ofUnit } from '../../src/ledger/unit-ledger.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { compareText } from '../../src/model/text.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import { WHOLE } from './lease-rows.ts';
import { type DatabaseLink, directLink, LinkLost, type MemoryDatabase } from './memory-database.ts';
import { memoryEvents, memorySessions } from './memory-shared-data.ts';
import { MemoryLead } from './memory-lead.ts';
import { type MemoryLedger, openFencedLedger, openMemoryLedger } from './memory-ledger.ts';

/** Time after its last sign at which another process may take a lease over, and after which a replica is not live. */
const LEASE_MS = 15_000;
/** A lease is renewed this often within its length, and more often after a renewal that failed; as in `postgres/renewals.ts`. */
const RENEWALS = 3;
const RESULT_KEPT_MS = 3_600_000;
/** A heartbeat that is later than now by more counts as none, as in `postgres/tables.ts`. */
const AHEAD_MS_MAX = 1_000;
/** Waits between attempts of a transaction, as `patience.ts` has them. */
const WAITS_MS = [50, 150, 300, 500, 1_000, 1_500, 1_500] as const;
/** Waits between attempts to find out whether a commit took place, as `postgres/lease.ts` has them. */
const ASKING_MS = [50, 150, 300, 500, 1_000, 2_000, 3_000, 3_000] as const;

export interface MemorySharedOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly actor: string;
  /** Name of this replica. */
  readonly replica?: string;
  /** The source that it works on; default: it works beside any other. */
  readonly source?: string | undefined;
  readonly leaseMs?: number;
  readonly link?: DatabaseLink;
}

/** Opens a database as one more process. A crash is: drop this. */
export function openMemoryShared(database: MemoryDatabase, options: MemorySharedOptions): MemoryShared {
  return new MemoryShared(database, options);
}

export class MemoryShared implements SharedLedger {
  readonly reader: Ledger;
  readonly events: SharedLedger['events'];
  readonly sessions: SharedLedger['sessions'];
  readonly #database: MemoryDatabase;
  readonly #options: MemorySharedOptions;
  readonly #link: DatabaseLink;
  readonly #leaseMs: number;
  /** Text of `lease-holder.ts`. */
  readonly #holder: string;
  readonly #leads = new Set<MemoryLead>();
  readonly #over = new AbortController();
  readonly #unlisten: (() => void)[] = [];
  #name: string;
  /** The server from which facts were last read. */
  #factsServer: string | undefined;
  #isRenewing = false;

  constructor(database: MemoryDatabase, options: MemorySharedOptions) {
    const { link = directLink, leaseMs = LEASE_MS, replica = options.actor } = options;
    this.#database = database;
    this.#options = options;
    this.#link = link;
    this.#leaseMs = leaseMs;
    this.#name = replica;
    this.#holder = holderText({ id: options.random.hex(16), replica, source: options.source });
    const access = {
      database,
      once: <Answer>(operation: string, statement: () => Answer) => this.#once(operation, statement),
      patiently: <Answer>(operation: string, statement: () => Answer) => this.#patiently(operation, statement),
    };
    this.events = memoryEvents(access);
    this.sessions = memorySessions(access);
    this.reader = this.#through(openMemoryLedger(database.store, { readOnly: true }), (reader, transaction) =>
      reader.commit(transaction),
    );
  }

  async lead(unit: LeaseUnit): Promise<Lead | undefined> {
    const holder = this.#holder;
    const { actor, clock } = this.#options;
    const from = momentOf(clock);
    const names = { actor, replica: this.#name };
    const epoch = await this.#once('take', () => this.#database.take(unit, holder, names, this.#leaseMs));
    if (epoch === undefined) return undefined;
    const lead = new MemoryLead(unit, { scope: unit, holder, epoch }, new TimeLimit(clock, this.#leaseMs, from));
    const { store } = this.#database;
    const ledger = openFencedLedger(store, { epoch, check: () => this.#fence(lead) });
    const through = this.#through(ledger, (_, transaction) => this.#inTurn(lead, ledger, transaction));
    lead.ledger = ofUnit({ ...through, close: () => this.#release(lead, ledger) }, unit);
    this.#leads.add(lead);
    void this.#keepRenewed();
    return lead;
  }

  leaders(): Promise<readonly UnitLeader[]> {
    return this.#patiently('leaders', () => {
      const { leases, holders, nowMs } = this.#database;
      const now = nowMs();
      return [...leases.rows]
        .filter(([scope]) => scope !== WHOLE)
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([scope, { holder, epoch, sinceMs, expiresMs }]) => {
          const { actor = '' } = holders.get(scope) ?? {};
          const { replica = '', source } = readHolder(holder);
          const leftMs = expiresMs - now;
          return {
            unit: scope as LeaseUnit,
            holder,
            replica,
            source,
            actor,
            epoch,
            sinceMs,
            leftMs,
            isReleased: expiresMs === 0,
          };
        });
    });
  }

  beat(report: ReplicaReport, isDraining: boolean): Promise<readonly LiveReplica[]> {
    this.#name = report.name;
    return this.#once('beat', () => {
      const { replicas, nowMs } = this.#database;
      const former = replicas.get(this.#holder);
      for (const [holder, { seenMs }] of replicas) if (seenMs > nowMs() + AHEAD_MS_MAX) replicas.delete(holder);
      replicas.set(this.#holder, { report, isDraining, seenMs: nowMs(), source: this.#options.source });
      if (former === undefined || former.isDraining !== isDraining) this.#database.signal('lease');
      return [...replicas]
        .map(([holder, one]) => ({
          holder,
          ...one.report,
          isDraining: one.isDraining,
          seenAgoMs: nowMs() - one.seenMs,
          source: one.source,
        }))
        .filter(({ seenAgoMs }) => seenAgoMs < this.#leaseMs)
        .sort((left, right) => compareText(left.name, right.name) || left.startedMs - right.startedMs);
    });
  }

  async leave(): Promise<void> {
    await this.#once('leave', () => {
      this.#database.replicas.delete(this.#holder);
      this.#database.signal('lease');
    });
  }

  factsSince(serial: number, prefixes: readonly string[]): Promise<ChangedFacts> {
    return this.#patiently('facts', () => {
      const { store, factSerials, server } = this.#database;
      const isAnew = store.serial < serial || server !== (this.#factsServer ?? server);
      this.#factsServer = server;
      const facts = new Map<string, string>();
      for (const [key, value] of store.facts) {
        const isNew = (factSerials.get(key) ?? 0) > (isAnew ? 0 : serial);
        if (isNew && prefixes.some((prefix) => key.startsWith(prefix))) facts.set(key, value);
      }
      return { serial: store.serial, facts, isAnew };
    });
  }

  #openCommands(isMeant: (unit: LeaseUnit, ageMs: number) => boolean): Promise<readonly Command[]> {
    return this.#patiently('commands', () => {
      const { commands, nowMs } = this.#database;
      return commands
        .filter(({ unit, addedMs, result }) => result === undefined && isMeant(unit, nowMs() - addedMs))
        .map(({ result: _, ...command }): Command => ({ ...command, addedAgoMs: nowMs() - command.addedMs }));
    });
  }

  #isLed(unit: LeaseUnit): boolean {
    const { leases, nowMs } = this.#database;
    return (leases.rows.get(unit)?.expiresMs ?? 0) > nowMs();
  }

  readonly commands: SharedLedger['commands'] = {
    add: async (command) => {
      const id = this.#options.random.hex(16);
      await this.#once('command', () => {
        const { commands, nowMs } = this.#database;
        commands.push({ ...command, id, addedMs: nowMs(), result: undefined });
        this.#database.signal('command');
      });
      return id;
    },
    open: (unit) => this.#openCommands((of) => of === unit),
    unled: (olderThanMs) => this.#openCommands((unit, ageMs) => ageMs > olderThanMs && !this.#isLed(unit)),
    overdue: (olderThanMs) => this.#openCommands((_, ageMs) => ageMs > olderThanMs),
    finish: async (lead, id, result, overdueMs = Number.POSITIVE_INFINITY) => {
      const own = [...this.#leads].find(({ unit, ledger }) => unit === lead.unit && ledger.epoch === lead.ledger.epoch);
      await this.#fencing(own, () =>
        this.#once('finish', () => {
          if (own === undefined) throw closed('memory');
          this.#fence(own);
          const { commands, nowMs } = this.#database;
          const command = commands.find((one) => one.id === id);
          const isOverdue = command !== undefined && nowMs() - command.addedMs > overdueMs;
          if (command !== undefined && (command.unit === lead.unit || !this.#isLed(command.unit) || isOverdue))
            command.result ??= { value: result, atMs: nowMs() };
          this.#database.signal('command');
        }),
      );
    },
    result: (id) =>
      this.#patiently('commands', () => {
        const { commands, nowMs } = this.#database;
        const found = commands.find((one) => one.id === id)?.result;
        return found !== undefined && nowMs() - found.atMs < RESULT_KEPT_MS ? found.value : undefined;
      }),
  };

  onSignal(listener: (topic: SignalTopic) => void): () => void {
    const end = this.#database.listen((topic) => this.#link.signal(() => listener(topic)));
    this.#unlisten.push(end);
    return end;
  }

  async close(): Promise<void> {
    for (const end of this.#unlisten) end();
    await Promise.all([...this.#leads].map(({ ledger }) => ledger.close()));
    this.#over.abort();
  }

  /** Every process renews its leases with one statement. A lease that expired meanwhile is renewed too, unless it was taken. */
  async #keepRenewed(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    const { clock, random } = this.#options;
    let waitMs = this.#leaseMs / RENEWALS;
    let failures = 0;
    while (this.#leads.size > 0) {
      try {
        await clock.sleep(waitMs, this.#over.signal);
      } catch {
        break;
      }
      const leads = [...this.#leads];
      const before = momentOf(clock);
      try {
        const renewed = await this.#once('renew', () =>
          leads.map((lead) => !lead.isReleased && this.#database.renew(lead.claim, this.#leaseMs)),
        );
        for (const [at, lead] of leads.entries())
          if (renewed[at] === true) lead.validity.renewedFrom(before);
          else this.#lost(lead);
        failures = 0;
        waitMs = this.#leaseMs / RENEWALS;
      } catch (error) {
        if (!(error instanceof PortolanError)) throw error;
        failures += 1;
        waitMs = retryWithin(this.#leaseMs, failures, random);
      }
    }
    this.#isRenewing = false;
  }

  #fence({ claim }: MemoryLead): void {
    const held = this.#database.renew(claim, this.#leaseMs);
    if (!held) throw fenced('memory', claim.epoch, this.#database.leases.rows.get(claim.scope)?.epoch ?? 0);
  }

  async #fencing<Result>(lead: MemoryLead | undefined, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof PortolanError && error.code === 'ledger/fenced' && lead !== undefined) this.#lost(lead);
      throw error;
    }
  }

  #lost(lead: MemoryLead): void {
    this.#leads.delete(lead);
    lead.end();
  }

  async #release(lead: MemoryLead, ledger: Ledger): Promise<void> {
    if (lead.isReleased) return;
    lead.isReleased = true;
    this.#lost(lead);
    await ledger.close();
    try {
      await this.#once('release', () => this.#database.release(lead.claim));
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
    }
  }

  /** The transactions of a lease run one after another. */
  #inTurn(lead: MemoryLead, ledger: MemoryLedger, transaction: LedgerTransaction): Promise<void> {
    const turn = lead.turn.then(() => this.#fencing(lead, () => this.#commit(lead, ledger, transaction)));
    lead.turn = turn.catch(() => {});
    return turn;
  }

  async #commit(lead: MemoryLead, ledger: MemoryLedger, transaction: LedgerTransaction): Promise<void> {
    const { clock } = this.#options;
    let serial: number | undefined;
    for (const waitMs of [...WAITS_MS, undefined]) {
      const before = momentOf(clock);
      try {
        await this.#link.run('commit', () => {
          ledger.commitNow(transaction);
          serial = this.#database.store.serial;
          const names = this.#database.holders.get(lead.unit);
          if (names !== undefined) names.serial = serial;
          this.#database.committed(transaction, { unit: lead.unit, epoch: lead.claim.epoch }, this.#name);
        });
        return lead.validity.renewedFrom(before);
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error;
        if (error.wasSent && serial !== undefined && (await this.#wasCommitted(lead, serial)))
          return lead.validity.renewedFrom(before);
        if (waitMs === undefined) throw inputOutput('memory', error);
        await clock.sleep(waitMs);
      }
    }
  }

  /** Reads whether a transaction took place whose answer was lost. */
  async #wasCommitted({ claim }: MemoryLead, serial: number): Promise<boolean> {
    for (const waitMs of ASKING_MS) {
      try {
        const found = await this.#link.run('ask', () => ({
          epoch: this.#database.leases.rows.get(claim.scope)?.epoch,
          serial: this.#database.holders.get(claim.scope)?.serial,
        }));
        if (found.serial === serial) return true;
        if (found.epoch === claim.epoch) return false;
        throw fenced('memory', claim.epoch, found.epoch ?? 0);
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error;
        await this.#options.clock.sleep(waitMs);
      }
    }
    throw inputOutput('memory', new LinkLost(true));
  }

  #through(ledger: Ledger, commit: (ledger: Ledger, transaction: LedgerTransaction) => Promise<void>): Ledger {
    const read = <T>(work: () => Promise<T>): Promise<T> => this.#patiently('read', () => work()).then((rows) => rows);
    return {
      location: ledger.location,
      lineage: ledger.lineage,
      epoch: ledger.epoch,
      objects: (filter) => read(() => ledger.objects(filter)),
      objectCount: (filter) => read(() => ledger.objectCount(filter)),
      intents: (filter) => read(() => ledger.intents(filter)),
      history: (filter) => read(() => ledger.history(filter)),
      scopes: () => read(() => ledger.scopes()),
      ownedScopes: (source) => read(() => ledger.ownedScopes(source)),
      fact: (key) => read(() => ledger.fact(key)),
      lastSnapshot: (source) => read(() => ledger.lastSnapshot(source)),
      commit: (transaction) => commit(ledger, transaction),
      close: () => ledger.close(),
    };
  }

  /** One attempt. @throws PortolanError when the database cannot be reached, or its answer was lost. */
  async #once<Answer>(operation: string, statement: () => Answer): Promise<Awaited<Answer>> {
    try {
      return await this.#link.run(operation, statement);
    } catch (error) {
      throw error instanceof LinkLost ? inputOutput('memory', error) : error;
    }
  }

  /** Repeats what only reads while the database cannot be reached. */
  async #patiently<Answer>(operation: string, statement: () => Answer): Promise<Awaited<Answer>> {
    const isLost = (error: unknown): boolean => error instanceof PortolanError && error.cause instanceof LinkLost;
    return whileBusy(
      () => this.#once(operation, statement),
      (error) => (isLost(error) ? 'lost' : 'unknown'),
      this.#options.clock,
    );
  }
}
