import { historyRows } from '../../../ledger/history-rows.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { invalidInput, PortolanError } from '../../../model/errors.ts';
import type { ResourceId, ScopeKey } from '../../../model/ids.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { HistoryRow, Intent } from '../../../model/owned.ts';
import type { Action, FieldChange } from '../../../model/plan.ts';
import type { Step } from '../../../kinds/reconciled.ts';

/** One write that a run made. */
export interface RunWrite {
  readonly intent: Intent;
  readonly action: Action;
  readonly application: ResourceId;
  /** The step that created the object, as far as the ledger still has it. */
  readonly creation: Step | undefined;
  /** The changes between that step and this write, oldest first. */
  readonly updates: readonly FieldChange[];
}

/** A write after the run to an object of the run. */
interface LaterWrite {
  readonly uid: string;
  /** null: an earlier version did not record it. */
  readonly run: string | null;
  /** null: the whole object, or unknown. */
  readonly paths: ReadonlySet<string> | null;
}

/** Holds the writes of a run, as the ledger recorded them. */
export interface PastRun {
  readonly id: string;
  /** Newest first. */
  readonly writes: readonly RunWrite[];
  /** `main@sha1:<id>`; null: plain files. */
  readonly revision: string | null;
}

/** The part of the row of an intent that `intentRecord` adds. */
interface RecordedWrite {
  readonly run?: string;
  readonly application?: ResourceId;
  readonly revision?: string | null;
  readonly undoes?: string;
  readonly verb?: Action['verb'];
  readonly changes?: readonly FieldChange[];
}

/**
 * Returns the writes of a run that reached the platform.
 * @throws PortolanError `invalid` when the ledger has no such run; `ask-human` when its values are incomplete or in doubt, or a
 * later run changed them.
 */
export async function readRun(ledger: Ledger, id: string, source: string): Promise<PastRun> {
  const writes: RunWrite[] = [];
  let revision: string | null = null;
  let isKnown = false;
  for (const scope of await ledger.scopes()) {
    const { rows, later } = await rowsOfRun(ledger, scope, id);
    if (rows.length === 0) continue;
    isKnown = true;
    const intents = await ledger.intents({ scope });
    for (const row of rows) {
      const write = writeOf(row);
      revision ??= write.revision ?? null;
      const intent = intents.find((one) => one.id === intentIdOf(row));
      if (intent === undefined) throw incomplete(id, row);
      if (!reachedPlatform(id, intent)) continue;
      refuseOtherSource(id, intent, source);
      refuseLater(id, intent, later);
      const application = write.application as ResourceId;
      writes.push({ intent, action: actionOf(intent), application, ...pastOf(intent, intents) });
    }
  }
  if (!isKnown) throw unknownRun(ledger, id);
  return { id, writes, revision };
}

/** Returns how an object was created, and what changed it until a write. @param intents of its scope, oldest first. */
function pastOf(write: Intent, intents: readonly Intent[]): Pick<RunWrite, 'creation' | 'updates'> {
  const earlier = intents.slice(0, intents.indexOf(write) + 1).filter(({ uid }) => uid === write.uid);
  const at = earlier.findLastIndex((one) => one.state === 'applied' && actionOf(one).verb === 'create');
  const later = earlier.slice(at + 1).filter((one) => actionOf(one).verb === 'update' && isApplied(one));
  const creation = earlier[at];
  return {
    creation: creation && (actionOf(creation).step as Step),
    updates: later.flatMap((one) => actionOf(one).changes),
  };
}

