/** `spec:` of the operator's `kind: Settings`, defaults filled in; at most one document. */
export interface SettingsSpec {
  /** `team/region/app` patterns of resolved values, `*` for any; nothing else may be touched. */
  readonly scopes: { readonly allow: readonly string[] };
  readonly prune: { readonly enabled: boolean; readonly maxShare: number; readonly maxObjects: number };
  /** How long after an ambiguous write nothing is concluded or sent again. */
  readonly settle: {
    /** Port PUT, rule PUT, deletes. Default 90s. */
    readonly targetState: string;
    /** Port and rule POST. Default 5m. */
    readonly creation: string;
    /** Installs and upgrades. Default 20m. */
    readonly install: string;
  };
  /** Documented dialect: may the component count settle an install in doubt? `hold` (default) asks a person. */
  readonly installs: { readonly ambiguous: 'hold' | 'evidence' };
}
