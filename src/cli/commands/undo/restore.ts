import { kindOf, type ReconciledKinds } from '../../../kinds/define.ts';
import { type Declarations, referencesOf } from '../../../kinds/kind.ts';
import { cannotUndo, type UndoContext, type Undoing } from '../../../kinds/undo.ts';
import { isWritable } from '../../../manifest/write.ts';
import { kindName, type ResourceId, type ScopeKey } from '../../../model/ids.ts';
import { type Json, sameJson } from '../../../model/json.ts';
import type { OwnedObject } from '../../../model/owned.ts';
import type { Note } from '../../../model/plan.ts';
import type { DesiredState, Resource } from '../../../model/resource.ts';
import type { PastRun, RunWrite } from './past-run.ts';

/** A value that the undo restores. */
export interface Restored {
  readonly resource: ResourceId;
  readonly path: string;
  /** The value that the run left. */
  readonly present: Json | undefined;
  readonly former: Json | undefined;
}

/** The desired state that reverts a run. */
export interface Restoration {
  /** The manifests, with the former values in place of those of the run. */
  readonly desired: DesiredState;
  readonly targets: ReadonlySet<ResourceId>;
  readonly restored: readonly Restored[];
  /** `<resource> <natural key>` of objects that the run created, and that are removed. */
  readonly removed: ReadonlySet<string>;
  /** The same of objects that it deleted, and that are created again. */
  readonly recreated: ReadonlySet<string>;
  /** Those of `recreated` that the ledger does not own: if they exist, someone else created them. */
  readonly unowned: ReadonlySet<string>;
  /** The scope of each application when the run wrote to it. */
  readonly scopes: ReadonlyMap<ResourceId, ScopeKey>;
  readonly notes: readonly Note[];
}

export interface RestorationInput {
  readonly run: PastRun;
  readonly kinds: ReconciledKinds;
  readonly declarations: Declarations;
  /** The present manifests. */
  readonly desired: DesiredState;
  /** Objects of the ledger. */
  readonly objects: readonly OwnedObject[];
  /** `--prune`. */
  readonly mayRemove: boolean;
}

/** A spec; `removed`: no manifest. */
type Wanted = { readonly spec: unknown } | 'removed';

/** Returns the desired state that reverts a run, and notes on writes that stay. Pure. */
export function restoration(input: RestorationInput): Restoration {
  const { run, desired } = input;
  const wanted = new Map<ResourceId, Wanted>();
  const undone: RunWrite[] = [];
  const notes: Note[] = [];
  const all = run.writes.map((write) => underPresentName(write, input));
  for (const [resource, writes] of Map.groupBy(all, ({ action }) => action.resource)) {
    const outcome = undoWrites(resource, writes, input);
    notes.push(...outcome.notes);
    if (outcome.wanted === undefined) continue;
    wanted.set(resource, outcome.wanted);
    undone.push(...outcome.undone);
  }
  const result = new Map(desired);
  for (const [id, one] of wanted) {
    if (one === 'removed') result.delete(id);
    else result.set(id, { ...(desired.get(id) ?? newResource(id)), spec: one.spec });
  }
  const restored = restoredValues(undone);
  const owned = new Set(input.objects.filter(({ origin }) => origin === 'created').map(({ uid }) => uid));
  const unowned = undone.filter(({ intent }) => !owned.has(intent.uid));
  return {
    desired: result,
    targets: new Set(wanted.keys()),
    restored,
    removed: objectsWith(undone, 'create'),
    recreated: objectsWith(undone, 'delete'),
    unowned: objectsWith(unowned, 'delete'),
    scopes: new Map(undone.map(({ application, intent }) => [application, intent.scope])),
    notes: [...notes, ...gitNotes(wanted, undone, restored, input)].sort(byResource),
  };
}

/** Returns a write with the name that its object has now: a resource may have been renamed after the run. */
function underPresentName(write: RunWrite, { objects }: RestorationInput): RunWrite {
  const { action, intent } = write;
  const resource = objects.find(({ uid }) => uid === intent.uid)?.resource ?? action.resource;
  return { ...write, action: { ...action, resource } };
}

