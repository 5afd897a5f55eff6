import { historyRowsOf } from '../ledger/history-rows.ts';
import { sameJson } from '../model/json.ts';
import { kindName, type ResourceId } from '../model/ids.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { Cause, FieldChange } from '../model/plan.ts';
import type { Resource } from '../model/resource.ts';
import type { DifferenceActor, FieldValues, LastWrite, ResourceDetails } from '../model/resource-details.ts';
import type { SourcePosition } from '../model/status.ts';
import type { ManagedValue } from '../kinds/view.ts';
import { type Core, known } from './core.ts';
import { observedOf, type AppRecord } from './ledger-records.ts';
import { doubtsOf } from './manual.ts';

/** Rows of history in which the last write of each field is searched. */
const ROWS_MAX = 300;

/** Returns the source position of each document of an application, itself first. */
export function sourcePositions({ work, revision }: AppRecord): readonly SourcePosition[] {
  return [work.application, ...work.resources.values()].map((resource) => positionOf(resource, revision));
}

/**
 * Returns one resource of an application with its fields: desired, live and last applied.
 * @returns undefined when neither a manifest nor the ledger has it.
 */
export async function resourceDetails(
  core: Core,
  id: ResourceId,
  resource: ResourceId,
): Promise<ResourceDetails | undefined> {
  // A pass may replace members during the reading, also by those of another scope.
  const record = { ...known(core, id) };
  const { status, plan, revision } = record;
  const wanted = record.work.resources.get(resource);
  const objects = await objectsOf(core, record, resource);
  if (wanted === undefined && objects.length === 0) return undefined;
  const actions = (plan?.actions ?? []).filter((action) => action.resource === resource);
  return {
    id: resource,
    application: id,
    status: status.resources.find((one) => one.id === resource) ?? null,
    source: wanted === undefined ? null : positionOf(wanted, revision),
    observedMs: observedOf(record)?.atMs ?? null,
    fields: await fieldsOf(core, record, resource, wanted, objects),
    pending: actions.map(({ id: action, summary, cause, effects }) => ({ id: action, summary, cause, effects })),
    doubts: (await doubtsOf(core, record)).filter((doubt) => doubt.resource === resource),
    records: objects.map(({ uid, naturalKey, origin, state, remoteId, failures }) => ({
      uid,
      object: naturalKey,
      origin,
      state,
      remoteId,
      failures,
    })),
  };
}

function positionOf({ id, position: { file, line, column } }: Resource, revision: string): SourcePosition {
  return { id, file, line, column, revision: revision === '' ? null : revision };
}

async function objectsOf({ sourceLedger, options }: Core, { status: { scope } }: AppRecord, resource: ResourceId) {
  if (scope === null) return [];
  const all = await sourceLedger.ledger.objects({ scope, source: options.source });
  return all.filter((object) => object.resource === resource && object.state !== 'gone');
}

/** Returns the fields: those of the manifest, and those that differ without being in it. */
async function fieldsOf(
  core: Core,
  record: AppRecord,
  resource: ResourceId,
  wanted: Resource | undefined,
  objects: readonly OwnedObject[],
): Promise<readonly FieldValues[]> {
  const kind = core.options.kinds.get(kindName(resource));
  const values = wanted === undefined ? recordedValues(objects) : (kind?.view.fields(wanted, objects) ?? []);
  const changes = changesOf(record, resource);
  const known = new Set(values.map(({ path }) => path));
  const writes = await lastWrites(core, record, resource);
  const context = { record, resource, writes, isCompared: isCompared(record, resource) };
  return [
    ...values.map((value) => fieldOf(value, changes.get(value.path), context)),
    ...[...changes.values()]
      .filter(({ path }) => !known.has(path))
      .map((change) => fieldOf({ path: change.path, lastApplied: change.lastApplied }, change, context)),
  ];
}

/** Returns the values of a resource without a manifest: what was last applied. */
function recordedValues(objects: readonly OwnedObject[]): readonly Omit<ManagedValue, 'desired'>[] {
  return objects.flatMap(({ lastApplied, naturalKey }) => {
    const prefix = objects.length > 1 ? `${naturalKey}: ` : '';
    return Object.entries(lastApplied).map(([path, value]) => ({ path: `${prefix}${path}`, lastApplied: value }));
  });
}

interface FieldContext {
  readonly record: AppRecord;
  readonly resource: ResourceId;
  readonly writes: ReadonlyMap<string, LastWrite>;
  /** The last pass compared every field of the resource. */
  readonly isCompared: boolean;
}

type Valued = Omit<ManagedValue, 'desired'> & Partial<Pick<ManagedValue, 'desired'>>;

