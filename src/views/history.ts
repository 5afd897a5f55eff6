import type { ResourceId } from '../model/ids.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { HistoryRow } from '../model/owned.ts';
import type { ActionVerb, Cause, FieldChange } from '../model/plan.ts';
import type { EpochMs } from '../model/time.ts';

/** One write of a run. Rows of earlier versions have only a summary; the other members are null. */
export interface HistoryChange {
  readonly atMs: EpochMs;
  readonly intent: string;
  readonly resource: ResourceId | null;
  readonly summary: string;
  readonly verb: ActionVerb | null;
  readonly cause: Cause | null;
  /** `open`: no outcome is recorded. Otherwise the state of its intent, or what a person decided: `applied`, `not-applied`. */
  readonly outcome: string;
  readonly changes: readonly FieldChange[] | null;
}

/** The writes of one run for one application. */
export interface HistoryRun {
  readonly type: 'run';
  readonly atMs: EpochMs;
  /** For `apply --undo`; null: an earlier version did not record it. */
  readonly run: string | null;
  readonly actor: string;
  /** `main@sha1:<id>`; null: plain files, or not recorded. */
  readonly revision: string | null;
  readonly author: string | null;
  readonly committedMs: EpochMs | null;
  /** The run that this one undid. */
  readonly undoes: string | null;
  readonly changes: HistoryChange[];
}

/** An entry of the history of an application. */
export type HistoryEntry =
  | HistoryRun
  | {
      readonly type: 'drift';
      readonly atMs: EpochMs;
      readonly resource: string;
      readonly isCorrected: boolean;
      readonly changes: readonly FieldChange[];
    }
  | { readonly type: 'approval'; readonly atMs: EpochMs; readonly by: string; readonly digest: string }
  | {
      readonly type: 'event';
      readonly atMs: EpochMs;
      readonly event: string;
      readonly actor: string;
      readonly detail: Json;
    };

/** Rows without a change to the application. */
const HIDDEN: ReadonlySet<string> = new Set(['recorded', 'renamed']);
/** Between two writes of one run of an earlier version, at most. */
const UNNAMED_RUN_GAP_MS = 60_000;

/**
 * Yields the entries of an application, newest first.
 * @param rows history rows of its scope, newest first; the changes of a run are oldest first.
 */
export async function* historyEntries(
  rows: AsyncIterable<HistoryRow> | Iterable<HistoryRow>,
): AsyncGenerator<HistoryEntry> {
  const outcomes = new Map<string, string>();
  let open: HistoryRun | undefined;
  const beside: HistoryEntry[] = [];
  for await (const row of rows) {
    const detail = objectOf(row.detail);
    const intent = textOf(detail['intent']);
    if (intent !== null && row.event !== 'intent') {
      // The newest row of an intent has its state.
      if (!outcomes.has(intent)) outcomes.set(intent, textOf(detail['decision']) ?? row.event);
      if (row.event !== 'resolved') continue;
      // A person decided: that is an entry of its own.
      if (open === undefined) yield decisionOf(row);
      else beside.push(decisionOf(row));
      continue;
    }
    if (intent === null) {
      const entry = entryOf(row, detail);
      if (entry === undefined) continue;
      // A run may have other rows among its own.
      if (open === undefined) yield entry;
      else beside.push(entry);
      continue;
    }
    const change = changeOf(row, detail, intent, outcomes.get(intent) ?? 'open');
    if (open !== undefined && isOfRun(open, row, detail)) {
      open.changes.unshift(change);
      continue;
    }
    if (open !== undefined) yield open;
    yield* beside.splice(0);
    open = runOf(row, detail, change);
  }
  if (open !== undefined) yield open;
  yield* beside;
}

/** Returns a text that identifies an entry among those of its application. */
export function idOfEntry(entry: HistoryEntry): string {
  switch (entry.type) {
    case 'run':
      return `run-${entry.run ?? entry.atMs}`;
    case 'drift':
      return `${entry.isCorrected ? 'corrected' : 'drift'}-${entry.atMs}-${entry.resource}`;
    case 'approval':
      return `approval-${entry.atMs}`;
    case 'event':
      return `${entry.event}-${entry.atMs}`;
  }
}

