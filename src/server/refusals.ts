import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Role } from '../configuration/settings/server-spec.ts';
import { type ProblemDetails, problem, refusal } from './problem.ts';

/** Problems of requests that are refused before a route handles them. */

export const noToken = () =>
  refusal(401, 'server/no-token', {
    detail: 'There is no valid token. Nothing was done.',
    remedy:
      'Send Authorization: Bearer <token> with one of spec.server.tokens of Settings (portolan: --token-file, or PORTOLAN_SERVER_TOKEN).',
  });

export const wrongRole = (has: Role, wanted: Role) =>
  refusal(403, 'server/wrong-role', {
    detail: `The token has the role ${has}, and this needs ${wanted}. Nothing was done.`,
    remedy: `Use a token with the role ${wanted}, or have its role changed in spec.server.tokens of Settings.`,
  });

export const wrongHost = () =>
  refusal(421, 'server/wrong-host', {
    detail: 'The server is not known by the name in Host. Nothing was done.',
    remedy: 'Use its address, or add the name to spec.server.hosts of Settings.',
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
  detail: 'There is nothing at this address, or not for this method.',
  remedy: 'GET /api/v1/openapi.json has what there is.',
});

export const badAddress = problem(400, 'server/bad-address', {
  detail: 'The address of the request cannot be read.',
  remedy: 'GET /api/v1/openapi.json has what there is.',
});

export const fault = problem(500, 'server/fault', {
  detail: 'The server hit a fault of its own. The controller goes on.',
  remedy: 'Look into its log, and report the lines that stand there.',
});

export const tookTooLong = () =>
  refusal(504, 'server/took-too-long', {
    detail: 'The platform did not answer in time, so this was broken off. Nothing was changed.',
    remedy: 'Ask for the plan of one application, or try again when the platform is less busy.',
  });

const busyWith = (what: string, remedy: string) =>
  refusal(503, 'server/busy', { detail: `${what}, and no more may. Nothing was done.`, remedy, retryAfter: 5 });

export const busy = (plans: number, waiting: number) =>
  busyWith(`${plans} plans are being made and ${waiting} wait for their turn`, 'Try again in some seconds.');

export const busyForCaller = (plans: number) =>
  busyWith(
    `${plans} plans for this token are being made or wait for their turn`,
    'Try again when one of them is there, or use another token.',
  );

export const tooManyReads = (waiting: number) =>
  busyWith(`${waiting} requests wait for their turn`, 'Try again in some seconds, and send fewer requests at once.');

export const closing = () =>
  refusal(503, 'server/closing', {
    detail: 'The controller is stopping, so this was broken off. Nothing was changed.',
    remedy: 'Try again when it runs again.',
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
export function ofFramework(error: unknown, bodyBytes: number | undefined): ProblemDetails | undefined {
  const { code, statusCode = 500, validation, validationContext, message } = error as FrameworkError;
  if (validation !== undefined) {
    const [first] = validation;
    const extra = first?.params['additionalProperty'];
    const place = `${validationContext ?? 'request'}${first?.instancePath ?? ''}`;
    const what = typeof extra === 'string' ? `does not take ${extra}` : (first?.message ?? 'is wrong');
    return problem(400, 'server/invalid-request', {
      detail: `${place} ${what}. Nothing was done.`,
      remedy: 'GET /api/v1/openapi.json says what it takes.',
    });
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return problem(413, 'server/too-large', {
      detail: `The body is larger than ${bodyBytes ?? 0} bytes, so it was not read.`,
      remedy: 'Send less: plan fewer manifests at once.',
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
    remedy: 'GET /api/v1/openapi.json says what it takes.',
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
export function cutOff(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const details = {
    HPE_HEADER_OVERFLOW: problem(431, 'server/headers-too-large', {
      detail: 'The headers are too large.',
      remedy: 'Send fewer, or shorter ones.',
    }),
    ERR_HTTP_REQUEST_TIMEOUT: problem(408, 'server/too-slow', {
      detail: 'The request did not arrive in time.',
      remedy: 'Send it faster.',
    }),
  }[error.code ?? ''];
  const said =
    details ?? problem(400, 'server/not-http', { detail: 'This is not a request.', remedy: 'Speak HTTP/1.1.' });
  const body = JSON.stringify(said);
  // Closes both directions: the client could keep a half-closed socket open.
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${said.status} ${said.title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
