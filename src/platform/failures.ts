import { type Disposition, PortolanError } from '../model/errors.ts';
import type { Expected } from '../model/reading.ts';
import { type Answer, safeText } from './answer.ts';
import { isForeignRefusal, notTheApi } from './foreign.ts';
import { isNotTls } from './tls-words.ts';
import type { TransportError } from './transport.ts';

/** The meaning of an answer. The first row that fits applies. */
interface Meaning {
  readonly fits: (answer: Answer) => boolean;
  readonly code: string;
  readonly disposition: Disposition;
  /** Follows the facts in the message. Empty if the facts are clear. */
  readonly meaning: string;
  readonly remedy: string;
}

const MAY_PASS = 'It may pass. If it stays, check the platform’s own log for this time.';
const COMPONENT_FIELDS = 'spec.serviceId of the Component, or spec.appId';

/** `msg_show` of the platform where its application store fails. Only the store's own refusals have codes of their own. */
const STORE_FAILURES = ['资源不存在', '请求失败，请检查网络和配置', '获取数据失败，参数错误'];
const STORE_UNREADABLE = 'store return data can`t be serializer';

/** Failures of the platform's application store; neither the token nor `spec.url` of the Platform is wrong. */
const STORE_MEANINGS: readonly Meaning[] = [
  {
    fits: ({ isOwnError, code }) => isOwnError && (code === 10_407 || code === 10_421),
    code: 'platform/store-credentials',
    disposition: 'retry',
    meaning: 'the application store refused the access key that the platform has for it',
    remedy:
      'Correct the access key of the store in the console. The platform keeps the first key that it gets for the address of a store.',
  },
  {
    fits: ({ isOwnError, msg, shown }) => isOwnError && (STORE_FAILURES.includes(shown) || msg === STORE_UNREADABLE),
    code: 'platform/store-failed',
    disposition: 'retry',
    meaning: 'the platform could not read its application store',
    remedy: 'Check that the application store runs and that the platform can reach it.',
  },
];

const MEANINGS: readonly Meaning[] = [
  ...STORE_MEANINGS,
  {
    fits: ({ status, isJson }) => status < 300 && !isJson,
    code: 'platform/not-json',
    disposition: 'give-up',
    meaning: 'the API answers in JSON',
    remedy:
      'Check that spec.url of the Platform is the API’s base URL, and that no proxy or login page answers in its place.',
  },
  {
    fits: ({ status }) => status < 300,
    code: 'platform/refused',
    disposition: 'retry',
    meaning: 'the platform reports a failure',
    remedy: MAY_PASS,
  },
  {
    fits: ({ status }) => status < 400,
    code: 'platform/redirect',
    disposition: 'give-up',
    meaning: 'redirects are not followed, because the token must not travel to another address',
    remedy:
      'Set spec.url of the Platform to the address that answers itself: https:// in place of http://, without a slash at the end.',
  },
  {
    fits: ({ status }) => status === 403,
    code: 'platform/forbidden',
    disposition: 'unreachable',
    meaning: 'the token is known and may not do this',
    remedy: 'Give the token’s user the permission, or set spec.auth.value of the Platform to a token that has it.',
  },
  {
    fits: ({ status, code }) => status === 401 && code === 10_400,
    code: 'platform/region-licence',
    disposition: 'unreachable',
    meaning: 'the region’s licence, not the token',
    remedy: 'Renew the licence of the region on the platform.',
  },
  {
    fits: ({ status }) => status === 401,
    code: 'platform/credentials',
    disposition: 'unreachable',
    meaning: 'the token is missing, wrong or expired',
    remedy:
      'Renew the token that spec.auth.value of the Platform refers to. The raw token is the whole header value: no “Bearer”.',
  },
  {
    fits: ({ status, code }) => status === 409 && code === 2001,
    code: 'platform/region-not-ready',
    disposition: 'retry',
    meaning: 'the region is not enabled, or the team is not set up in it',
    remedy: 'Enable the region, or set the team up in it; nothing is written to it until then.',
  },
  unknown('region', 'spec.region', ({ code }) => code === 3000),
  unknown('team', 'spec.team', ({ msg, code }) => msg === 'no found team' || code === 2000),
  unknown('application', 'spec.appId', ({ msg }) => msg === 'no found app'),
  {
    ...unknown('component', 'spec.serviceId of the Component', ({ msg }) => msg === 'component not belong to this app'),
    meaning: 'it belongs to another application',
  },
  unknown('component', COMPONENT_FIELDS, ({ msg, code }) => msg === 'no found component' || code === 4000),
];

