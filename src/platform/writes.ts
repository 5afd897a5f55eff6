import type { WriteClass } from '../model/owned.ts';
import type { PortProtocol } from '../model/observed.ts';
import type { Secret } from '../model/secret.ts';
import type { RuleFields } from './rule-wire.ts';
import type { HttpMethod, WireObject } from './transport.ts';
import type { ClassifierRow } from './verdict.ts';

/** Where an application is, as paths need it. */
export interface AppAddress {
  readonly team: string;
  readonly region: string;
  readonly appId: number;
}

export type PortActionFields =
  | { readonly action: 'open_outer' | 'close_outer' | 'open_inner' | 'close_inner' }
  | { readonly action: 'change_protocol'; readonly protocol: PortProtocol }
  | { readonly action: 'change_port_alias'; readonly alias: string; readonly serviceName: string };

export interface PortRequestFields {
  readonly port: number;
  readonly protocol: PortProtocol;
  readonly alias?: string;
  /** Always sent: a real server requires it. */
  readonly inner: boolean;
}

/** A mutating request: one of the table of operations, or one that a kind declares. */
export type WriteRequest = ListedWrite | DeclaredWrite;

/** Every mutating request of the table of operations. `operation` is its name there. */
export type ListedWrite =
  | {
      readonly operation: 'addPort';
      readonly app: AppAddress;
      readonly serviceId: string;
      readonly port: PortRequestFields;
    }
  | {
      readonly operation: 'updatePort';
      readonly app: AppAddress;
      readonly serviceId: string;
      readonly port: number;
      readonly change: PortActionFields;
    }
  | { readonly operation: 'deletePort'; readonly app: AppAddress; readonly serviceId: string; readonly port: number }
  | { readonly operation: 'createRule'; readonly app: AppAddress; readonly rule: RuleFields }
  | { readonly operation: 'updateRule'; readonly app: AppAddress; readonly ruleId: string; readonly rule: RuleFields }
  | { readonly operation: 'deleteRule'; readonly app: AppAddress; readonly ruleId: string }
  | {
      readonly operation: 'install';
      readonly app: AppAddress;
      /** true sends `is_deploy=true`; false leaves the parameter out, because any value of it builds. */
      readonly build: boolean;
      readonly store: {
        readonly url: string;
        readonly domain: string;
        readonly type: string;
        readonly accessKey: Secret | null;
      };
      readonly modelId: string;
      readonly modelVersion: string;
    }
  | {
      readonly operation: 'upgrade';
      readonly app: AppAddress;
      readonly modelId: string;
      readonly modelVersion: string;
      /** As the listing of installed models says; null for a model of the platform's own library. */
      readonly marketName: string | null;
    }
  | {
      readonly operation: 'createApplication';
      readonly team: string;
      readonly region: string;
      readonly name: string;
      readonly k8sApp: string;
    };

export type WriteOperation = ListedWrite['operation'];

/** A write that a kind declares: how it is sent, what a repetition would do, and what its answer proves. */
export interface WriteDeclaration {
  readonly method: HttpMethod;
  readonly class: WriteClass;
  /** Below the address of the application; each is encoded. */
  readonly segments: readonly string[];
  readonly body?: WireObject;
  /**
   * What a successful answer shows of the object, for the kind.
   * @throws PortolanError `platform/schema-drift` where the answer proves nothing.
   */
  shown(json: unknown): unknown;
  /** What other answers prove; they take precedence over `classifier-table.json`. */
  readonly rows: readonly ClassifierRow[];
}

export interface DeclaredWrite {
  readonly operation: string;
  readonly app: AppAddress;
  readonly declared: WriteDeclaration;
}
