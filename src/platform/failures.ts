import { type Disposition, PortolanError } from '../model/errors.ts';
import type { Expected } from '../model/reading.ts';
import { type Answer, safeText } from './answer.ts';
import { isForeignRefusal, notTheApi } from './foreign.ts';
import { isNotTls } from './tls-words.ts';
import type { TransportError } from './transport.ts';

interface Words {
  readonly code: string;
  readonly disposition: Disposition;
  /** What it means, after the facts. Empty where the facts say it. */
  readonly meaning: string;
  readonly remedy: string;
}

/** The error of a read that the platform answered with something else than success. `where`: method and URL. */
export function failedRead(where: string, answer: Answer, expected?: Expected): PortolanError {
  // 401 and 403 of a gateway in front of the platform are about the token all the same.
  const isMissing = answer.status === 404 || answer.status === 405 || answer.status === 400;
  if (expected !== undefined && isMissing && isForeignRefusal(answer)) return notTheApi(where, expected, answer);
  const { code, disposition, meaning, remedy } = wordsFor(answer);
  const { status, summary } = answer;
  const facts = `${where}: HTTP ${status}${summary.code === undefined || summary.code === status ? '' : `, code ${summary.code}`}: ${summary.message}`;
  return new PortolanError({ code, disposition, message: meaning === '' ? facts : `${facts} (${meaning})`, remedy });
}

function wordsFor(answer: Answer): Words {
  const { status } = answer;
  const store = storeWords(answer);
  if (store !== undefined) return store;
  if (status >= 200 && status < 300) return successWords(answer);
  if (status >= 300 && status < 400) {
    return {
      code: 'platform/redirect',
      disposition: 'give-up',
      meaning: 'redirects are not followed, because the token must not travel to another address',
      remedy:
        'Set spec.url of the Platform to the address that answers itself: https:// in place of http://, without a slash at the end.',
    };
  }
  if (status === 401 || status === 403) return credentialWords(answer);
  if (status === 404 || status === 409) return placeWords(answer) ?? otherWords(answer);
  return otherWords(answer);
}

function successWords(answer: Answer): Words {
  if (!answer.isJson) {
    return {
      code: 'platform/not-json',
      disposition: 'give-up',
      meaning: 'the API answers in JSON',
      remedy:
        'Check that spec.url of the Platform is the API’s base URL, and that no proxy or login page answers in its place.',
    };
  }
  return {
    code: 'platform/refused',
    disposition: 'retry',
    meaning: 'the platform reports a failure',
    remedy: 'It may pass. If it stays, check the platform’s own log for this time.',
  };
}

function credentialWords(answer: Answer): Words {
  if (answer.status === 403) {
    return {
      code: 'platform/forbidden',
      disposition: 'unreachable',
      meaning: 'the token is known and may not do this',
      remedy: 'Give the token’s user the permission, or set spec.auth.value of the Platform to a token that has it.',
    };
  }
  if (answer.code === 10_400) {
    return {
      code: 'platform/region-licence',
      disposition: 'unreachable',
      meaning: 'the region’s licence, not the token',
      remedy: 'Renew the licence of the region on the platform.',
    };
  }
  return {
    code: 'platform/credentials',
    disposition: 'unreachable',
    meaning: 'the token is missing, wrong or expired',
    remedy:
      'Renew the token that spec.auth.value of the Platform refers to. The raw token is the whole header value: no “Bearer”.',
  };
}

/** `msg_show` of the platform where its application store fails. Only the store's own refusals have codes of their own. */
const STORE_FAILURES = ['资源不存在', '请求失败，请检查网络和配置', '获取数据失败，参数错误'];
const STORE_UNREADABLE = 'store return data can`t be serializer';