function fieldOf(
  { path, desired, lastApplied, isHidden }: Valued,
  change: FieldChange | undefined,
  { record, resource, writes, isCompared: areOthersEqual }: FieldContext,
): FieldValues {
  const write = writes.get(path) ?? null;
  const common = {
    path,
    ...(lastApplied === undefined ? {} : { lastApplied }),
    lastWrite: write,
  };
  if (change !== undefined) {
    const { before, after, cause } = change;
    return {
      ...common,
      ...(after === undefined ? {} : { desired: after }),
      ...(before === undefined ? {} : { live: before }),
      state: 'differs',
      cause,
      actors: actorsOf(cause, record, resource, write),
    };
  }
  const known = { ...common, ...(desired === undefined ? {} : { desired }), cause: null, actors: [] };
  if (isHidden === true) return { ...known, state: 'hidden' };
  if (!areOthersEqual || desired === undefined) return { ...known, state: 'unknown' };
  return { ...known, live: desired, state: 'in-sync' };
}

/** Returns the differences that the last pass found, by path. A field that several actions change counts once. */
function changesOf({ plan }: AppRecord, resource: ResourceId): ReadonlyMap<string, FieldChange> {
  const found = new Map<string, FieldChange>();
  const { actions = [], holds = [], notes = [] } = plan ?? {};
  for (const one of [...actions, ...holds, ...notes]) {
    if (one.resource !== resource) continue;
    for (const change of one.changes ?? []) {
      const first = found.get(change.path);
      const isBack = first !== undefined && sameJson(first.before ?? null, change.after ?? null);
      // A temporary change and its end are no difference.
      if (isBack) found.delete(change.path);
      else found.set(change.path, first === undefined ? change : ({ ...change, before: first.before } as FieldChange));
    }
  }
  return found;
}

/** Returns whether a field without a change is as desired on the platform. */
function isCompared({ plan, hidden }: AppRecord, resource: ResourceId): boolean {
  if (plan === null || hidden.has(resource)) return false;
  const isOf = (one: { readonly resource?: ResourceId }): boolean => one.resource === resource;
  return (
    plan.inSync.includes(resource) ||
    plan.actions.some(isOf) ||
    plan.notes.some((note) => isOf(note) && note.changes !== undefined)
  );
}

function actorsOf(
  cause: Cause,
  { changedRevision, author, committedMs, status }: AppRecord,
  resource: ResourceId,
  write: LastWrite | null,
): readonly DifferenceActor[] {
  const commit: DifferenceActor = { type: 'commit', revision: changedRevision, author, committedMs };
  const drift = status.resources.find(({ id }) => id === resource)?.drift;
  const platform: DifferenceActor = { type: 'platform', sinceMs: drift?.sinceMs ?? null };
  switch (cause) {
    case 'git':
    case 'first-apply':
    case 'prune':
      return [commit];
    case 'drift':
    case 'adopt':
      return [platform];
    case 'git+drift':
      return [commit, platform];
    case 'obligation':
    case 'undo':
      return [{ type: 'run', atMs: write?.atMs ?? null, actor: write?.actor ?? null }];
    case 'unknown':
      return [];
  }
}

/** Returns the last applied write of each field of a resource, as far as the newest rows of its history have it. */
async function lastWrites(
  { sourceLedger: { ledger }, options: { clock } }: Core,
  { status: { scope } }: AppRecord,
  resource: ResourceId,
): Promise<ReadonlyMap<string, LastWrite>> {
  const writes = new Map<string, LastWrite>();
  if (scope === null) return writes;
  // The outcome of a request is newer than the request.
  const outcomes = new Map<string, string>();
  const wanted = { scope, resource, limit: ROWS_MAX, pause: () => clock.sleep(0) };
  for await (const { atMs, event, actor, detail } of historyRowsOf(ledger, wanted)) {
    const { intent, decision, write } = detail as Recorded;
    if (intent === undefined) continue;
    if (event !== 'intent' && !outcomes.has(intent)) outcomes.set(intent, decision ?? event);
    if (event !== 'intent' || outcomes.get(intent) !== 'applied') continue;
    const { run = null, revision = null, author = null, changes = [] } = write ?? {};
    for (const { path } of changes)
      if (!writes.has(path)) writes.set(path, { atMs, intent, run, actor, revision, author });
  }
  return writes;
}

/** The members of a history row that describe a write; see `intentRecord`. Rows of earlier versions have fewer. */
interface Recorded {
  readonly intent?: string;
  readonly decision?: string;
  readonly write?: Partial<Pick<LastWrite, 'run' | 'revision' | 'author'>> & {
    readonly changes?: readonly FieldChange[];
  };
}
