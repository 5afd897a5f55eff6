import type { Declarations } from '../kinds/kind.ts';
import type { ResourceId } from '../model/ids.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import { amend } from './amended-set.ts';
import { type Declared, type Judgement, judge } from './relations.ts';

/**
 * A set in which `relate` found no fault. It checks a few changed documents against the rest at the cost of these documents.
 * It does not report faults: where one is possible, the caller runs `relate` over the whole set.
 */
export class StandingSet {
  readonly #kinds: Declarations;
  #set: DesiredState;
  /** Created at the first change, because most sets are loaded once. */
  #index: Index | undefined;

  constructor(kinds: Declarations, set: DesiredState) {
    this.#kinds = kinds;
    this.#set = set;
  }

  /**
   * Returns the set with changed documents, in the same order; undefined where a fault is possible, and then this object
   * must not be used any more.
   * @param documents the changed documents, whose ids are in the set.
   */
  with(documents: readonly Declared[]): DesiredState | undefined {
    if (documents.length === 0) return this.#set;
    const index = (this.#index ??= indexAll(this.#kinds, this.#set));
    const changed = new Map<ResourceId, Resource>();
    for (const { id, resource, sound } of documents) {
      const before = this.#set.get(id);
      if (resource === undefined || !sound || before === undefined) return undefined;
      // A former name must be compared with all names.
      if (isMoved(before) || isMoved(resource)) return undefined;
      changed.set(id, resource);
    }
    const set = amend(this.#set, changed);
    if (!judgeAffected(this.#kinds, index, { before: this.#set, now: set, changed: changed.keys() })) return undefined;
    this.#set = set;
    return set;
  }
}

/** Relations between the judgements of all resources. It does not hold the judgements: they are made again where they are needed. */
interface Index {
  /** The owner of each identity. */
  readonly claimed: Map<string, ResourceId>;
  /** The resources whose judgement read each id, whether it existed or not. */
  readonly readersOf: Map<ResourceId, readonly ResourceId[]>;
}

function indexAll(kinds: Declarations, set: DesiredState): Index {
  const index: Index = { claimed: new Map(), readersOf: new Map() };
  for (const resource of set.values()) {
    const judgement = judgementOf(kinds, resource, set);
    if (judgement === undefined) continue;
    for (const { key } of judgement.identities) index.claimed.set(key, resource.id);
    addReader(index, resource.id, judgement);
  }
  return index;
}

function addReader({ readersOf }: Index, id: ResourceId, { seen }: Judgement): void {
  for (const other of seen) {
    const readers = readersOf.get(other) ?? [];
    // `concat` leaves no room for further items, unlike `push`.
    if (!readers.includes(id)) readersOf.set(other, readers.concat(id));
  }
}

function removeReader({ readersOf }: Index, id: ResourceId, { seen }: Judgement): void {
  for (const other of seen) {
    const readers = readersOf.get(other)?.filter((reader) => reader !== id) ?? [];
    if (readers.length === 0) readersOf.delete(other);
    else readersOf.set(other, readers);
  }
}

/** Judges the changed resources, and those whose judgement read them. @returns whether no fault is possible. */
function judgeAffected(
  kinds: Declarations,
  index: Index,
  {
    before,
    now,
    changed,
  }: { readonly before: DesiredState; readonly now: DesiredState; readonly changed: Iterable<ResourceId> },
): boolean {
  const { claimed, readersOf } = index;
  const affected = new Map<ResourceId, Judgement>();
  const add = (id: ResourceId): boolean => {
    const judgement = judgementOf(kinds, before.get(id), before);
    if (judgement !== undefined) affected.set(id, judgement);
    return judgement !== undefined;
  };
  for (const id of changed) {
    if (!add(id)) return false;
    for (const reader of readersOf.get(id) ?? []) add(reader);
  }
  // Release all identities first, because two resources may have exchanged theirs.
  for (const former of affected.values()) for (const { key } of former.identities) claimed.delete(key);
  for (const [id, former] of affected) {
    const judgement = judgementOf(kinds, now.get(id), now);
    if (judgement === undefined || judgement.problems.length > 0) return false;
    const isKnown = ({ to }: Judgement['references'][number]): boolean =>
      now.has(to) || former.references.some((reference) => reference.to === to);
    if (!judgement.references.every(isKnown)) return false;
    for (const { key } of judgement.identities) {
      if (claimed.has(key)) return false;
      claimed.set(key, id);
    }
    removeReader(index, id, former);
    addReader(index, id, judgement);
  }
  return true;
}

function judgementOf(kinds: Declarations, resource: Resource | undefined, set: DesiredState): Judgement | undefined {
  const declaration = resource && kinds.get(resource.kind);
  return declaration && judge(resource, declaration, set);
}

function isMoved({ annotations }: Resource): boolean {
  return annotations['portolan/moved-from'] !== undefined;
}
