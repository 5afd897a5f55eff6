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
    const judged = (this.#judged ??= judgedOf(this.#kinds, this.#set));
    const changed = new Map<ResourceId, Resource>();
    for (const { id, resource, sound } of documents) {
      const before = this.#set.get(id);
      if (resource === undefined || !sound || before === undefined) return undefined;
      // A former name must be compared with all names.
      if (isMoved(before) || isMoved(resource)) return undefined;
      changed.set(id, resource);
    }
    const set = amend(this.#set, changed);
    if (!judgeAgain(this.#kinds, judged, set, changed.keys())) return undefined;
    this.#set = set;
    return set;
  }
}

interface Judged {
  readonly judgements: Map<ResourceId, Judgement>;
  /** The owner of each identity. */
  readonly claimed: Map<string, ResourceId>;
  /** The resources whose judgement read each id, whether it existed or not. */
  readonly lookedAtBy: Map<ResourceId, Set<ResourceId>>;
}

function judgedOf(kinds: Declarations, set: DesiredState): Judged {
  const judged: Judged = { judgements: new Map(), claimed: new Map(), lookedAtBy: new Map() };
  for (const resource of set.values()) {
    const judgement = judgementOf(kinds, resource, set);
    if (judgement === undefined) continue;
    keep(judged, resource.id, judgement);
    for (const { key } of judgement.identities) judged.claimed.set(key, resource.id);
  }
  return judged;
}

function keep({ judgements, lookedAtBy }: Judged, id: ResourceId, judgement: Judgement): void {
  for (const { id: other } of judgements.get(id)?.seen ?? []) lookedAtBy.get(other)?.delete(id);
  judgements.set(id, judgement);
  for (const { id: other } of judgement.seen) {
    const lookers = lookedAtBy.get(other);
    if (lookers === undefined) lookedAtBy.set(other, new Set([id]));
    else lookers.add(id);
  }
}

/** Judges the changed resources, and those whose judgement read them. @returns whether no fault is possible. */
function judgeAgain(kinds: Declarations, judged: Judged, set: DesiredState, changed: Iterable<ResourceId>): boolean {
  const { judgements, claimed, lookedAtBy } = judged;
  const again = new Set<ResourceId>();
  for (const id of changed) {
    again.add(id);
    for (const looker of lookedAtBy.get(id) ?? []) again.add(looker);
  }
  // Release all identities first, because two resources may have exchanged theirs.
  for (const id of again) for (const { key } of judgements.get(id)?.identities ?? []) claimed.delete(key);
  for (const id of again) {
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
    keep(judged, id, judgement);
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
