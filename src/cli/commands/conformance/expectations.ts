import { type RuleField, ruleFields } from '../../../kinds/http-gateway-rule/fields.ts';
import type { PortProtocol } from '../../../kinds/component/wire.ts';
import type { RuleFields } from '../../../kinds/http-gateway-rule/wire.ts';
import { Secret } from '../../../model/secret.ts';
import type { StoreModel } from './ground.ts';

/**
 * Lists what Portolan expects of a server, as data. The conformance suite checks a server against these tables and
 * reports every row that it does not fulfil. The state afterwards counts, not the status code.
 */

/** A model that no store has. */
export const UNKNOWN_MODEL = 'conformance0no0such0model';

export const PROTOCOLS: readonly PortProtocol[] = ['http', 'tcp', 'udp', 'mysql', 'grpc'];

/** `none`: no row. `inactive`, `active`: `is_outer_service` of the rows of the port. */
export type Presence = 'none' | 'inactive' | 'active';

/** One port as a server shows it. */
export interface PortPicture {
  readonly protocol: PortProtocol;
  readonly inner: boolean;
  readonly outer: boolean;
  /** Which of the two aliases of the walk the port has. */
  readonly alias: 'first' | 'second' | 'other';
  /** Gateway rules of the port. */
  readonly rules: Presence;
  /** Stream endpoints of the port: `GET @/domains?query=tcp`. */
  readonly endpoint: Presence;
}

export const PORT_STEPS = [
  'open_inner',
  'close_inner',
  'open_outer',
  'close_outer',
  'rename',
  ...PROTOCOLS.map((protocol) => `to_${protocol}` as const),
  'delete',
] as const;
export type PortStep = (typeof PORT_STEPS)[number];

