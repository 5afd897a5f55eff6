/** `spec:` of a `kind: Application` manifest, defaults filled in. It anchors the others and creates nothing. */
export interface ApplicationSpec {
  /** Name of the operator's `Platform` document. */
  readonly platform: string;
  readonly team: string;
  readonly region: string;
  /** Exactly one of `appId` and `app`; `app` is the application's name and needs the extended dialect. */
  readonly appId?: number;
  readonly app?: string;
}