/** What the platform could not get from its application store: neither the token nor `spec.url` of the Platform is wrong. */
function storeWords({ isOwnError, code, msg, shown }: Answer): Words | undefined {
  if (!isOwnError) return undefined;
  if (code === 10_407 || code === 10_421) {
    return {
      code: 'platform/store-credentials',
      disposition: 'retry',
      meaning: 'the application store refused the access key that the platform has for it',
      remedy:
        'Correct the access key of the store in the console. The platform keeps the first key that it gets for the address of a store.',
    };
  }
  if (!STORE_FAILURES.includes(shown) && msg !== STORE_UNREADABLE) return undefined;
  return {
    code: 'platform/store-failed',
    disposition: 'retry',
    meaning: 'the platform could not read its application store',
    remedy: 'Check that the application store runs and that the platform can reach it.',
  };
}

/** The error of a read that failed only because the application store behind the platform did; undefined: another failure. */
export function storeFailure(where: string, answer: Answer): PortolanError | undefined {
  return storeWords(answer) === undefined ? undefined : failedRead(where, answer);
}

/** Something on the way to the object is missing. undefined: none of the known forms. */
function placeWords(answer: Answer): Words | undefined {
  const { status, code, msg } = answer;
  if (status === 409 && code === 2001) {
    return {
      code: 'platform/region-not-ready',
      disposition: 'retry',
      meaning: 'the region is not enabled, or the team is not set up in it',
      remedy: 'Enable the region, or set the team up in it; nothing is written to it until then.',
    };
  }
  if (status !== 404) return undefined;
  const unknown = (what: string, field: string): Words => ({
    code: `platform/unknown-${what}`,
    disposition: 'give-up',
    meaning: `the platform has no such ${what}`,
    remedy: `Correct ${field} of the Application manifest, or create the ${what} on the platform.`,
  });
  if (code === 3000) return unknown('region', 'spec.region');
  if (msg === 'no found team' || code === 2000) return unknown('team', 'spec.team');
  if (msg === 'no found app') return unknown('application', 'spec.appId');
  if (msg === 'component not belong to this app') {
    return { ...unknown('component', 'spec.serviceId of the Component'), meaning: 'it belongs to another application' };
  }
  if (msg === 'no found component' || code === 4000)
    return unknown('component', 'spec.serviceId of the Component, or spec.appId');
  return undefined;
}

function otherWords(answer: Answer): Words {
  const { status, code } = answer;
  const passes = status >= 500 || status === 408 || status === 429 || status === 409;
  // A real server answers 400 when the cluster behind it cannot be reached or has no room.
  const isCluster = answer.fromCluster || code === 10_411 || code === 10_406;
  if (passes || isCluster) {
    return {
      code: status === 429 || status === 409 ? 'platform/busy' : 'platform/server-error',
      disposition: 'retry',
      meaning: isCluster ? 'the cluster behind the platform failed' : '',
      remedy: 'It may pass. If it stays, check the platform’s own log for this time.',
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

/** The error of a read that got no whole answer. */
export function unanswered(where: string, error: TransportError): PortolanError {
  const known = REMEDIES.find(([pattern]) => pattern.test(error.code));
  return new PortolanError({
    code: error.code === 'TOO_LARGE' ? 'platform/too-large' : 'platform/unreachable',
    disposition: error.code === 'TOO_LARGE' ? 'give-up' : 'unreachable',
    message: `${where}: no whole answer: ${safeText(error.message)} (${error.code})`,
    remedy: isNotTls(error.code)
      ? PLAIN_HTTP_REMEDY
      : (known?.[1] ?? 'Check the network between here and the platform.'),
    cause: error,
  });
}

/** The operator set `dialect: extended`, and the server says that it has no such endpoint. */
export function missingCapability(where: string, answer: Answer): PortolanError {
  return new PortolanError({
    code: 'platform/capability-missing',
    disposition: 'give-up',
    message: `${where}: HTTP ${answer.status}: ${answer.summary.message} (the server has no such endpoint, though its dialect is set to extended)`,
    remedy: 'Set spec.dialect of the Platform to auto or documented.',
  });
}

/** The process stops: the read was given up, and nothing was concluded from it. */
export function stopped(where: string): PortolanError {
  return new PortolanError({
    code: 'platform/stopped',
    disposition: 'retry',
    message: `${where}: given up because the process is stopping`,
    remedy: 'Run it again.',
  });
}