async function rowsOfRun(ledger: Ledger, scope: ScopeKey, id: string) {
  const rows: HistoryRow[] = [];
  const later: LaterWrite[] = [];
  const outcomes = new Map<string, string>();
  for await (const row of historyRows(ledger, scope)) {
    const intent = intentIdOf(row);
    if (intent === undefined) continue;
    if (row.event !== 'intent') {
      if (!outcomes.has(intent)) outcomes.set(intent, row.event);
      continue;
    }
    const { run = null, undoes, verb, changes } = writeOf(row);
    if (run === id) rows.push(row);
    // One process writes a scope, so a run's rows are not mixed with those of others.
    else if (rows.length > 0) break;
    // An undo that was interrupted is continued by the same command.
    else if (undoes !== id && outcomes.get(intent) !== 'rejected' && row.uid !== null) {
      const paths = verb === 'update' && changes !== undefined ? new Set(changes.map(({ path }) => path)) : null;
      later.push({ uid: row.uid, run, paths });
    }
  }
  return { rows, later };
}

function actionOf({ action }: Intent): Action {
  return action as unknown as Action;
}

function detailOf({ detail }: HistoryRow): JsonObject {
  return typeof detail === 'object' && detail !== null && !Array.isArray(detail) ? (detail as JsonObject) : {};
}

function intentIdOf(row: HistoryRow): string | undefined {
  const { intent } = detailOf(row);
  return typeof intent === 'string' ? intent : undefined;
}

function writeOf(row: HistoryRow): RecordedWrite {
  return (detailOf(row)['write'] ?? {}) as unknown as RecordedWrite;
}

function reachedPlatform(run: string, intent: Intent): boolean {
  const { state, id } = intent;
  if (state === 'open' || state === 'unknown')
    throw refused(
      'undo/in-doubt',
      `The outcome of intent ${id} of run ${run} is not known, so what the run changed is not known either.`,
      `Apply again, which decides it by observation, or see portolan ledger show ${id}.`,
    );
  return isApplied(intent) || state === 'superseded';
}

function isApplied({ state, outcome }: Intent): boolean {
  return state === 'applied' || (state === 'resolved' && (outcome as JsonObject | null)?.['decision'] === 'applied');
}

function refuseOtherSource(run: string, { uid, scope, resource }: Intent, source: string): void {
  if (uid.startsWith(`${source}:${scope}:`)) return;
  const other = uid.slice(0, uid.indexOf(`:${scope}:`));
  throw invalidInput(
    'undo/other-source',
    `Run ${run} changed ${resource} of the source "${other}", and this command is for "${source}". Nothing was sent.`,
    `Pass --source ${other} with the manifests of that source.`,
  );
}

function refuseLater(run: string, intent: Intent, later: readonly LaterWrite[]): void {
  const { verb, changes } = actionOf(intent);
  const overlaps = ({ uid, paths }: LaterWrite): boolean =>
    uid === intent.uid && (paths === null || verb !== 'update' || changes.some(({ path }) => paths.has(path)));
  const found = later.find(overlaps);
  if (found === undefined) return;
  const by = found.run === null ? 'a later run' : `run ${found.run}`;
  throw refused(
    'undo/changed-later',
    `Run ${run} cannot be undone: ${by} changed the same values of ${intent.resource}.`,
    found.run === null
      ? 'Commit the values that you want.'
      : `Undo run ${found.run} first, or commit the values that you want.`,
  );
}

function incomplete(run: string, row: HistoryRow): PortolanError {
  return refused(
    'undo/incomplete',
    `The ledger no longer has the values of run ${run} (intent ${intentIdOf(row) ?? '-'}): ledger compact removed them.`,
    'Commit the values that you want; portolan history shows what is left of them.',
  );
}

function unknownRun({ location }: Ledger, id: string): PortolanError {
  return invalidInput(
    'undo/unknown-run',
    `The ledger ${location} has no run ${id}. Runs of an earlier version of Portolan were recorded without an id and cannot be undone.`,
    'portolan history APPLICATION shows the runs with their ids.',
  );
}

/** Returns the error for an undo that must not be planned. */
export function refused(code: string, message: string, remedy: string): PortolanError {
  return new PortolanError({ code, disposition: 'ask-human', message: `${message} Nothing was sent.`, remedy });
}