/** Returns the row for a missing part of the address. */
function unknown(what: string, field: string, fits: Meaning['fits']): Meaning {
  return {
    fits: (answer) => answer.status === 404 && fits(answer),
    code: `platform/unknown-${what}`,
    disposition: 'give-up',
    meaning: `the platform has no such ${what}`,
    remedy: `Correct ${field} of the Application manifest, or create the ${what} on the platform.`,
  };
}

/** Returns the error of a read without a successful answer. `where`: method and URL. */
export function failedRead(where: string, answer: Answer, expected?: Expected): PortolanError {
  // 401 and 403 of a gateway in front of the platform are about the token, too.
  const isMissing = answer.status === 404 || answer.status === 405 || answer.status === 400;
  if (expected !== undefined && isMissing && isForeignRefusal(answer)) return notTheApi(where, expected, answer);
  const { code, disposition, meaning, remedy } = MEANINGS.find(({ fits }) => fits(answer)) ?? otherMeaning(answer);
  const { status, summary } = answer;
  const facts = `${where}: HTTP ${status}${summary.code === undefined || summary.code === status ? '' : `, code ${summary.code}`}: ${summary.message}`;
  return new PortolanError({ code, disposition, message: meaning === '' ? facts : `${facts} (${meaning})`, remedy });
}

/** Returns the error of a read that failed because of the platform's application store; undefined: another failure. */
export function storeFailure(where: string, answer: Answer): PortolanError | undefined {
  return STORE_MEANINGS.some(({ fits }) => fits(answer)) ? failedRead(where, answer) : undefined;
}

function otherMeaning(answer: Answer): Omit<Meaning, 'fits'> {
  const { status, code } = answer;
  const passes = status >= 500 || status === 408 || status === 429 || status === 409;
  // A real server answers 400 when the cluster behind it cannot be reached or has no room.
  const isCluster = answer.fromCluster || code === 10_411 || code === 10_406;
  if (passes || isCluster) {
    return {
      code: status === 429 || status === 409 ? 'platform/busy' : 'platform/server-error',
      disposition: 'retry',
      meaning: isCluster ? 'the cluster behind the platform failed' : '',
      remedy: MAY_PASS,
    };
  }
  return {
    code: status === 404 ? 'platform/not-found' : 'platform/refused',
    disposition: 'give-up',
    meaning: '',
    remedy: 'Check spec.url of the Platform and the addresses in the Application manifest against the platform.',
  };
}

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'Check that the platform runs, and that host and port of spec.url of the Platform are right.'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'Check the host name in spec.url of the Platform and the DNS of this machine.'],
  [
    /CERT|SIGNATURE|ISSUER|^ERR_TLS|^ERR_SSL|^EPROTO$/,
    'Check the certificate of the platform. For one of your own authority, set spec.tls.caFile of the Platform to its PEM file.',
  ],
  [/^TOO_LARGE$/, 'The answer is larger than any real one; check that spec.url of the Platform is the API’s base URL.'],
];

const PLAIN_HTTP_REMEDY =
  'If the platform has no TLS there, write http:// in spec.url of the Platform (another machine needs allowPlainHttp: true). Else correct its port.';

/** Returns the error of a read that got no complete answer. */
export function unanswered(where: string, error: TransportError): PortolanError {
  const known = REMEDIES.find(([pattern]) => pattern.test(error.code));
  return new PortolanError({
    code: error.code === 'TOO_LARGE' ? 'platform/too-large' : 'platform/unreachable',
    disposition: error.code === 'TOO_LARGE' ? 'give-up' : 'unreachable',
    message: `${where}: ${safeText(error.message)} (${error.code})`,
    remedy: isNotTls(error.code)
      ? PLAIN_HTTP_REMEDY
      : (known?.[1] ?? 'Check the network between here and the platform.'),
    cause: error,
  });
}

/** Returns the error for `dialect: extended` if the server does not have an endpoint of it. */
export function missingCapability(where: string, answer: Answer): PortolanError {
  return new PortolanError({
    code: 'platform/capability-missing',
    disposition: 'give-up',
    message: `${where}: HTTP ${answer.status}: ${answer.summary.message} (the server has no such endpoint, though its dialect is set to extended)`,
    remedy: 'Set spec.dialect of the Platform to auto or documented.',
  });
}

/** Returns the error of a read that was cancelled because the process stops. */
export function stopped(where: string): PortolanError {
  return new PortolanError({
    code: 'platform/stopped',
    disposition: 'retry',
    message: `${where}: given up because the process is stopping`,
    remedy: 'Run it again.',
  });
}
