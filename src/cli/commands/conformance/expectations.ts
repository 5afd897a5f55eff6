import { type RuleField, ruleFields } from '../../../kinds/http-gateway-rule/fields.ts';
import type { PortProtocol } from '../../../model/observed.ts';
import type { RuleFields } from '../../../platform/rule-wire.ts';

/**
 * What Portolan expects of a server, as data. The conformance suite walks these tables against a server and reports every
 * row that the server does not fulfil; the state afterwards counts, not the status code.
 */

export const PROTOCOLS: readonly PortProtocol[] = ['http', 'tcp', 'udp', 'mysql', 'grpc'];

/** `none`: no row. `inactive`, `active`: `is_outer_service` of the rows of the port. */
export type Presence = 'none' | 'inactive' | 'active';

/** What a server shows of one port. */
export interface PortPicture {
  readonly protocol: PortProtocol;
  readonly inner: boolean;
  readonly outer: boolean;
  /** Which of the two aliases of the walk it has. */
  readonly alias: 'first' | 'second' | 'other';
  /** Gateway rules of the port. */
  readonly rules: Presence;
  /** Stream endpoints of the port: `GET @/domains?query=tcp`. */
  readonly endpoint: Presence;
}

export type PortStep =
  | 'open_inner'
  | 'close_inner'
  | 'open_outer'
  | 'close_outer'
  | 'rename'
  | 'delete'
  | `to_${PortProtocol}`;

export const PORT_STEPS: readonly PortStep[] = [
  'open_inner',
  'close_inner',
  'open_outer',
  'close_outer',
  'rename',
  ...PROTOCOLS.map((protocol) => `to_${protocol}` as const),
  'delete',
];

export interface PortExpectation {
  readonly steps: readonly PortStep[];
  /** The row applies to ports like this. The first row that applies counts. */
  readonly when?: Partial<PortPicture>;
  /** What changes; `refused`: nothing does, and the answer is not a success; `absent`: the port and its rules are gone. */
  readonly then: Partial<PortPicture> | 'refused' | 'absent';
}

const STREAMS = ['to_tcp', 'to_udp', 'to_mysql', 'to_grpc'] as const;

export const PORT_EXPECTATIONS: readonly PortExpectation[] = [
  { steps: ['open_inner'], then: { inner: true } },
  { steps: ['close_inner'], when: { outer: true }, then: 'refused' },
  { steps: ['close_inner'], then: { inner: false } },
  { steps: ['open_outer'], when: { inner: false }, then: 'refused' },
  { steps: ['open_outer'], when: { protocol: 'http' }, then: { outer: true, rules: 'active' } },
  { steps: ['open_outer'], then: { outer: true, endpoint: 'active' } },
  { steps: ['close_outer'], when: { protocol: 'http', rules: 'active' }, then: { outer: false, rules: 'inactive' } },
  { steps: ['close_outer'], when: { protocol: 'http' }, then: { outer: false } },
  { steps: ['close_outer'], when: { endpoint: 'active' }, then: { outer: false, endpoint: 'inactive' } },
  { steps: ['close_outer'], then: { outer: false } },
  { steps: ['rename'], when: { alias: 'first' }, then: { alias: 'second' } },
  { steps: ['rename'], then: { alias: 'first' } },
  { steps: ['to_http'], then: { protocol: 'http' } },
  { steps: STREAMS, when: { outer: true }, then: 'refused' },
  ...STREAMS.map((step) => ({ steps: [step], then: { protocol: step.slice(3) as PortProtocol } })),
  { steps: ['delete'], when: { inner: true }, then: 'refused' },
  { steps: ['delete'], when: { outer: true }, then: 'refused' },
  { steps: ['delete'], then: 'absent' },
];

/** What the tables say a step makes of a port. */
export function expectedPort(before: PortPicture, step: PortStep): PortPicture | 'refused' | 'absent' {
  const row = PORT_EXPECTATIONS.find(
    ({ steps, when = {} }) =>
      steps.includes(step) && Object.entries(when).every(([key, value]) => before[key as keyof PortPicture] === value),
  );
  if (row === undefined) throw new Error(`no row of PORT_EXPECTATIONS is about ${step}`);
  return typeof row.then === 'string' ? row.then : { ...before, ...row.then };
}

/** One field of a gateway rule, with two values for it, and where the server shows it. */
export interface RuleFieldExpectation {
  readonly field: Exclude<keyof RuleFields, 'serviceId' | 'port' | 'open'>;
  /** Fields that the value needs beside it. */
  readonly with?: Partial<RuleFields>;
  /** `certificate`: a certificate of the team, or none. */
  readonly created: RuleFields[RuleFieldExpectation['field']];
  readonly updated: RuleFields[RuleFieldExpectation['field']];
  /** Member of the record that shows it. */
  readonly member: string;
  /** As the record shows it, where that is not the value itself. */
  readonly shown?: { readonly created?: unknown; readonly updated?: unknown };
  /** What an update that leaves the field out makes of it: the value stays, or it becomes this. */
  readonly omitted: 'stays' | { readonly becomes: unknown };
}

