/** `spec:` of a `kind: StoreInstall` manifest, defaults filled in. */
export interface StoreInstallSpec {
  readonly application: string;
  /** Name of the operator's `Store` document. */
  readonly store: string;
  readonly model: { readonly id: string; readonly version: string };
  /** `is_deploy`: true builds after installing; false leaves the parameter out, because any value of it builds. */
  readonly build: boolean;
  /** Needs `build: true`. */
  readonly wait?: { readonly for: 'running'; readonly timeout: string };
  /** Allows an install of a store and model that this application already has. */
  readonly allowSecondCopy: boolean;
}
