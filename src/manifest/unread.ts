import { kindName, type ResourceId } from '../model/ids.ts';

/** Describes a part of the files whose document is not known: its kind or its name could not be read. */
export interface UnreadPart {
  /** Undefined: it could be of any kind. */
  readonly kind: string | undefined;
  /** Undefined: it could have any name that its text contains. */
  readonly name: string | undefined;
  text(): string;
}

/** All parts that could not be read; `anything` if even their text is not known. */
export type Unread = readonly UnreadPart[] | 'anything';

/** The words of a text that can be names of resources. */
const NAMES = /[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/g;

/**
 * Returns which of the missing resources could be declared in parts that were not read. A reference to one of them may be
 * right, so it is not reported as a fault.
 */
export function possiblyDeclared(missing: ReadonlySet<ResourceId>, unread: Unread): ReadonlySet<ResourceId> {
  if (unread === 'anything') return missing;
  const possible = new Set<ResourceId>();
  if (missing.size === 0) return possible;
  const byName = Map.groupBy(missing, (id) => id.slice(kindName(id).length + 1));
  for (const part of unread) {
    const isOfKind = (id: ResourceId): boolean => part.kind === undefined || kindName(id) === part.kind;
    for (const name of namesIn(part, byName))
      for (const id of byName.get(name) ?? []) if (isOfKind(id)) possible.add(id);
  }
  return possible;
}

function namesIn({ name, text }: UnreadPart, wanted: ReadonlyMap<string, unknown>): Iterable<string> {
  if (name !== undefined) return [name];
  const content = text();
  // The name may be the value of a variable.
  if (content.includes('${')) return wanted.keys();
  return new Set([...content.matchAll(NAMES)].flatMap(([word]) => (wanted.has(word) ? word : [])));
}
