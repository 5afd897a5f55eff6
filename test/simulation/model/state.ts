import { hash } from 'node:crypto';
import type { Kept } from '../../../src/controller/ledger-records.ts';
import type { MemoryStore } from '../../support/memory-ledger.ts';
import type { Intent } from '../../../src/model/owned.ts';
import type { ApplicationStatus } from '../../../src/model/status.ts';
import type { Sender } from '../drivers/surroundings.ts';
import { isPending } from '../books.ts';
import { EPOCH_MS, type Server } from '../server.ts';
import type { Agenda } from './agenda.ts';

/** Earlier than any date that the model has. */
const DATES_FROM_MS = EPOCH_MS - 366 * 24 * 3_600_000;

/** Of a clock that goes only while the machine is up; a budget forgets after a day of it, and no execution lasts so long. */
const TIMES: ReadonlySet<string> = new Set(['uptimeMs', 'observedMs', 'atMs']);

/** Of one process. */
interface Heard {
  text: string;
  readonly bornMs: number;
  /** Times are told from here on. */
  sinceMs: number;
  passes: number;
  readonly facts: string;
}

/** What makes two moments of the model one: texts that are equal where all that follows is. */
export class StateText {
  readonly #store: MemoryStore;
  readonly #server: Server;
  readonly #agenda: Agenda;
  readonly #heard = new Map<Sender, Heard>();
  #ledger:
    | { readonly serial: number; readonly nowMs: number; readonly epoch: number; readonly text: string }
    | undefined;
  #platform: { readonly changes: number; readonly text: string } | undefined;

  constructor(store: MemoryStore, server: Server, agenda: Agenda) {
    this.#store = store;
    this.#server = server;
    this.#agenda = agenda;
  }

