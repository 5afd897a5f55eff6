import type { FieldEffect } from './field-effects.ts';
import { type ResourceId, resourceId } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { DesiredState, Resource } from '../model/resource.ts';

/** A reference from one document to another. It is checked offline. */
export interface Reference {
  /** The field that contains it: `spec.application`. */
  readonly path: string;
  readonly to: ResourceId;
}

/** A violation of a kind's own rules. The loader adds file, line and column. */
export interface SpecProblem {
  /** Stable, `kind/what`: `component/duplicate-alias`. */
  readonly code: string;
  /** `spec.ports[1].alias` */
  readonly path: string;
  readonly message: string;
  readonly expected?: string | undefined;
  readonly hint?: string | undefined;
  /** Offset of the fault in the text of a scalar, in UTF-16 code units. Absent: the whole value is at fault. */
  readonly at?: number | undefined;
}

/** A claim that only one document may make. The second document that makes it is reported as an error. */
export interface Identity {
  /** `rule shop/shop-web:8080 www.shop.example.com/`: unique within the source, and readable in the message. */
  readonly key: string;
  readonly path: string;
}

/**
 * The other resources of the source, by id only. The loader notes each lookup, so that a judgement stays valid until one of
 * the answers changes.
 */
export type OtherResources = Pick<DesiredState, 'get'>;

/** The facts of the operator's configuration that decide what a plan refuses. */
export interface Foresight {
  /** Patterns team/region/app of `spec.scopes.allow`. */
  readonly allowedScopes: readonly string[];
  /** Returns whether a platform is configured to have only the documented endpoints. */
  isDocumented(platform: string): boolean;
}

/** Kinds of documents, by `kind`. `main.ts` passes them in, so that a kind is added in one place. */
export type Declarations = ReadonlyMap<string, KindDeclaration<unknown>>;

/** Everything that the loader needs to check documents of a kind. All of it is pure. */
export interface KindDeclaration<Spec> {
  readonly kind: string;
  /** `operator`: allowed only in the configuration file. */
  readonly trust: 'manifest' | 'operator';
  /** `metadata.name` of a document without one. Absent: the name is required. */
  readonly defaultName?: string;
  /** The effect of each field of `spec` once the object exists; empty for configuration, which is not reconciled. */
  readonly effects: readonly FieldEffect[];
  /** JSON Schema 2020-12 of `spec`, with a description of the kind and of every field, and defaults where the type promises them. */
  readonly specSchema: JsonObject & { readonly description: string };
  /** Valid documents that together contain every field, for schemas and `explain`. The first one is for beginners. */
  readonly examples: readonly JsonObject[];
  /** Kinds of the documents that a spec names, by the fields that name them: `{ 'spec.application': 'Application' }`. */
  readonly references?: Readonly<Record<string, string>>;
  /** Checks rules that a schema cannot express, within the document and across documents. */
  check?(resource: Resource<Spec>, set: OtherResources): readonly SpecProblem[];
  /** Returns what a plan holds or refuses whatever the platform says. Only `validate` reports it. */
  foresee?(resource: Resource<Spec>, set: OtherResources, foresight: Foresight): readonly SpecProblem[];
  /** Returns the claims of the document. */
  identities?(resource: Resource<Spec>, set: OtherResources): readonly Identity[];
}

/** Returns the references of a spec to other documents. */
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
