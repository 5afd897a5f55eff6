import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ROLES } from '../configuration/settings/roles-spec.ts';
import type { ResourceId } from '../model/ids.ts';
import type { Caller } from './caller.ts';
import { includesPermission, type Permission, type Permissions } from './permissions.ts';
import { type ProblemDetails, problem, refusal, type RequestProblem } from './problem.ts';

/** Problems of requests that are refused before a route handles them. */

export const noToken = () =>
  refusal(401, 'server/no-token', {
    detail: 'The request has no valid token. Nothing was done.',
    remedy:
      'Send Authorization: Bearer <token> with one of spec.server.tokens of Settings (portolan: --token-file, or PORTOLAN_SERVER_TOKEN).',
  });

/** @param where the application that the permission is needed for; `all`: for everything; undefined: for any. */
export function wrongRole(
  caller: Caller | undefined,
  { grants }: Permissions,
  wanted: Permission,
  where?: ResourceId | 'all',
): RequestProblem {
  const roles = [...new Set(grants.map(({ role }) => role))];
  const has = roles.length === 0 ? 'no role' : `the role${roles.length === 1 ? '' : 's'} ${roles.join(' and ')}`;
  const of = where === undefined ? '' : where === 'all' ? ' for everything' : ` for ${where}`;
  return refusal(403, 'server/wrong-role', {
    detail: `${subjectOf(caller)} has ${has}, but this request needs ${wanted}${of}. Nothing was done.`,
    remedy: `Use a token or a user with ${namedRoles(wanted)}${of}, or add the role in spec.server.roles of Settings. portolan whoami shows the roles.`,
  });
}

function subjectOf(caller: Caller | undefined): string {
  if (caller === undefined) return 'The request';
  return `The ${caller.via === 'token' ? 'token' : 'user'} ${caller.name}`;
}

/** `the role operate, operator or admin`. */
function namedRoles(wanted: Permission): string {
  const roles = ROLES.filter((role) => includesPermission(role, wanted));
  const last = roles.at(-1) ?? '';
  return `the role ${roles.length === 1 ? last : `${roles.slice(0, -1).join(', ')} or ${last}`}`;
}

export const wrongHost = () =>
  refusal(421, 'server/wrong-host', {
    detail: 'The Host header names another server. Nothing was done.',
    remedy: 'Use the address of the server, or add the name to spec.server.hosts of Settings.',
  });

const ONE_HOST = 'Send one Host header, with the name or the address of the server.';

export const noHost = () =>
  refusal(400, 'server/no-host', {
    detail: 'The request has no Host header. Nothing was done.',
    remedy: ONE_HOST,
  });

export const twoHosts = () =>
  refusal(400, 'server/two-hosts', {
    detail: 'The request has more than one Host header. Nothing was done.',
    remedy: ONE_HOST,
  });

export const noSuchRoute = problem(404, 'server/no-such-route', {
  detail: 'The address does not exist, or does not support this method.',
  remedy: 'GET /api/v1/openapi.json lists all addresses.',
});

export const badAddress = problem(400, 'server/bad-address', {
  detail: 'The address of the request is not valid.',
  remedy: 'GET /api/v1/openapi.json lists all addresses.',
});

export const serverError = problem(500, 'server/fault', {
  detail: 'The request failed because of a bug in the server. The controller keeps running.',
  remedy: 'Report the bug with the lines that the server logged for this request.',
});

export const tookTooLong = () =>
  refusal(504, 'server/took-too-long', {
    detail: 'The platform did not answer in time, so the request was cancelled. Nothing was changed.',
    remedy: 'Request the plan of one application, or retry when the platform is less busy.',
  });

const busyWith = (what: string, remedy: string) =>
  refusal(503, 'server/busy', { detail: `${what}, which is the limit. Nothing was done.`, remedy, retryAfter: 5 });

export const busy = (plans: number, waiting: number) =>
  busyWith(`${plans} plans are running and ${waiting} are waiting`, 'Retry in a few seconds.');

export const busyForCaller = (plans: number) =>
  busyWith(
    `${plans} plans of this token are running or waiting`,
    'Retry when one of them has ended, or use another token.',
  );

export const tooManyReads = (waiting: number) =>
  busyWith(`${waiting} requests are waiting`, 'Retry in a few seconds, and send fewer requests at the same time.');

export const closing = () =>
  refusal(503, 'server/closing', {
    detail: 'The controller is stopping, so the request was cancelled. Nothing was changed.',
    remedy: 'Retry when the controller has restarted.',
    retryAfter: 10,
  });

interface FrameworkError {
  readonly code?: string;
  readonly statusCode?: number;
  readonly message?: string;
  readonly validation?: readonly {
    readonly instancePath: string;
    readonly message?: string;
    readonly params: Readonly<Record<string, unknown>>;
  }[];
  readonly validationContext?: string;
}

/** Returns the problem for an error of fastify; undefined when the request did not cause it. */
export function frameworkProblem(error: unknown, bodyBytes: number | undefined): ProblemDetails | undefined {
  const { code, statusCode = 500, validation, validationContext, message } = error as FrameworkError;
  if (validation !== undefined) {
    const [first] = validation;
    const extra = first?.params['additionalProperty'];
    const place = `${validationContext ?? 'request'}${first?.instancePath ?? ''}`;
    const what = typeof extra === 'string' ? `does not accept ${extra}` : (first?.message ?? 'is wrong');
    return problem(400, 'server/invalid-request', {
      detail: `${place} ${what}. Nothing was done.`,
      remedy: 'GET /api/v1/openapi.json has the schema of the request.',
    });
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return problem(413, 'server/too-large', {
      detail: `The body is larger than ${bodyBytes ?? 0} bytes, so it was not read.`,
      remedy: 'Send a smaller body, for example fewer manifests.',
    });
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return problem(415, 'server/not-json', {
      detail: 'The body is not declared as JSON, so it was not read.',
      remedy: 'Send Content-Type: application/json.',
    });
  }
  if (statusCode < 400 || statusCode >= 500) return undefined;
  return problem(400, 'server/bad-request', {
    detail: `The request cannot be read (${message ?? code ?? 'no reason given'}). Nothing was done.`,
    remedy: 'GET /api/v1/openapi.json has the schema of the request.',
  });
}

/** Answers a request whose Expect header the server does not support. */
export function expectation(response: ServerResponse): void {
  const details = problem(417, 'server/expectation', {
    detail: 'The request has an Expect header that the server does not meet. Nothing was done.',
    remedy: 'Send no Expect header, or 100-continue.',
  });
  const body = JSON.stringify(details);
  response.writeHead(417, {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}

/** Answers a client that sent no complete HTTP request, and closes the connection. */
export function clientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const details = {
    HPE_HEADER_OVERFLOW: problem(431, 'server/headers-too-large', {
      detail: 'The headers are too large.',
      remedy: 'Send fewer or shorter headers.',
    }),
    ERR_HTTP_REQUEST_TIMEOUT: problem(408, 'server/too-slow', {
      detail: 'The request did not arrive in time.',
      remedy: 'Send it faster.',
    }),
  }[error.code ?? ''];
  const said =
    details ?? problem(400, 'server/not-http', { detail: 'This is not an HTTP request.', remedy: 'Use HTTP/1.1.' });
  const body = JSON.stringify(said);
  // Closes both directions: the client could keep a half-closed socket open.
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${said.status} ${said.title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
