import { type RuleField, ruleFields } from '../../../kinds/http-gateway-rule/fields.ts';
import type { PortProtocol } from '../../../kinds/component/wire.ts';
import type { RuleFields } from '../../../kinds/http-gateway-rule/wire.ts';
import { Secret } from '../../../model/secret.ts';
import type { StoreModel } from './ground.ts';

/**
 * What Portolan expects of a server, as data. The conformance suite walks these tables against a server and reports every
 * row that the server does not fulfil; the state afterwards counts, not the status code.
 */

/** No store has it. */
export const UNKNOWN_MODEL = 'conformance0no0such0model';

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
  /** Member of the record that shows it. */
  readonly member: string;
  /** What it is created with and what it is updated to. `certificate`: a certificate of the team. */
  readonly values: readonly [unknown, unknown];
  /** As the record shows the two values, where that is not the values themselves. */
  readonly shown?: readonly [unknown, unknown];
  /** Fields that the value needs beside it. */
  readonly with?: Partial<RuleFields>;
  /** What an update that leaves the field out makes of it; without this the value stays. */
  readonly omitted?: { readonly becomes: unknown };
}

/** What an update makes of a field, and which listing shows it: as the kind itself declares both. */
export function declaredOf(field: string): Pick<RuleField, 'update' | 'shownBy'> {
  // The key of a rule is no field of its kind: an update moves the rule to another key.
  return ruleFields.find(({ name }) => name === field) ?? { update: 'changes', shownBy: 'own-listing' };
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
  /** On the second component. */
  readonly isOther?: true;
  readonly path?: string;
  readonly weight?: number;
  readonly hasCertificate?: true;
  readonly redirects?: true;
}

const HTTP: RuleVariant = {};
const HTTPS: RuleVariant = { hasCertificate: true };
const REDIRECT: RuleVariant = { ...HTTPS, redirects: true };

/** Requests for two rules of one domain: the server must take the second beside the first, or refuse it. */
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
 * Installs that a store or the server refuses: no component appears, and Portolan can tell that from the answer. The server
 * keeps the first key that it sees of an address and name of a store: what is refused goes under a name of its own, so that
 * nothing of the given store is spoilt.
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
    // The discard port, as the server sees it: nothing answers there.
    asked: { url: 'http://127.0.0.1:9', domain: 'conformance-unreachable', accessKey: null },
  },
];