/** What an update makes of a field, and which listing shows it: as the kind itself declares both. */
export function declaredOf(field: string): Pick<RuleField, 'update' | 'shownBy'> {
  // The key of a rule is no field of its kind: an update moves the rule to another key.
  return ruleFields.find(({ name }) => name === field) ?? { update: 'changes', shownBy: 'own-listing' };
}

export const RULE_FIELDS: readonly RuleFieldExpectation[] = [
  { field: 'domain', created: 'created', updated: 'updated', member: 'domain_name', omitted: 'stays' },
  { field: 'path', created: '/a', updated: '/b', member: 'domain_path', omitted: 'stays' },
  { field: 'weight', created: 30, updated: 70, member: 'the_weight', omitted: 'stays' },
  { field: 'cookie', created: 'beta=1', updated: 'beta=2', member: 'domain_cookie', omitted: 'stays' },
  { field: 'header', created: 'X-Beta=1', updated: 'X-Beta=2', member: 'domain_heander', omitted: 'stays' },
  {
    field: 'certificateId',
    created: 'certificate',
    updated: undefined,
    member: 'certificate_id',
    shown: { updated: 0 },
    omitted: { becomes: 0 },
  },
  { field: 'autoSsl', created: true, updated: false, member: 'auto_ssl', omitted: 'stays' },
  {
    field: 'autoSslConfig',
    with: { autoSsl: true },
    created: 'default',
    updated: 'other',
    member: 'auto_ssl_config',
    omitted: { becomes: null },
  },
  {
    field: 'extensions',
    created: [{ key: 'lb-type', value: 'round-robin' }],
    updated: [{ key: 'lb-type', value: 'cookie-session-affinity' }],
    member: 'rule_extensions',
    shown: { created: 'lb-type:round-robin', updated: 'lb-type:cookie-session-affinity' },
    omitted: 'stays',
  },
  {
    field: 'configuration',
    created: { proxyReadTimeout: 61 },
    updated: { proxyReadTimeout: 62 },
    member: 'configuration',
    omitted: 'stays',
  },
];

/** Requests for a rule that a server must refuse, or take beside another. */
export interface RulePairExpectation {
  readonly id: string;
  readonly title: string;
  readonly first: RuleVariant;
  readonly second: RuleVariant;
  readonly then: 'both' | 'first-only';
}

export interface RuleVariant {
  readonly component: 'first' | 'second';
  readonly path?: string;
  readonly weight?: number;
  readonly certificate?: true;
  readonly redirects?: true;
}

export const RULE_PAIRS: readonly RulePairExpectation[] = [
  {
    id: 'duplicate',
    title: 'the same component, port, domain, path and protocol twice',
    first: { component: 'first' },
    second: { component: 'first' },
    then: 'first-only',
  },
  {
    id: 'two-paths',
    title: 'two paths of one domain',
    first: { component: 'first', path: '/a' },
    second: { component: 'first', path: '/b' },
    then: 'both',
  },
  {
    id: 'two-components',
    title: 'one domain and path on two components, with weights',
    first: { component: 'first', weight: 70 },
    second: { component: 'second', weight: 30 },
    then: 'both',
  },
  {
    id: 'http-and-https',
    title: 'http and https for one domain and path',
    first: { component: 'first' },
    second: { component: 'first', certificate: true },
    then: 'both',
  },
  {
    id: 'redirect-over-http',
    title: 'a redirect to https where an http rule exists',
    first: { component: 'first' },
    second: { component: 'first', certificate: true, redirects: true },
    then: 'first-only',
  },
  {
    id: 'under-redirect',
    title: 'an http rule where a rule redirects to https',
    first: { component: 'first', certificate: true, redirects: true },
    second: { component: 'first' },
    then: 'first-only',
  },
];

/** An install that a store or the server refuses: no component appears, and Portolan can tell that from the answer. */
export interface InstallExpectation {
  readonly id: 'unknown-model' | 'unknown-version' | 'refused-key' | 'unreachable-store';
  readonly title: string;
}

export const REFUSED_INSTALLS: readonly InstallExpectation[] = [
  { id: 'unknown-model', title: 'an install of a model that the store does not have' },
  { id: 'unknown-version', title: 'an install of a version that the store does not have' },
  { id: 'refused-key', title: 'an install with an access key that the store refuses' },
  { id: 'unreachable-store', title: 'an install from a store that cannot be reached' },
];
