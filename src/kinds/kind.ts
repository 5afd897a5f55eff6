import type { FieldEffect } from './field-effects.ts';
import type { ResourceId } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { DesiredState, Resource } from '../model/resource.ts';

/** A reference from one document to another, checked offline. */
export interface Reference {
  /** Where it stands in the document: `spec.application`. */
  readonly path: string;
  readonly to: ResourceId;
  /** `operator`: the target is a document of the operator's configuration (Platform, Store). */
  readonly trust: 'manifest' | 'operator';
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
  /** One sentence, for schemas and `explain`. */
  readonly description: string;
  /** `metadata.name` of a document that has none. Absent: the name must be given. */
  readonly defaultName?: string;
  /** What a server does with each field of `spec` once the object exists; empty for configuration, which nothing reconciles. */
  readonly effects: readonly FieldEffect[];
  /** JSON Schema 2020-12 of `spec`, with a description on every field and defaults where the type promises them. */
  readonly specSchema: JsonObject;
  /** Valid documents that show every field there is, for schemas and `explain`; the first is the one to begin with. */
  readonly examples: readonly JsonObject[];
  references(spec: Spec): readonly Reference[];
  /** Rules that a schema cannot say, within the document and across the set. */
  check(resource: Resource<Spec>, set: OtherResources): readonly SpecProblem[];
  identities(resource: Resource<Spec>, set: OtherResources): readonly Identity[];
}
