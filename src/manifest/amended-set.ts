import type { ResourceId } from '../model/ids.ts';
import type { DesiredState, Resource } from '../model/resource.ts';

/** How a set came of another: the same ids in the same order, of which some say something else. */
export interface Amendment {
  /** undefined when nobody holds it any more. */
  readonly before: DesiredState | undefined;
  readonly changed: ReadonlySet<ResourceId>;
}

/** Beyond that a copy of the whole is cheaper than looking twice for each. */
const AMENDED_MAX = 256;

/** Held weakly: each set would otherwise keep the one before alive, back to the first. */
const amendments = new WeakMap<DesiredState, { before: WeakRef<DesiredState>; changed: ReadonlySet<ResourceId> }>();

/** The set with other resources under ids that it has. What was worked out for it is found again by `amendmentOf`. */
export function amend(set: DesiredState, resources: ReadonlyMap<ResourceId, Resource>): DesiredState {
  const amended = AmendedSet.of(set, resources);
  amendments.set(amended, { before: new WeakRef(set), changed: new Set(resources.keys()) });
  return amended;
}

/** undefined for a set that was put together as a whole. */
export function amendmentOf(set: DesiredState): Amendment | undefined {
  const amendment = amendments.get(set);
  return amendment && { before: amendment.before.deref(), changed: amendment.changed };
}

/** A set of which a few resources are others, without a copy of all the rest. */
class AmendedSet implements DesiredState {
  readonly #base: DesiredState;
  readonly #amended: ReadonlyMap<ResourceId, Resource>;

  private constructor(base: DesiredState, amended: ReadonlyMap<ResourceId, Resource>) {
    this.#base = base;
    this.#amended = amended;
  }

  static of(set: DesiredState, resources: ReadonlyMap<ResourceId, Resource>): DesiredState {
    const isAmended = set instanceof AmendedSet;
    const amended = new Map([...(isAmended ? set.#amended : []), ...resources]);
    const all = new AmendedSet(isAmended ? set.#base : set, amended);
    return amended.size > AMENDED_MAX ? new Map(all) : all;
  }

  get size(): number {
    return this.#base.size;
  }

  get(id: ResourceId): Resource | undefined {
    return this.#amended.get(id) ?? this.#base.get(id);
  }

  has(id: ResourceId): boolean {
    return this.#base.has(id);
  }

  keys(): MapIterator<ResourceId> {
    return this.#base.keys();
  }

  *values(): MapIterator<Resource> {
    for (const [, resource] of this.entries()) yield resource;
  }

  *entries(): MapIterator<[ResourceId, Resource]> {
    for (const [id, resource] of this.#base) yield [id, this.#amended.get(id) ?? resource];
  }

  [Symbol.iterator](): MapIterator<[ResourceId, Resource]> {
    return this.entries();
  }

  forEach(look: (resource: Resource, id: ResourceId, set: DesiredState) => void): void {
    this.#base.forEach((resource, id) => look(this.#amended.get(id) ?? resource, id, this));
  }
}
