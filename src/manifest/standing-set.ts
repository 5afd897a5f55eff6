import type { Declarations } from '../kinds/kind.ts';
import type { ResourceId } from '../model/ids.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import { amend } from './amended-set.ts';
import { type Declared, type Judgement, judge } from './relations.ts';

/**
 * A set in which `relate` found no fault, so that a few documents which say something else are related to it at their own
 * cost. It never says what is wrong: where anything might be, `relate` is to look at everything.
 */
export class StandingSet {
  readonly #kinds: Declarations;
  #set: DesiredState;
  /** Made for the first change: most sets are loaded once. */
  #judged: Judged | undefined;

  constructor(kinds: Declarations, set: DesiredState) {
    this.#kinds = kinds;
    this.#set = set;
  }

  /**
   * @param documents those that changed, under ids that the set has.
   * @returns the set with them, in the same order; undefined where a fault is possible, and then this one is of no use
   * any more.
   */
  with(documents: readonly Declared[]): DesiredState | undefined {
    if (documents.length === 0) return this.#set;
    const judged = (this.#judged ??= judgedOf(this.#kinds, this.#set));
    const changed = new Map<ResourceId, Resource>();
    for (const { id, resource, sound } of documents) {
      const before = this.#set.get(id);
      if (resource === undefined || !sound || before === undefined) return undefined;
      // A former name is held against all names there are.
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
  /** Whose each identity is. */
  readonly claimed: Map<string, ResourceId>;
  /** Who looked at each, whether it was there or not. */
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

/** Asks the kinds of those that changed and of those that looked at them. @returns whether nothing can be wrong. */
function judgeAgain(kinds: Declarations, judged: Judged, set: DesiredState, changed: Iterable<ResourceId>): boolean {
  const { judgements, claimed, lookedAtBy } = judged;
  const again = new Set<ResourceId>();
  for (const id of changed) {
    again.add(id);
    for (const looker of lookedAtBy.get(id) ?? []) again.add(looker);
  }
  // All of them let go first: two may have exchanged what they claim.
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
