import type { Scope } from '../model/ids.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { ComponentRecord, PortRecord } from './component/wire.ts';
import type { CertificateRecord, RuleRecord } from './http-gateway-rule/wire.ts';
import type { InstalledModel } from './store-install/wire.ts';
import type { Readable } from '../model/reading.ts';

/** One component as it was read. */
export interface LiveComponent {
  readonly serviceId: string;
  /** undefined: the server lists no components, so only the id is known, and the ports. */
  readonly record: ComponentRecord | undefined;
  readonly ports: readonly PortRecord[];
  /** `metadata.name` of the manifest that names it already. */
  readonly name?: string;
}

/** All that was read of one application to write its manifests. */
export interface LiveApplication {
  readonly scope: Scope;
  readonly name: string;
  readonly k8sApp: string | null;
  /** `metadata.name` of the manifest that names it already. */
  readonly manifestName?: string;
  readonly components: readonly LiveComponent[];
  /** `listed`: these are all there are. `named`: somebody named them. `unlisted`: the server could not be asked for others. */
  readonly extent: 'listed' | 'named' | 'unlisted';
  readonly rules: Readable<readonly RuleRecord[]>;
  /** Of the team; asked only where a rule has one. */
  readonly certificates: Readable<readonly CertificateRecord[]> | 'not-asked';
  readonly installed: Readable<readonly InstalledModel[]> | 'not-asked';
  /** By kind, what it read for itself. */
  readonly ofKinds?: ReadonlyMap<string, unknown>;
}

/** A comment and where it stands; an empty path is the document itself. */
export interface Remark {
  readonly at: readonly (string | number)[];
  readonly text: string;
}

/** One manifest that was made of what is there. */
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

/** Everything that a kind may look at to write manifests. Pure, but for what it takes: names and identities. */
export interface ExportContext {
  readonly live: LiveApplication;
  /** `metadata.name` of the Application. */
  readonly application: string;
  /** Stores of the operator's configuration, by name. */
  readonly stores: ReadonlyMap<string, { readonly domain: string }>;
  /** The store that installs come from where its name on the platform does not say it. */
  readonly store: string | undefined;
  /**
   * A name that is legible, valid and unique within the kind. An object keeps its name for the whole export.
   * @param key what the object is, within its kind.
   * @param wished as legible as may be; it need not be valid.
   * @param suffix tells it from others of that name; by default made of its key.
   */
  nameFor(kind: string, key: string, wished: string, suffix?: string): string;
  /** The name that was given to an object of another kind; undefined: it is not written. */
  nameOf(kind: string, key: string): string | undefined;
  /** Whether a manifest can hold this value, so that it is read back as it is. */
  fits(schema: JsonObject, value: Json): boolean;
  /** @returns false when an earlier document claimed this identity, of which there can be one. */
  claim(identity: string): boolean;
}

/** Writes as manifests what is there of a kind. */
export type ExportKind = (context: ExportContext) => Exported;
