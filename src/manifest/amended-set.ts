import type { ResourceId } from '../model/ids.ts';
import type { DesiredState, Resource } from '../model/resource.ts';

/** With more amended resources, a copy of the whole set is cheaper than two lookups for each resource. */
const AMENDED_MAX = 256;

/** Weak references, because otherwise each set would keep all former sets alive. */
const amendments = new WeakMap<DesiredState, { before: WeakRef<DesiredState>; changed: ReadonlySet<ResourceId> }>();

/** Returns a set in which some resources are replaced. `amendmentOf` returns its origin, for cached results. */
export function amend(set: DesiredState, resources: ReadonlyMap<ResourceId, Resource>): DesiredState {
  const amended = AmendedSet.of(set, resources);
  amendments.set(amended, { before: new WeakRef(set), changed: new Set(resources.keys()) });
  return amended;
}

/**
 * Returns the origin of an amended set: the former set with the same ids in the same order, unless it was garbage-collected,
 * and the changed ids; undefined for other sets.
 */
export function amendmentOf(set: DesiredState) {
  const amendment = amendments.get(set);
  return amendment && { before: amendment.before.deref(), changed: amendment.changed };
}

/** A set with a few replaced resources, without a copy of the others. */
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

  forEach(visit: (resource: Resource, id: ResourceId, set: DesiredState) => void): void {
    this.#base.forEach((resource, id) => visit(this.#amended.get(id) ?? resource, id, this));
  }
}
