import type { FieldEffect } from './field-effects.ts';
import { type ResourceId, resourceId } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { DesiredState, Resource } from '../model/resource.ts';

/** A reference from one document to another, checked offline. */
export interface Reference {
  /** Where it stands in the document: `spec.application`. */
  readonly path: string;
  readonly to: ResourceId;
}

/** A fault that a kind's own rules found. The loader adds file, line and column from the path. */
export interface SpecProblem {
  /** Stable, `kind/what`: `component/duplicate-alias`. */
  readonly code: string;
  /** `spec.ports[1].alias` */
  readonly path: string;
  readonly message: string;
  readonly expected?: string | undefined;
  readonly hint?: string | undefined;
}

/** Two documents that claim one identity are an error at the second one. */
export interface Identity {
  /** `rule shop/shop-web:8080 www.shop.example.com/`: unique within the source, and readable in the message. */
  readonly key: string;
  readonly path: string;
}

/**
 * The other resources of the source, by id and in no other way: what was asked for is noted, and a verdict holds until one
 * of those answers changes.
 */
export type OtherResources = Pick<DesiredState, 'get'>;

/** Kinds of documents, by `kind`. Passed in by whoever starts the program, so that a kind is added in one place. */
export type Declarations = ReadonlyMap<string, KindDeclaration<unknown>>;

/** What a manifest of a kind may say: everything the loader needs, all of it pure. */
export interface KindDeclaration<Spec> {
  readonly kind: string;
  /** `operator`: only in the configuration file; in a source it is an error. */
  readonly trust: 'manifest' | 'operator';
  /** `metadata.name` of a document that has none. Absent: the name must be given. */
  readonly defaultName?: string;
  /** What a server does with each field of `spec` once the object exists; empty for configuration, which nothing reconciles. */
  readonly effects: readonly FieldEffect[];
  /** JSON Schema 2020-12 of `spec`, with a description of the kind and of every field, and defaults where the type promises them. */
  readonly specSchema: JsonObject & { readonly description: string };
  /** Valid documents that show every field there is, for schemas and `explain`; the first is the one to begin with. */
  readonly examples: readonly JsonObject[];
  /** Kinds of the documents that a spec names, by the fields that name them: `{ 'spec.application': 'Application' }`. */
  readonly references?: Readonly<Record<string, string>>;
  /** Rules that a schema cannot say, within the document and across the set. */
  check?(resource: Resource<Spec>, set: OtherResources): readonly SpecProblem[];
  identities?(resource: Resource<Spec>, set: OtherResources): readonly Identity[];
}

/** Returns the documents that a spec refers to; fields that it leaves out refer to none. */
export function referencesOf(
  { references = {} }: Pick<KindDeclaration<never>, 'references'>,
  spec: unknown,
): readonly Reference[] {
  return Object.entries(references).flatMap(([path, kind]) => {
    const name = path
      .split('.')
      .reduce<unknown>((value, step) => (isRecord(value) ? value[step] : undefined), { spec });
    return typeof name === 'string' ? [{ path, to: resourceId(kind, name) }] : [];
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
