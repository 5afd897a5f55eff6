import type { Ledger, LedgerOperation } from '../ledger/ledger.ts';
import type { ResourceId } from '../model/ids.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import type { ApplicationStatus } from '../model/status.ts';
import type { Clock } from '../runtime/clock.ts';
import type { AppRecord, Kept } from './record.ts';

/** What the controller remembers from one process to the next, all of it small facts in the ledger. */
export interface Keeping {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly source: string;
  readonly actor: string;
}

interface Stored {
  readonly status: ApplicationStatus;
  readonly kept: Kept;
}

/** Fields that only say when, or how often: a change of nothing else is not worth a write. */
const TIMES: ReadonlySet<string> = new Set([
  'lastAttemptMs',
  'lastSuccessMs',
  'nextAttemptMs',
  'failures',
  'atMs',
  'lastAttemptedRevision',
]);

/** What an application looks like without times. */
export function standing(status: ApplicationStatus, kept: Kept): string {
  return JSON.stringify({ status, kept }, (key, value: unknown) => (TIMES.has(key) ? undefined : value));
}

/** Writes an application's status down where it says something new, with lines of history beside it. */
export async function keepRecord(
  { ledger, clock, source, actor }: Keeping,
  record: AppRecord,
  lines: readonly LedgerOperation[] = [],
): Promise<void> {
  const now = standing(record.status, record.kept);
  if (now === record.written && lines.length === 0) return;
  const value = JSON.stringify({ status: record.status, kept: record.kept } satisfies Stored);
  await ledger.commit({
    scope: record.status.scope ?? `source:${source}`,
    actor,
    atMs: clock.now(),
    operations: [{ op: 'set-fact', key: statusFact(source, record.id), value }, ...lines],
  });
  record.written = now;
}

/** What an earlier process wrote down of an application. */
export async function restoreRecord(keeping: Keeping, id: ResourceId): Promise<Stored | undefined> {
  const text = await keeping.ledger.fact(statusFact(keeping.source, id));
  return text === undefined ? undefined : (JSON.parse(text) as Stored);
}

function statusFact(source: string, id: ResourceId): string {
  return `status ${source} ${id}`;
}

/** A line of the history. */
export function line(event: string, detail: Json): LedgerOperation {
  return { op: 'record', event, detail };
}

/** Small facts of the controller as canonical JSON, written only when they change. */
export async function keepFact({ ledger, clock, source, actor }: Keeping, name: string, value: Json): Promise<void> {
  const key = `${name} ${source}`;
  const text = canonicalJson(value);
  if ((await ledger.fact(key)) === text) return;
  await ledger.commit({
    scope: `source:${source}`,
    actor,
    atMs: clock.now(),
    operations: [{ op: 'set-fact', key, value: text }],
  });
}

export async function restoreFact<T extends Json>({ ledger, source }: Keeping, name: string): Promise<T | undefined> {
  const text = await ledger.fact(`${name} ${source}`);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
