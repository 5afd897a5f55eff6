import {
  type Declarations,
  type Foresight,
  type Identity,
  type KindDeclaration,
  type OtherResources,
  type Reference,
  referencesOf,
  type SpecProblem,
} from '../kinds/kind.ts';
import { kindName, type ResourceId, resourceId } from '../model/ids.ts';
import type { Position } from '../model/problem.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import { problemAt } from '../kinds/problems.ts';
import { didYouMean } from './suggest.ts';
import { possiblyDeclared, type Unread } from './unread.ts';

/** The names of the operator's documents that manifests may refer to. */
export interface OperatorNames {
  readonly platforms: ReadonlySet<string>;
  readonly stores: ReadonlySet<string>;
}

/** A document whose kind and name are known. */
export interface Declared {
  readonly id: ResourceId;
  readonly position: Position;
  /** The resource. A document with faults has the resource without its faulty parts, if that can be checked. */
  readonly resource: Resource | undefined;
  /** False for a document with its own faults. */
  readonly sound: boolean;
  /** Whether `resource` has no faulty part. A document without it is checked, but not used to check other documents. */
  readonly isWhole: boolean;
  /** The references of a document without `resource`. */
  readonly references: readonly Reference[];
}

/** Holds the facts beside the documents. */
interface Circumstances {
  /** `undefined` leaves references to the operator's documents unchecked. */
  readonly operator: OperatorNames | undefined;
  /** Parts of the files that may declare documents. A reference to one of them is not a fault. */
  readonly unread: Unread;
  /** `undefined`: what a plan would refuse is not checked. */
  readonly foresight?: Foresight | undefined;
}

/** A fault across documents. The caller finds the position of `path` in the document. */
export interface RelationFault {
  readonly declared: Declared;
  readonly problem: SpecProblem;
}

/**
 * Checks documents against each other: ids, references, the rules of their kinds, identities.
 * @returns the whole documents, the first of each id, and the faults.
 */
export function relate(
  kinds: Declarations,
  documents: readonly Declared[],
  { operator, unread, foresight }: Circumstances,
): { readonly set: DesiredState; readonly faults: readonly RelationFault[] } {
  const faults: (RelationFault & { readonly missing?: ResourceId })[] = [];
  const byId = new Map<ResourceId, Declared>();
  for (const declared of documents) {
    const first = byId.get(declared.id);
    if (first === undefined) byId.set(declared.id, declared);
    else faults.push({ declared, problem: duplicateId(declared, first) });
  }
  const set = new Map<ResourceId, Resource>();
  for (const { id, resource, isWhole } of byId.values()) if (resource !== undefined && isWhole) set.set(id, resource);
  const claimed = new Map<string, Declared>();
  const names = namesByKind(kinds, byId, operator);
  for (const declared of byId.values()) {
    const { resource } = declared;
    const declaration = resource === undefined ? undefined : kinds.get(resource.kind);
    const judgement = resource && declaration && judge(resource, declaration, set);
    const references = judgement?.references ?? declared.references;
    for (const fault of dangling(references, byId, kinds, names)) faults.push({ declared, ...fault });
    if (resource === undefined || judgement === undefined) continue;
    const found = [
      judgement.problems,
      clashes(declared, resource, judgement, claimed),
      moves(resource, byId),
      foresight === undefined ? [] : (declaration?.foresee?.(resource, set, foresight) ?? []),
    ];
    for (const problems of found) for (const problem of problems) faults.push({ declared, problem });
  }
  const possible = possiblyDeclared(new Set(faults.flatMap(({ missing }) => missing ?? [])), unread);
  return { set, faults: faults.filter(({ missing }) => missing === undefined || !possible.has(missing)) };
}

function duplicateId({ id }: Declared, first: Declared): SpecProblem {
  return {
    code: 'document/duplicate',
    path: 'metadata.name',
    message: `${id} is already declared at ${at(first)}`,
    expected: 'one document per kind and name, in whichever file',
    hint: 'rename or delete one of the two',
  };
}

function at({ position }: Declared): string {
  return `${position.file}:${position.line}`;
}

/** Returns a function from a kind to the names that can be referred to; `undefined` for an unknown kind. */
function namesByKind(
  kinds: Declarations,
  declared: ReadonlyMap<ResourceId, Declared>,
  operator: OperatorNames | undefined,
): (kind: string) => ReadonlySet<string> | undefined {
  /** Created at the first reference to a name that is not among the documents, which is rare. */
  let names: Map<string, Set<string>> | undefined;
  return (kind) => {
    if (operator !== undefined && kind === 'Platform') return operator.platforms;
    if (operator !== undefined && kind === 'Store') return operator.stores;
    if (names === undefined) {
      names = new Map();
      for (const { kind: of, trust } of kinds.values()) if (trust === 'manifest') names.set(of, new Set());
      for (const id of declared.keys()) names.get(kindName(id))?.add(nameOf(id));
    }
    return names.get(kind);
  };
}

