/** `configuration` of a rule: every field of the API's Configuration object. Write-only: no server shows it. */
export interface RuleConfigurationSpec {
  readonly proxyBodySize?: number;
  readonly proxyBufferNumbers?: number;
  readonly proxyBufferSize?: number;
  readonly proxyBuffering?: 'on' | 'off';
  readonly proxyConnectTimeout?: number;
  readonly proxyReadTimeout?: number;
  readonly proxySendTimeout?: number;
  readonly setHeaders?: readonly { readonly key: string; readonly value: string }[];
}

/** `spec:` of a `kind: HttpGatewayRule` manifest, defaults filled in. Identity: (component, port, domain, path). */
export interface HttpGatewayRuleSpec {
  readonly application: string;
  /** Name of a `Component` manifest of the same application. */
  readonly component: string;
  readonly port: number;
  readonly domain: string;
  readonly path: string;
  readonly weight?: number;
  /** `domain_cookie` */
  readonly cookie?: string;
  /** `domain_header` */
  readonly header?: string;
  readonly certificateId?: number;
  readonly autoSsl?: { readonly enabled?: boolean; readonly config?: string };
  /** `rule_extensions`. Write-only. */
  readonly extensions?: readonly { readonly key: string; readonly value: string }[];
  /** `whether_open`: creating the rule opens outer access of its port. */
  readonly openOuter?: boolean;
  readonly configuration?: RuleConfigurationSpec;
}
