/** A secret by reference; an inline one is an error. */
export type SecretReference = { readonly env: string } | { readonly file: string };

/** `spec:` of the operator's `kind: Platform`, defaults filled in. */
export interface PlatformSpec {
  readonly url: string;
  /** Authentication is not documented: header and value are free. */
  readonly auth?: { readonly header: string; readonly value: SecretReference };
  readonly dialect: 'auto' | 'documented' | 'extended';
  readonly tls?: { readonly caFile?: string };
  readonly limits: {
    readonly concurrency: number;
    readonly requestsPerSecond: number;
    /** Of reads; writes have their own. */
    readonly timeout: string;
  };
  /** http:// to anything but loopback needs this, and warns. */
  readonly allowPlainHttp: boolean;
}