function nameOf(id: ResourceId): string {
  return id.slice(id.indexOf('/') + 1);
}

/** Returns faults of references to nothing. `missing`: the document that may be in a part that was not read. */
function dangling(
  references: readonly Reference[],
  declared: ReadonlyMap<ResourceId, Declared>,
  kinds: Declarations,
  namesOf: ReturnType<typeof namesByKind>,
): readonly { readonly problem: SpecProblem; readonly missing?: ResourceId }[] {
  const found: { readonly problem: SpecProblem; readonly missing?: ResourceId }[] = [];
  for (const { path, to } of references) {
    const trust = kinds.get(kindName(to))?.trust ?? 'manifest';
    if (trust === 'manifest' && declared.has(to)) continue;
    const known = namesOf(kindName(to));
    if (known === undefined || known.has(nameOf(to))) continue;
    const message = `there is no ${to} in ${trust === 'operator' ? "the operator's configuration" : 'the manifests'}`;
    const hint = didYouMean(nameOf(to), known) ?? remedy(to, trust);
    const missing = trust === 'manifest' ? { missing: to } : {};
    for (const problem of problemAt(path, 'reference/dangling', message, expectedNames(kindName(to), known), hint))
      found.push({ problem, ...missing });
  }
  return found;
}

function expectedNames(kind: string, known: ReadonlySet<string>): string {
  const article = /^[AEIOU]/.test(kind) ? 'an' : 'a';
  if (known.size === 0) return `the name of ${article} ${kind}; there is none`;
  const shown = [...known].slice(0, 8).join(', ');
  return `the name of ${article} ${kind}: ${shown}${known.size > 8 ? `, … (${known.size} in all)` : ''}`;
}

function remedy(to: ResourceId, trust: 'manifest' | 'operator'): string {
  const where =
    trust === 'operator' ? ' to the configuration file (--config)' : ', or pass the file that holds it (-f)';
  return `add a document kind: ${kindName(to)} with metadata.name: ${nameOf(to)}${where}`;
}

function clashes(
  declared: Declared,
  resource: Resource,
  { identities }: Judgement,
  claimed: Map<string, Declared>,
): readonly SpecProblem[] {
  const problems: SpecProblem[] = [];
  const movedFrom = resource.annotations['portolan/moved-from'];
  const moved = movedFrom === undefined ? [] : [{ key: `former name ${movedFrom} of a ${resource.kind}`, path: MOVED }];
  for (const { key, path } of [...identities, ...moved]) {
    const first = claimed.get(key);
    if (first === undefined) {
      claimed.set(key, declared);
      continue;
    }
    const message = `${first.id} at ${at(first)} already claims: ${key}`;
    problems.push(...problemAt(path, 'identity/claimed-twice', message, 'one document for it'));
  }
  return problems;
}

const MOVED = 'metadata.annotations["portolan/moved-from"]';

function moves(resource: Resource, byId: ReadonlyMap<ResourceId, Declared>): readonly SpecProblem[] {
  const from = resource.annotations['portolan/moved-from'];
  if (from === undefined) return [];
  const former = byId.get(resourceId(resource.kind, from));
  if (former === undefined) return [];
  const itself = from === resource.name;
  return problemAt(
    MOVED,
    'identity/moved-from',
    `${resource.id} declares that it was moved from ${itself ? 'its own name' : `${former.id}, which still exists at ${at(former)}`}`,
    'a former name that no document has now',
    itself ? 'delete the annotation' : `delete ${former.id}, or the annotation`,
  );
}

/** The checks of a resource by its kind. */
export interface Judgement {
  readonly references: readonly Reference[];
  readonly problems: readonly SpecProblem[];
  readonly identities: readonly Identity[];
  /** Ids of the other resources that the kind read, whether they exist or not; some may be there twice. */
  readonly seen: readonly ResourceId[];
}

const NOTHING: readonly never[] = [];

/**
 * Runs the checks of the kind. Pure, so that a judgement need not be kept: those of 60,000 resources take 40 MiB. A kind can read other
 * resources only by their ids, so all reads are known.
 */
export function judge(resource: Resource, declaration: KindDeclaration<unknown>, set: DesiredState): Judgement {
  const seen: ResourceId[] = [];
  const others: OtherResources = {
    get(id) {
      seen.push(id);
      return set.get(id);
    },
  };
  return {
    references: referencesOf(declaration, resource.spec),
    problems: declaration.check?.(resource, others) ?? NOTHING,
    identities: declaration.identities?.(resource, others) ?? NOTHING,
    // The checks above fill it.
    seen,
  };
}
