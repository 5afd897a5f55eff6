import type { Scope } from '../model/ids.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { ComponentRecord, PortRecord } from './component/wire.ts';
import type { CertificateRecord, RuleRecord } from './http-gateway-rule/wire.ts';
import type { InstalledModel } from './store-install/wire.ts';
import type { Readable } from '../model/reading.ts';

/** A component of the platform, as it was read. */
export interface LiveComponent {
  readonly serviceId: string;
  /** undefined: the server does not list components, so only the id and the ports are known. */
  readonly record: ComponentRecord | undefined;
  readonly ports: readonly PortRecord[];
  /** `metadata.name` of the manifest that names it already, if there is one. */
  readonly name?: string;
}

/** Everything that was read of one application to write its manifests. */
export interface LiveApplication {
  readonly scope: Scope;
  readonly name: string;
  readonly k8sApp: string | null;
  /** `metadata.name` of the manifest that names it already, if there is one. */
  readonly manifestName?: string;
  readonly components: readonly LiveComponent[];
  /** `listed`: the server listed all components. `named`: the user named these. `unlisted`: the server cannot list components. */
  readonly extent: 'listed' | 'named' | 'unlisted';
  readonly rules: Readable<readonly RuleRecord[]>;
  /** The certificates of the team; read only if a rule has one. */
  readonly certificates: Readable<readonly CertificateRecord[]> | 'not-asked';
  readonly installed: Readable<readonly InstalledModel[]> | 'not-asked';
  /** The input that each kind read for itself. */
  readonly ofKinds?: ReadonlyMap<string, unknown>;
}

/** A comment and its place; an empty path is the document itself. */
export interface Remark {
  readonly at: readonly (string | number)[];
  readonly text: string;
}

/** A manifest that was made from existing resources. */
export interface ExportedDocument {
  readonly kind: string;
  readonly name: string;
  readonly spec: JsonObject;
  readonly remarks: readonly Remark[];
}

/** Everything that a kind writes of an application. */
export interface Exported {
  readonly documents: readonly ExportedDocument[];
  /** Resources that exist and could not be written, one sentence for each. They are not managed. */
  readonly left: readonly string[];
  /** Things that could not be seen, one sentence for each. */
  readonly unseen: readonly string[];
}

/** The input of an export. Pure, except that names and identities are claimed through it. */
export interface ExportContext {
  readonly live: LiveApplication;
  /** `metadata.name` of the Application. */
  readonly application: string;
  /** Stores in the operator's configuration, by name. */
  readonly stores: ReadonlyMap<string, { readonly domain: string }>;
  /** The store of installs whose store name on the platform is unknown. */
  readonly store: string | undefined;
  /**
   * Returns a name that is legible, valid and unique within the kind. An object keeps its name during an export.
   * @param key identifies the object within its kind.
   * @param preferred a legible name; it need not be valid.
   * @param suffix distinguishes it from objects of that name; by default a hash of its key.
   */
  nameFor(kind: string, key: string, preferred: string, suffix?: string): string;
  /** Returns the name that was given to an object of another kind; undefined: that object is not exported. */
  nameOf(kind: string, key: string): string | undefined;
  /** Returns whether a manifest can hold this value unchanged. */
  fits(schema: JsonObject, value: Json): boolean;
  /** @returns false when an earlier document claimed this identity, of which there can be one. */
  claim(identity: string): boolean;
}

/** Writes existing resources of a kind as manifests. */
export type ExportKind = (context: ExportContext) => Exported;