interface PortExpectation {
  readonly steps: readonly PortStep[];
  /** The ports to which the row applies. The first matching row counts. */
  readonly when?: Partial<PortPicture>;
  /**
   * The fields that change; `refused`: nothing changes, and the answer is not a success; `absent`: the port and its rules
   * are gone.
   */
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

/** Returns the state of a port after a step, according to the tables. */
export function expectedPort(before: PortPicture, step: PortStep): PortPicture | 'refused' | 'absent' {
  const row = PORT_EXPECTATIONS.find(
    ({ steps, when = {} }) =>
      steps.includes(step) && Object.entries(when).every(([key, value]) => before[key as keyof PortPicture] === value),
  );
  if (row === undefined) throw new Error(`no row of PORT_EXPECTATIONS is about ${step}`);
  return typeof row.then === 'string' ? row.then : { ...before, ...row.then };
}

/** One field of a gateway rule, with two values, and the member that shows it. */
export interface RuleFieldExpectation {
  readonly field: Exclude<keyof RuleFields, 'serviceId' | 'port' | 'open'>;
  /** Member of the record that shows the field. */
  readonly member: string;
  /** The values of creation and update. `certificate`: a certificate of the team. */
  readonly values: readonly [unknown, unknown];
  /** The two values as the record shows them, where that differs. */
  readonly shown?: readonly [unknown, unknown];
  /** Other fields that the value requires. */
  readonly with?: Partial<RuleFields>;
  /** Value after an update that leaves the field out; without this, the value stays. */
  readonly omitted?: { readonly becomes: unknown };
}

/** Returns the effect of an update on a field, and the listing that shows it, as the kind declares both. */
export function declaredOf(field: string): Pick<RuleField, 'change' | 'readBack'> {
  // The key of a rule is not a field of its kind: an update moves the rule to another key.
  return ruleFields.find(({ name }) => name === field) ?? { change: 'update', readBack: 'own listing' };
}

const [ROUND_ROBIN, AFFINITY] = ['round-robin', 'cookie-session-affinity'];

export const RULE_FIELDS: readonly RuleFieldExpectation[] = [
  { field: 'domain', member: 'domain_name', values: ['created', 'updated'] },
  { field: 'path', member: 'domain_path', values: ['/a', '/b'] },
  { field: 'weight', member: 'the_weight', values: [30, 70] },
  { field: 'cookie', member: 'domain_cookie', values: ['beta=1', 'beta=2'] },
  { field: 'header', member: 'domain_heander', values: ['X-Beta=1', 'X-Beta=2'] },
  {
    field: 'certificateId',
    member: 'certificate_id',
    values: ['certificate', undefined],
    shown: ['certificate', 0],
    omitted: { becomes: 0 },
  },
  { field: 'autoSsl', member: 'auto_ssl', values: [true, false] },
  {
    field: 'autoSslConfig',
    member: 'auto_ssl_config',
    values: ['default', 'other'],
    with: { autoSsl: true },
    omitted: { becomes: null },
  },
  {
    field: 'extensions',
    member: 'rule_extensions',
    values: [[{ key: 'lb-type', value: ROUND_ROBIN }], [{ key: 'lb-type', value: AFFINITY }]],
    shown: [`lb-type:${ROUND_ROBIN}`, `lb-type:${AFFINITY}`],
  },
  { field: 'configuration', member: 'configuration', values: [{ proxyReadTimeout: 61 }, { proxyReadTimeout: 62 }] },
];

export interface RuleVariant {
  /** The rule is for the second component. */
  readonly isOther?: true;
  readonly path?: string;
  readonly weight?: number;
  readonly hasCertificate?: true;
  readonly redirects?: true;
}

const HTTP: RuleVariant = {};
const HTTPS: RuleVariant = { hasCertificate: true };
const REDIRECT: RuleVariant = { ...HTTPS, redirects: true };

/** Pairs of rules for one domain: the server must accept the second one beside the first, or refuse it. */
export const RULE_PAIRS: readonly {
  readonly id: string;
  readonly title: string;
  readonly pair: readonly [RuleVariant, RuleVariant];
  readonly takes: 1 | 2;
}[] = [
  { id: 'duplicate', title: 'the same component, port, domain, path and protocol twice', pair: [HTTP, HTTP], takes: 1 },
  { id: 'two-paths', title: 'two paths of one domain', pair: [{ path: '/a' }, { path: '/b' }], takes: 2 },
  {
    id: 'two-components',
    title: 'one domain and path on two components, with weights',
    pair: [{ weight: 70 }, { weight: 30, isOther: true }],
    takes: 2,
  },
  { id: 'http-and-https', title: 'http and https for one domain and path', pair: [HTTP, HTTPS], takes: 2 },
  {
    id: 'redirect-over-http',
    title: 'a redirect to https where an http rule exists',
    pair: [HTTP, REDIRECT],
    takes: 1,
  },
  { id: 'under-redirect', title: 'an http rule where a rule redirects to https', pair: [REDIRECT, HTTP], takes: 1 },
];

/**
 * Installs that a store or the server refuses: no component appears, and the answer proves it. The server keeps the first
 * access key for an address and name of a store. Refused installs use other names, so that they do not break the given
 * store.
 */
export const REFUSED_INSTALLS: readonly {
  readonly id: string;
  readonly title: string;
  readonly asked: Partial<StoreModel>;
}[] = [
  {
    id: 'unknown-model',
    title: 'an install of a model that the store does not have',
    asked: { modelId: UNKNOWN_MODEL },
  },
  {
    id: 'unknown-version',
    title: 'an install of a version that the store does not have',
    asked: { version: '0.0.0-none' },
  },
  {
    id: 'refused-key',
    title: 'an install with an access key that the store refuses',
    asked: { domain: 'conformance-refused', accessKey: new Secret('conformance-wrong-key', 'conformance') },
  },
  {
    id: 'unreachable-store',
    title: 'an install from a store that cannot be reached',
    // The discard port of the server's machine: nothing answers there.
    asked: { url: 'http://127.0.0.1:9', domain: 'conformance-unreachable', accessKey: null },
  },
];
