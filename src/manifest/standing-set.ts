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
  #judged: Judged | undefined;

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
    const judged = (this.#judged ??= judgeAll(this.#kinds, this.#set));
    const changed = new Map<ResourceId, Resource>();
    for (const { id, resource, sound } of documents) {
      const before = this.#set.get(id);
      if (resource === undefined || !sound || before === undefined) return undefined;
      // A former name must be compared with all names.
      if (isMoved(before) || isMoved(resource)) return undefined;
      changed.set(id, resource);
    }
    const set = amend(this.#set, changed);
    if (!judgeAffected(this.#kinds, judged, set, changed.keys())) return undefined;
    this.#set = set;
    return set;
  }
}

interface Judged {
  readonly judgements: Map<ResourceId, Judgement>;
  /** The owner of each identity. */
  readonly claimed: Map<string, ResourceId>;
  /** The resources whose judgement read each id, whether it existed or not. */
  readonly readersOf: Map<ResourceId, Set<ResourceId>>;
}

function judgeAll(kinds: Declarations, set: DesiredState): Judged {
  const judged: Judged = { judgements: new Map(), claimed: new Map(), readersOf: new Map() };
  for (const resource of set.values()) {
    const judgement = judgementOf(kinds, resource, set);
    if (judgement === undefined) continue;
    store(judged, resource.id, judgement);
    for (const { key } of judgement.identities) judged.claimed.set(key, resource.id);
  }
  return judged;
}

function store({ judgements, readersOf }: Judged, id: ResourceId, judgement: Judgement): void {
  for (const { id: other } of judgements.get(id)?.seen ?? []) readersOf.get(other)?.delete(id);
  judgements.set(id, judgement);
  for (const { id: other } of judgement.seen) {
    const readers = readersOf.get(other);
    if (readers === undefined) readersOf.set(other, new Set([id]));
    else readers.add(id);
  }
}

/** Judges the changed resources, and those whose judgement read them. @returns whether no fault is possible. */
function judgeAffected(kinds: Declarations, judged: Judged, set: DesiredState, changed: Iterable<ResourceId>): boolean {
  const { judgements, claimed, readersOf } = judged;
  const affected = new Set<ResourceId>();
  for (const id of changed) {
    affected.add(id);
    for (const reader of readersOf.get(id) ?? []) affected.add(reader);
  }
  // Release all identities first, because two resources may have exchanged theirs.
  for (const id of affected) for (const { key } of judgements.get(id)?.identities ?? []) claimed.delete(key);
  for (const id of affected) {
    const before = judgements.get(id);
    const judgement = judgementOf(kinds, set.get(id), set);
    if (before === undefined || judgement === undefined || judgement.problems.length > 0) return false;
    const isKnown = ({ to }: Judgement['references'][number]): boolean =>
      set.has(to) || before.references.some((reference) => reference.to === to);
    if (!judgement.references.every(isKnown)) return false;
    for (const { key } of judgement.identities) {
      if (claimed.has(key)) return false;
      claimed.set(key, id);
    }
    store(judged, id, judgement);
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