/** Returns the entries about a part of a resource, such as `ports[8080]`; all of them without one. */
export function ofPart(entries: readonly HistoryEntry[], part: string | undefined): readonly HistoryEntry[] {
  if (part === undefined) return entries;
  const isOf = (changes: readonly FieldChange[] | null): boolean =>
    changes === null || changes.some(({ path }) => path.startsWith(part));
  return entries.flatMap((entry): readonly HistoryEntry[] => {
    if (entry.type === 'drift') return isOf(entry.changes) ? [entry] : [];
    if (entry.type !== 'run') return [entry];
    const changes = entry.changes.filter((change) => isOf(change.changes));
    return changes.length === 0 ? [] : [{ ...entry, changes }];
  });
}

function decisionOf({ atMs, event, actor, detail }: HistoryRow): HistoryEntry {
  return { type: 'event', atMs, event, actor, detail };
}

/** Returns the application that a history row names; null when it names none. */
export function applicationOf({ detail: json }: HistoryRow): string | null {
  const detail = objectOf(json);
  return textOf(writeOf(detail)['application']) ?? textOf(detail['application']);
}

/** Returns what the row of an intent records of its write; see `intentRecord`. Rows of earlier versions have none of it. */
function writeOf(detail: JsonObject): JsonObject {
  return objectOf(detail['write']);
}

function isOfRun(open: HistoryRun, row: HistoryRow, detail: JsonObject): boolean {
  const run = textOf(writeOf(detail)['run']);
  if (run !== null || open.run !== null) return run === open.run;
  const last = open.changes[0]?.atMs ?? open.atMs;
  return row.actor === open.actor && Math.abs(last - row.atMs) <= UNNAMED_RUN_GAP_MS;
}

function runOf({ atMs, actor }: HistoryRow, detail: JsonObject, change: HistoryChange): HistoryRun {
  const origin = writeOf(detail);
  return {
    type: 'run',
    atMs,
    run: textOf(origin['run']),
    actor,
    revision: textOf(origin['revision']),
    author: textOf(origin['author']),
    committedMs: numberOf(origin['committedMs']),
    undoes: textOf(origin['undoes']),
    changes: [change],
  };
}

function changeOf({ atMs }: HistoryRow, detail: JsonObject, intent: string, outcome: string): HistoryChange {
  const write = writeOf(detail);
  const changes = write['changes'];
  return {
    atMs,
    intent,
    resource: textOf(write['resource']) as ResourceId | null,
    summary: textOf(detail['summary']) ?? textOf(detail['action']) ?? intent,
    verb: textOf(write['verb']) as ActionVerb | null,
    cause: textOf(write['cause']) as Cause | null,
    outcome,
    changes: Array.isArray(changes) ? (changes as unknown as readonly FieldChange[]) : null,
  };
}

function entryOf({ atMs, event, actor, detail: json }: HistoryRow, detail: JsonObject): HistoryEntry | undefined {
  // Without a reason, the row follows from a write.
  const isForgotten = event === 'forgotten' && detail['reason'] === undefined;
  if (HIDDEN.has(event) || isForgotten) return undefined;
  if (event === 'drift' || event === 'drift-healed') {
    const changes = (Array.isArray(detail['changes']) ? detail['changes'] : []) as readonly JsonObject[];
    return {
      type: 'drift',
      atMs,
      resource: textOf(detail['resource']) ?? '',
      isCorrected: event === 'drift-healed',
      changes: changes.map(
        ({ field, ...change }) => ({ ...change, path: textOf(field) ?? '' }) as unknown as FieldChange,
      ),
    };
  }
  if (event === 'approved')
    return { type: 'approval', atMs, by: textOf(detail['by']) ?? actor, digest: textOf(detail['digest']) ?? '' };
  return { type: 'event', atMs, event, actor, detail: json };
}

function objectOf(json: Json | undefined): JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as JsonObject) : {};
}

function textOf(json: Json | undefined): string | null {
  return typeof json === 'string' ? json : null;
}

function numberOf(json: Json | undefined): number | null {
  return typeof json === 'number' ? json : null;
}
