import type { Identity, KindDeclaration, OtherResources, Reference, SpecProblem } from '../kinds/kind.ts';
import type { ResourceId } from '../model/ids.ts';
import type { DesiredState, Resource } from '../model/resource.ts';

/** What the kind of a resource says of it. */
export interface Judgement {
  readonly references: readonly Reference[];
  readonly problems: readonly SpecProblem[];
  readonly identities: readonly Identity[];
  /** Everything else that the kind looked at, and what was there. */
  readonly seen: readonly { readonly id: ResourceId; readonly other: Resource | undefined }[];
}

/** A resource is never changed in place: a changed file gives another one, and a file that did not change the same. */
const kept = new WeakMap<Resource, Judgement>();

/**
 * Asks the kind, once for a resource and what the kind looks at besides: a daemon sees ten thousand resources with each
 * commit, of which one has changed. A kind can look at others only by their ids, so nothing that it went by is missed.
 */
export function judge(resource: Resource, declaration: KindDeclaration<unknown>, set: DesiredState): Judgement {
  const known = kept.get(resource);
  if (known !== undefined && isAsSeen(known, set)) return known;
  const seen: { readonly id: ResourceId; readonly other: Resource | undefined }[] = [];
  const others: OtherResources = {
    get(id) {
      const other = set.get(id);
      seen.push({ id, other });
      return other;
    },
  };
  const judgement: Judgement = {
    references: declaration.references(resource.spec),
    problems: declaration.check(resource, others),
    identities: declaration.identities(resource, others),
    seen,
  };
  kept.set(resource, judgement);
  return judgement;
}

function isAsSeen({ seen }: Judgement, set: DesiredState): boolean {
  return seen.every(({ id, other }) => set.get(id) === other);
}
