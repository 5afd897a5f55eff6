import { demo } from '../../src/sandbox/seeds/demo.ts';
import { includesPermission, needOf } from '../../src/server/permissions.ts';
import { SECRETS } from './api.ts';
import { PUBLIC_URL } from './browser-requests.ts';
import { type Attempt, HOLDERS } from './draft.ts';
import { type Answered, exchange } from './exchange.ts';
import { attempts } from './requests.ts';

const AT_ONCE = 16;

/** Answers of the server itself that are no fault: it has enough to do, or the reason is in the body. */
const NOT_NOW = new Set([
  'server/busy',
  'server/too-many-streams',
  // The provider of the daemon under attack does not answer.
  'server/oidc-unreachable',
]);

/** What an answer must not be. @returns undefined where nothing is wrong with it. */
function fault(attempt: Attempt, { status, headers, body, raw }: Answered): string | undefined {
  const secret = Object.values({
    ...SECRETS.tokens,
    webhook: SECRETS.webhook,
    platform: SECRETS.platform,
    oidc: SECRETS.oidc,
  }).find((text) => raw.includes(text));
  if (secret !== undefined) return 'a secret is in the answer';
  if (/\n\s+at |node_modules|\.[jt]s:\d+/.test(raw)) return 'the answer shows the program';
  if (/x-injected/i.test(raw.slice(0, raw.indexOf('\r\n\r\n')))) return 'a header was injected';
  const cookie = headers.get('set-cookie') ?? '';
  // Those that are deleted have no value.
  if (/portolan-session[^=]*=[^;]/.test(cookie)) return 'a session was started';
  if (status === 303 && headers.get('location')?.startsWith(`${PUBLIC_URL}/sign-in?problem=`) !== true)
    return `a browser is sent to ${headers.get('location') ?? 'nowhere'}`;
  if (attempt.caller === 'outsider' && revealed(attempt, body)) return 'it shows an application outside the scope';
  // The document of the dashboard is the same for everyone, and holds no data. `GET *` leads to it.
  const isDocument = headers.get('content-type')?.startsWith('text/html') === true && !attempt.isPathOfRoute;
  if (status === 200 && isDocument && /^(GET|HEAD) /i.test(attempt.bytes.subarray(0, 5).toString())) return undefined;
  if (status >= 200 && status < 400) return mayDo(attempt) ? undefined : 'the role does not allow it';
  if (status === 0 || attempt.bytes.subarray(0, 5).toString() === 'HEAD ') return undefined;
  const type = headers.get('content-type') ?? '';
  if (status === 503 && attempt.route.operationId === 'getReadiness') return undefined;
  if (!type.startsWith('application/problem+json')) return `${status} is no problem document: ${type}`;
  const {
    code,
    remedy,
    detail,
    title,
    type: urn,
    status: said,
  } = JSON.parse(body) as Readonly<Record<string, unknown>>;
  if (said !== status || urn !== `urn:portolan:problem:${String(code)}`) return 'the problem is not about this answer';
  if ([code, remedy, detail, title].some((text) => typeof text !== 'string' || text.length < 3))
    return 'the problem lacks words';
  if (status >= 500 && !NOT_NOW.has(String(code))) return `${status} ${String(code)}`;
  return undefined;
}

/** Whether an answer has something of the application of the source that the request does not have. */
function revealed({ bytes }: Attempt, body: string): boolean {
  // The document has examples.
  if (body.startsWith('{"openapi"')) return false;
  const asked = bytes.toString('latin1');
  return [demo.webServiceId, demo.team, 'Application/shop', 'shop-web', 'app.yaml'].some(
    (text) => body.includes(text) && !asked.includes(text) && !asked.includes('shop'),
  );
}

/** Whether the caller may have a success for this: what was changed about a path may lead to another route, but to none that changes anything. */
function mayDo({ route, caller, isPathOfRoute, bytes }: Attempt): boolean {
  const need = needOf(route.access, false);
  if (need === undefined) return true;
  const { permission, isForAll } = need;
  const isOfOne = /\/(applications|orphans)\/\{/.test(route.path);
  const isAllowed =
    caller !== 'stranger' &&
    (permission === null || includesPermission(HOLDERS[caller], permission)) &&
    (caller !== 'outsider' || !(isForAll || isOfOne));
  if (isAllowed) return true;
  return !isPathOfRoute && caller !== 'stranger' && /^(GET|HEAD) /i.test(bytes.subarray(0, 5).toString());
}

/** What came of an assault: how often each status was answered, and one example of each kind of fault. */
export interface Assaulted {
  readonly statuses: ReadonlyMap<number, number>;
  readonly faults: ReadonlyMap<string, string>;
}

/** Sends so many requests of the corpus of this seed, some at once. */
export async function assault(port: number, seed: number, requests: number): Promise<Assaulted> {
  const corpus = attempts(seed, SECRETS);
  const statuses = new Map<number, number>();
  /** One example of each kind. */
  const faults = new Map<string, string>();
  let sent = 0;
  const attack = async (): Promise<void> => {
    while (sent < requests) {
      sent += 1;
      const number = sent;
      const attempt = corpus.next().value;
      const answered = await exchange(port, attempt);
      statuses.set(answered.status, (statuses.get(answered.status) ?? 0) + 1);
      const wrong = fault(attempt, answered);
      if (wrong === undefined) continue;
      const request = JSON.stringify(attempt.bytes.toString('latin1').slice(0, 400));
      faults.set(
        `${attempt.what}: ${wrong}`,
        `request ${number} of seed ${seed} (${attempt.what}, ${attempt.caller}): ${wrong}\n${request}\n${answered.raw.slice(0, 600)}`,
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, attack));
  return { statuses, faults };
}
