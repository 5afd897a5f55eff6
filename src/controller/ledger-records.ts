import type { LedgerOperation } from '../ledger/ledger.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import type { ResourceId } from '../model/ids.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import type { ApplicationStatus } from '../model/status.ts';
import type { AppRecord, Kept } from './record.ts';

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
  sourceLedger: SourceLedger,
  record: AppRecord,
  lines: readonly LedgerOperation[] = [],
): Promise<void> {
  const now = standing(record.status, record.kept);
  if (now === record.written && lines.length === 0) return;
  const value = JSON.stringify({ status: record.status, kept: record.kept } satisfies Stored);
  const key = statusFact(sourceLedger.source, record.id);
  const operations = [{ op: 'set-fact', key, value } as const, ...lines];
  await recordOfSource(sourceLedger, operations, record.status.scope ?? undefined);
  record.written = now;
}

/** What an earlier process wrote down of an application. */
export async function restoreRecord(sourceLedger: SourceLedger, id: ResourceId): Promise<Stored | undefined> {
  const text = await sourceLedger.ledger.fact(statusFact(sourceLedger.source, id));
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
export async function keepFact(sourceLedger: SourceLedger, name: string, value: Json): Promise<void> {
  const key = `${name} ${sourceLedger.source}`;
  const text = canonicalJson(value);
  if ((await sourceLedger.ledger.fact(key)) === text) return;
  await recordOfSource(sourceLedger, [{ op: 'set-fact', key, value: text }]);
}

export async function restoreFact<T extends Json>(
  { ledger, source }: SourceLedger,
  name: string,
): Promise<T | undefined> {
  const text = await ledger.fact(`${name} ${source}`);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