function byResource(left: Note, right: Note): number {
  const [a, b] = [left.resource ?? '', right.resource ?? ''];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Undoes the writes of a run to one resource, newest first. @returns `wanted` undefined: nothing can be undone. */
function undoWrites(resource: ResourceId, writes: readonly RunWrite[], input: RestorationInput) {
  const { kinds, desired, objects, mayRemove } = input;
  const kind = kindOf(kinds, resource);
  const notes: Note[] = [];
  const undone: RunWrite[] = [];
  const present = desired.get(resource);
  let wanted: Wanted | undefined = present && { spec: present.spec };
  const created = new Set(writes.filter(({ action }) => action.verb === 'create').map(({ action }) => action.object));
  for (const write of writes) {
    const { action, intent, creation, updates, application } = write;
    const { step, verb, changes } = action;
    // An object that the run created is removed as a whole.
    if (created.has(action.object) && verb !== 'create') continue;
    const context: UndoContext = {
      application: application.slice('Application/'.length),
      resourceOf: (key) => objects.find((one) => one.scope === intent.scope && one.naturalKey === key)?.resource,
    };
    const spec: unknown = wanted === undefined || wanted === 'removed' ? undefined : wanted.spec;
    const past = { step, verb, changes, preimage: intent.preimage, creation, updates };
    const undoing: Undoing<unknown> = kind.undo?.(past, spec, context) ?? cannotUndo('its kind has no undo');
    if (undoing.type !== 'impossible' && verb === 'create' && !mayRemove) {
      const message = `"${action.summary}" of ${resource} is not undone without --prune`;
      notes.push({ code: 'undo/not-pruned', resource, message });
      continue;
    }
    const why = undoing.type === 'impossible' ? undoing.why : whyInvalid(undoing, application, kind.kind, input);
    if (why !== undefined) {
      const message = `"${action.summary}" of ${resource} cannot be undone: ${why}`;
      notes.push({ code: 'undo/impossible', resource, message });
      continue;
    }
    undone.push(write);
    wanted = undoing.type === 'removed' ? 'removed' : undoing.type === 'spec' ? { spec: undoing.spec } : wanted;
  }
  return { wanted: undone.length === 0 ? undefined : wanted, undone, notes };
}

/** Returns why a spec cannot be applied; undefined: it can. */
function whyInvalid(
  undoing: Undoing<unknown>,
  application: ResourceId,
  kind: string,
  { declarations, desired }: RestorationInput,
): string | undefined {
  if (!desired.has(application)) return `the manifests have no ${application}`;
  if (undoing.type !== 'spec') return undefined;
  const declaration = declarations.get(kind);
  if (declaration === undefined || !isWritable(declaration.specSchema, undoing.spec as Json))
    return 'a manifest cannot express the former values';
  const missing = referencesOf(declaration, undoing.spec).find(
    ({ to }) => declarations.get(kindName(to))?.trust === 'manifest' && !desired.has(to),
  );
  return missing && `the manifests have no ${missing.to}`;
}

/** Returns a resource that the manifests do not have. */
function newResource(id: ResourceId): Resource {
  const kind = kindName(id);
  const position = { file: '', line: 0, column: 0 };
  return { id, kind, name: id.slice(kind.length + 1), labels: {}, annotations: {}, spec: {}, position };
}

/** Returns the values before and after all writes of the run together. A value that only changed for a moment is none. */
function restoredValues(newestFirst: readonly RunWrite[]): readonly Restored[] {
  const values = new Map<string, Restored>();
  for (const { action } of newestFirst) {
    if (action.verb !== 'update') continue;
    for (const { path, before, after } of action.changes) {
      const key = `${action.resource} ${path}`;
      const present = values.has(key) ? values.get(key)?.present : after;
      values.set(key, { resource: action.resource, path, present, former: before });
    }
  }
  return [...values.values()].filter(({ present, former }) => !sameJson(present, former));
}

function objectsWith(writes: readonly RunWrite[], verb: 'create' | 'delete'): ReadonlySet<string> {
  const found = writes.filter(({ action }) => action.verb === verb);
  return new Set(found.map(({ action }) => `${action.resource} ${action.object}`));
}

/** Returns what git will change back: it still asks for what the run made. */
function gitNotes(
  wanted: ReadonlyMap<ResourceId, Wanted>,
  undone: readonly RunWrite[],
  restored: readonly Restored[],
  { desired }: RestorationInput,
): readonly Note[] {
  return [...wanted].flatMap(([resource, one]): Note[] => {
    const made = undone.filter(({ action }) => action.resource === resource && action.verb === 'create');
    const inGit = desired.get(resource);
    const back = (what: string): Note[] => [
      { code: 'undo/git-changes-back', resource, message: `git will ${what} in the next pass` },
    ];
    if (inGit === undefined) return back(`remove ${resource}, which the manifests do not have,`);
    if (one === 'removed') return back(`create ${resource}, which the manifests have,`);
    const fields = restored
      .filter((value) => value.resource === resource)
      .map(({ path, former }) => ({ path, former, git: valueAt(inGit.spec, path) }))
      // Git does not manage a field that it does not name.
      .filter(({ former, git }) => git !== undefined && !sameJson(git, former));
    const said = [
      ...made.map(({ action }) => `"${action.summary}"`),
      ...fields.map(({ path, git }) => `${path} to ${JSON.stringify(git)}`),
    ];
    return said.length === 0 ? [] : back(`change ${resource} back (${said.join(', ')})`);
  });
}

/** Returns the value at a path of a plan: `weight`, or `ports[8080].alias`, where 8080 is a number of the element. */
function valueAt(spec: unknown, path: string): Json | undefined {
  let value: unknown = spec;
  for (const [, name = '', key] of path.matchAll(/([^.[\]]+)(?:\[([^\]]+)\])?/g)) {
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
    if (key !== undefined)
      value = Array.isArray(value)
        ? value.find((one) => Object.values(one as object).includes(Number(key)))
        : undefined;
  }
  return value as Json | undefined;
}