  /** A process is what it began with and what it heard since: it decides nothing by anything else. */
  begins(process: Sender, ...facts: readonly (string | number)[]): void {
    const { nowMs } = this.#agenda;
    const kind = facts.join();
    this.#heard.set(process, {
      text: digest([kind, this.ledger()]),
      bornMs: nowMs,
      sinceMs: nowMs,
      passes: 0,
      facts: kind,
    });
  }

  /** Between two passes it is what it has written down and shows, whether it has looked before, and when its minute ends. */
  passes(process: Sender, shown: ApplicationStatus | undefined, isRemoving: boolean): void {
    const heard = this.#heard.get(process);
    if (heard === undefined) return;
    const { nowMs } = this.#agenda;
    heard.passes += 1;
    heard.sinceMs = nowMs;
    const status = JSON.stringify(shown && standingOf(shown));
    // Only what is to be removed is written down by the minute.
    const minute = isRemoving ? (nowMs - heard.bornMs) % 60_000 : 0;
    heard.text = digest([heard.facts, Math.min(2, heard.passes), minute, status, this.ledger()]);
  }

  hears(process: Sender, what: string): void {
    const heard = this.#heard.get(process);
    if (heard === undefined) return;
    const named = what.replace(/^p\d+ /, '');
    heard.text = digest([heard.text, this.#agenda.nowMs - heard.sinceMs, named]);
  }

  ofProcess(process: Sender, waitsFor: string): string {
    const heard = this.#heard.get(process);
    return `${heard?.text} ${this.#agenda.nowMs - (heard?.sinceMs ?? 0)} ${waitsFor.replace(/p\d+ /g, '')}`;
  }

  /** Rows that production reads, with times as they are from now. */
  ledger(): string {
    const { serial, epoch } = this.#store;
    const { nowMs } = this.#agenda;
    const known = this.#ledger;
    if (known?.serial === serial && known.nowMs === nowMs && known.epoch === epoch) return known.text;
    const { objects, intents, snapshots, facts } = this.#store;
    const text = renamed([
      ...sorted(objects).map(([uid, object]) => `${uid} ${textOfRow(object)}`),
      ...[...intents.values()].flatMap(({ intent }) => (isPending(intent) ? [this.#inDoubt(intent)] : [])),
      ...supersededIn(intents),
      ...sorted(snapshots).map(([source, snapshot]) => `${source} ${textOfRow(snapshot)}`),
      ...sorted(facts).flatMap(([key, value]) => textOfFact(key, value) || []),
    ]);
    this.#ledger = { serial, epoch, nowMs, text };
    return text;
  }

  platform(): string {
    const { changes, state } = this.#server;
    if (this.#platform?.changes === changes) return this.#platform.text;
    const text = JSON.stringify([[...state.ports.all()], [...state.rules.all()], [...state.tcpRules.all()]]);
    this.#platform = { changes, text };
    return text;
  }

  /** What is in doubt, with its window as it is from now: once over, it is over for good. */
  #inDoubt(intent: Intent): string {
    const { nowMs } = this.#agenda;
    const { settleMs, settleMark, ...others } = intent;
    const [boot = '', until] = settleMark.split(' ');
    const leftMs = settleMs <= DATES_FROM_MS ? settleMs : Math.max(0, settleMs - EPOCH_MS - nowMs);
    const leftByMarkMs = until === undefined ? '' : Math.max(0, Number(until) - nowMs);
    return `${textOfRow(intent, others)} ${leftMs} ${boot} ${leftByMarkMs}`;
  }
}

/** Rows are never changed in place. */
const texts = new WeakMap<object, string>();

/** @param decisive what of the row decides anything. */
function textOfRow(row: object, decisive = row): string {
  let text = texts.get(row);
  if (text === undefined) texts.set(row, (text = withoutDates(decisive)));
  return text;
}

function withoutDates(value: unknown): string {
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (key === 'epoch') return 0;
    if (typeof inner !== 'number') return inner;
    if (TIMES.has(key)) return 'a time';
    return inner > DATES_FROM_MS ? 'a date' : inner;
  });
  return text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a date');
}

/** Of a request that may be repeated, the ledger is asked one thing: whether that creation was ever sent before. */
function supersededIn(intents: MemoryStore['intents']): readonly string[] {
  const creations = [...intents.values()].flatMap(({ intent: { state, uid, operation, idempotence } }) =>
    state === 'superseded' && idempotence !== 'target-state' ? [`${operation} ${uid}`] : [],
  );
  return [...new Set(creations)].sort();
}

function digest(parts: readonly (string | number)[]): string {
  return hash('sha1', parts.join('\n'));
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([left], [right]) => (left < right ? -1 : 1));
}

/** What of a fact decides anything: of a status the plan that waits for a word, and of the kept files nothing while git answers. */
function deciding(key: string, text: string): readonly unknown[] {
  if (key.startsWith('files') || key.startsWith('commits ')) return [];
  const value = asValue(text);
  if (!key.startsWith('status ')) return [value];
  const { status, kept } = value as { readonly status: ApplicationStatus; readonly kept: Kept };
  // Only shown: which commits changed it, and when.
  const { commits: _, digest: __, lastChange: ___, ...decisive } = kept;
  return [[standingOf(status), decisive]];
}

function standingOf({ approval, pause, failures }: ApplicationStatus): unknown {
  return [approval?.digest, pause?.type, failures];
}

/** Facts come back in nearly every state. */
const factTexts = new Map<string, string>();
const FACTS_MAX = 10_000;

function textOfFact(key: string, value: string): string {
  const fact = `${key} ${value}`;
  let text = factTexts.get(fact);
  if (text !== undefined) return text;
  if (factTexts.size >= FACTS_MAX) factTexts.clear();
  text = deciding(key, value)
    .map((found) => `${key} ${withoutDates(found)}`)
    .join();
  factTexts.set(fact, text);
  return text;
}

function asValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Ids that a process drew, by the order in which they come. */
function renamed(parts: readonly string[]): string {
  const names = new Map<string, string>();
  const nameOf = (id: string): string => {
    const name = names.get(id) ?? `id${names.size}`;
    names.set(id, name);
    return name;
  };
  return parts.map((part) => (part.includes('f00d') ? part.replace(/f00d\d+/g, nameOf) : part)).join('\n');
}
