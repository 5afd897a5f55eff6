import type { ServerResponse } from 'node:http';
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import { after } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Caller } from './caller.ts';
import { addDashboard, type Dashboard, isForDashboard, sendPage } from './dashboard.ts';
import { policyHeaders } from './headers.ts';
import { linkedAbort } from './linked-abort.ts';
import { isKnownHost } from './hosts.ts';
import { mayBeDone, type ProblemDetails, problemOf, RequestProblem } from './problem.ts';
import type { Pace, RunPiece } from './pace.ts';
import { type Authorizer, currentPermissions, isAdmitted, type Need, needOf, type Permissions } from './permissions.ts';
import * as refusals from './refusals.ts';
import type { Call, Services, Reply, Route } from './route.ts';
import { scopedApi } from './scoped-api.ts';
import { jsonPieces } from './serialize.ts';
import type { Identified } from './sign-in/sign-in.ts';
import type { Unsent } from './unsent.ts';
import { compileAtFirstUse, createValidators, queryOf } from './validation.ts';

/** Decides who is let in, and what they may do. A reload replaces it while the server runs. */
export interface Gate {
  /** Returns the owner of the token in an `Authorization` header. */
  ownerOfHeader(authorization: string): Caller | undefined;
  readonly permissionsOf: Authorizer;
  readonly hostNames: ReadonlySet<string>;
  readonly metricsArePublic: boolean;
  readonly hasDashboard: boolean;
  /** Whether browsers can sign in; false where the operator has switched the dashboard off. */
  readonly hasSessions: boolean;
  /** The path prefix of a proxy, `/portolan`, or nothing. */
  readonly basePath: string;
}

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly services: Services;
  readonly pace: Pace;
  readonly unsent: Unsent;
  readonly gate: () => Gate;
  readonly log: Log;
  /** Masks secrets that reached an answer by mistake. */
  readonly redact: (text: string) => string;
  /** Aborted when the server closes. */
  readonly signal: AbortSignal;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** undefined: it was not built. */
  readonly dashboard: Dashboard | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
    /** Calls back at the end of the session of this request; undefined for a request without one. */
    whenSessionEnds: Identified['whenEnded'] | undefined;
  }
  interface FastifyContextConfig {
    readonly route?: Route;
    /** A page of the dashboard, or a file of it. */
    readonly isPage?: boolean;
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Returns the fastify server of the route table. Requests are let in, checked, answered and logged here and nowhere else. */
export function createApp(options: AppOptions): FastifyInstance {
  const app = fastify(serverOptions(options));
  app.decorateRequest('caller', undefined);
  app.decorateRequest('whenSessionEnds', undefined);
  app.server.on('checkExpectation', (_, response: ServerResponse) => refusals.expectation(response));
  app.removeContentTypeParser('text/plain');
  const validators = createValidators();
  app.setValidatorCompiler(({ schema, httpPart }) => {
    return compileAtFirstUse(httpPart === 'body' ? validators.body : validators.text, schema as object);
  });
  app.setErrorHandler((error, request, reply) => fail(error, request, reply, options));
  // The hook below runs first, so a caller without a token does not learn which routes exist.
  app.setNotFoundHandler((request, reply) => {
    if (request.caller === undefined) return sendPage(options.dashboard, 404, request, reply, options.gate().basePath);
    return sendProblem(reply, refusals.noSuchRoute, options);
  });
  const logRefusal = createRefusalLog(options);
  app.addHook('onRequest', async (request, reply) => {
    for (const [name, value] of Object.entries(policyHeaders(options))) reply.header(name, value);
    await admit(request, options, logRefusal);
    const { caller } = request;
    if (request.routeOptions.config.route?.isPlan === true && caller !== undefined)
      reply.raw.once('close', options.services.plans.enter(caller.name));
  });
  app.addHook('onResponse', async (request, reply) => logRequest(request, reply, options));
  // The signature covers the bytes of the body, so no parser may run before it is checked.
  app.register(async (signed) => {
    signed.removeAllContentTypeParsers();
    signed.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    for (const route of options.routes) if (route.body?.type === 'bytes') addRoute(signed, route, options);
  });
  for (const route of options.routes) if (route.body?.type !== 'bytes') addRoute(app, route, options);
  addDashboard(app, options.dashboard, options.gate);
  return app;
}

function serverOptions(options: AppOptions): FastifyServerOptions {
  const { tls, gate } = options;
  const { limits } = options.services;
  const http = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkMs,
    keepAliveTimeout: limits.keepAliveMs,
    // Node's own answer has no body; `admit` sends a problem instead.
    requireHostHeader: false,
  };
  return {
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.idleSocketMs,
    keepAliveTimeout: limits.keepAliveMs,
    exposeHeadRoutes: false,
    rewriteUrl: ({ url = '/' }) => withoutPrefix(url, gate().basePath),
    trustProxy: false,
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    routerOptions: { maxParamLength: 256, caseSensitive: true },
    frameworkErrors: (_error: unknown, _request: unknown, reply: FastifyReply) => {
      void reply.headers(policyHeaders(options)).code(400).type(PROBLEM_TYPE).send(JSON.stringify(refusals.badAddress));
    },
    clientErrorHandler: refusals.clientError,
    ...(tls === undefined ? { http } : { https: { ...http, ...tls, minVersion: 'TLSv1.2' } }),
  } as FastifyServerOptions;
}

/** Returns the address without the path prefix, which some proxies keep and others strip. */
function withoutPrefix(url: string, prefix: string): string {
  if (prefix === '' || !url.startsWith(prefix)) return url;
  const rest = url.slice(prefix.length);
  return rest.startsWith('/') ? rest : /^(?:\?|$)/.test(rest) ? `/${rest}` : url;
}

function addRoute(app: FastifyInstance, route: Route, options: AppOptions): void {
  const { limits } = options.services;
  const { method, path, body, bodyBytes } = route;
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    bodyLimit: bodyBytes === undefined ? limits.bodyBytes : limits[bodyBytes],
    config: { route },
    schema: {
      querystring: queryOf(route),
      ...(body?.type === 'json' ? { body: body.schema } : {}),
    },
    handler: (request, reply) => answer(route, request, reply, options),
  });
}

/** Lets a request in, before its body is read. @throws RequestProblem when it is refused. */
async function admit(
  request: FastifyRequest,
  { gate, services }: AppOptions,
  logRefusal: (from: string) => void,
): Promise<void> {
  const { ownerOfHeader, permissionsOf: allowed, hostNames, metricsArePublic, hasDashboard, hasSessions } = gate();
  const hosts = hostHeaders(request.raw.rawHeaders);
  if (hosts === 0) throw refusals.noHost();
  if (hosts > 1) throw refusals.twoHosts();
  if (!isKnownHost(request.headers.host, hostNames)) throw refusals.wrongHost();
  if (hasDashboard && isForDashboard(request)) return;
  const route = request.routeOptions.config.route;
  // An unknown route needs a viewer, so strangers cannot find out which routes exist.
  const need = needOf(route?.access ?? 'viewer', metricsArePublic);
  if (route?.access === 'signature') {
    const done = services.webhooks.admit(() => request.raw.destroy());
    request.raw.once('end', done).once('close', done);
  }
  const isForSessions = route?.access === 'browser' || route?.access === 'callback';
  if (isForSessions && !hasSessions) throw new RequestProblem(refusals.noSuchRoute);
  if (route?.access === 'browser') services.signIn.checkOrigin(request.headers);
  if (need === undefined) return;
  const { authorization } = request.headers;
  if (authorization === undefined && hasSessions) {
    const found = await services.signIn.identify(request.headers);
    request.caller = found?.caller;
    request.whenSessionEnds = found?.whenEnded;
  } else {
    request.caller = ownerOfHeader(authorization ?? '');
  }
  if (request.caller === undefined) {
    logRefusal(request.ip);
    throw refusals.noToken();
  }
  mustBeAdmitted(need, request.caller, allowed(request.caller));
}

/** @throws RequestProblem 403 when the caller lacks a permission that the route needs. */
function mustBeAdmitted(need: Need, caller: Caller, permissions: Permissions): void {
  if (need.permission === null || isAdmitted(need, permissions)) return;
  throw refusals.wrongRole(caller, permissions, need.permission, need.isForAll ? 'all' : undefined);
}

/** Counts the Host headers. Node keeps only the first one; a proxy in front may have used another. */
function hostHeaders(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
}

const REFUSAL_LOG_MS = 10_000;

/** Logs requests without a valid token, at most once in ten seconds, so that many of them cannot fill the log. */
function createRefusalLog({ services, log }: AppOptions): (from: string) => void {
  let count = 0;
  let loggedMs = Number.NEGATIVE_INFINITY;
  return (from) => {
    count += 1;
    const nowMs = services.clock.monotonic();
    if (nowMs - loggedMs < REFUSAL_LOG_MS) return;
    log.warn('server: requests without a valid token were refused', { count, lastFrom: from });
    loggedMs = nowMs;
    count = 0;
  };
}

const CLIENT_GONE = new Error('the client is gone');

async function answer(route: Route, request: FastifyRequest, reply: FastifyReply, options: AppOptions): Promise<void> {
  const { caller } = request;
  const permissions = currentPermissions(caller, options.gate);
  const services = { ...options.services, api: scopedApi(options.services.api, caller, permissions) };
  const { limits } = services;
  const stop = linkedAbort(options.signal);
  const { signal } = stop;
  const leave = (): void => stop.abort(CLIENT_GONE);
  reply.raw.once('close', leave);
  after(services.clock, limits.planMs, signal, () => stop.abort(refusals.tookTooLong()));
  const call: Call = {
    params: request.params as Call['params'],
    query: request.query,
    body: request.body ?? new Uint8Array(),
    headers: request.headers,
    by: caller?.name ?? 'anyone',
    caller,
    permissions,
    peer: request.ip,
    signal,
  };
  try {
    // The socket may be idle while the answer is made.
    request.raw.socket.setTimeout(limits.planMs + limits.idleSocketMs);
    const run: RunPiece = takesTurns(route)
      ? (piece) => options.pace.run(call.by, signal, piece)
      : async (piece) => piece();
    const answered =
      route.waits === true ? await route.handle(call, services) : await run(() => route.handle(call, services));
    request.raw.socket.setTimeout(limits.idleSocketMs);
    // A reload may have removed the permission while the answer was made. Commands are done by now.
    const need = changesNothing(route) ? needOf(route.access, options.gate().metricsArePublic) : undefined;
    if (need !== undefined && caller !== undefined) mustBeAdmitted(need, caller, permissions());
    if (answered.type === 'stream') request.whenSessionEnds?.(signal, () => reply.raw.destroy());
    await sendReply(answered, reply, run, options);
  } catch (error) {
    // Work that we aborted fails with its own error; the reason of the signal says why.
    const why = signal.reason as unknown;
    if (why === CLIENT_GONE) {
      reply.hijack();
      return;
    }
    throw why instanceof RequestProblem && !mayBeDone(error) ? why : error;
  } finally {
    reply.raw.off('close', leave);
    stop.unlink();
    stop.abort(new Error('it was answered'));
  }
}

/** Returns whether answers of the route take turns: they read, and may be long. Commands and probes never wait behind them. */
function takesTurns({ method, access, waits }: Route): boolean {
  return (method === 'GET' && access !== 'anyone') || waits === true;
}

function changesNothing({ method, isPlan }: Route): boolean {
  return method === 'GET' || isPlan === true;
}

/** Bytes of an answer that the event loop sends in a millisecond, as measured. */
const SENT_BYTES_PER_MS = 1024 * 1024;

async function sendReply(reply: Reply, to: FastifyReply, run: RunPiece, options: AppOptions): Promise<void> {
  const { redact, unsent, pace, services } = options;
  if (reply.cookies !== undefined) to.header('set-cookie', reply.cookies);
  const send = (status: number, contentType: string, bytes: Uint8Array): Promise<void> =>
    run(() => {
      unsent.add(to.raw, bytes.length);
      pace.charge(bytes.length / SENT_BYTES_PER_MS);
      void to.code(status).type(contentType).send(bytes);
    });
  switch (reply.type) {
    case 'json': {
      if (reply.status >= 400 && isProblem(reply.body)) return sendProblem(to, reply.body, options);
      const parts: Buffer[] = [];
      const pieces = jsonPieces(reply.body);
      const serializeSome = (): boolean => {
        const untilMs = services.clock.monotonic() + services.limits.pieceMs;
        do {
          const { value, done } = pieces.next();
          if (done === true) return false;
          parts.push(Buffer.from(redact(value)));
        } while (services.clock.monotonic() < untilMs);
        return true;
      };
      while (await run(serializeSome));
      return send(reply.status, JSON_TYPE, Buffer.concat(parts));
    }
    case 'empty':
      void to.code(204).send();
      return;
    case 'redirect':
      void to.code(303).header('location', reply.location).send();
      return;
    case 'text':
      return send(reply.status, reply.contentType, Buffer.from(redact(reply.text)));
    case 'bytes':
      return send(reply.status, reply.contentType, reply.bytes);
    case 'stream': {
      to.hijack();
      await reply.open(to.raw, policyHeaders(options)).catch((error: unknown) => {
        options.log.error('server: an event stream failed', { reason: String(error) });
        to.raw.destroy();
      });
      return;
    }
  }
}

function isProblem(body: unknown): body is ProblemDetails {
  return typeof body === 'object' && body !== null && 'remedy' in body;
}

/** Refusals that another token would change. */
const CHALLENGED: ReadonlySet<string> = new Set(['server/no-token', 'server/session-ended']);

function fail(error: unknown, request: FastifyRequest, reply: FastifyReply, options: AppOptions): void {
  const details = problemOf(error) ?? refusals.frameworkProblem(error, request.routeOptions.bodyLimit);
  if (details !== undefined) {
    if (error instanceof RequestProblem && error.retryAfter !== undefined)
      reply.header('retry-after', error.retryAfter);
    if (details.status === 401 && CHALLENGED.has(details.code)) reply.header('www-authenticate', 'Bearer');
    sendProblem(reply, details, options);
    return;
  }
  // A bug in Portolan: its details go to the log only.
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  options.log.error('server: a request failed because of a bug in Portolan', { path: request.routeOptions.url, stack });
  sendProblem(reply, refusals.serverError, options);
}

function sendProblem(reply: FastifyReply, details: ProblemDetails, { redact }: AppOptions): void {
  void reply
    .code(details.status)
    .type(PROBLEM_TYPE)
    .send(redact(JSON.stringify(details)));
}

/** The access rules of commands. */
const COMMANDS: ReadonlySet<Route['access']> = new Set(['operate', 'approve', 'admin', 'admin-of-all']);

/** Logs a request: commands with their author at info, all others at debug. */
function logRequest(request: FastifyRequest, reply: FastifyReply, { log }: AppOptions): void {
  const route = request.routeOptions.config.route;
  const facts = {
    operation: route?.operationId ?? 'unknown',
    application: (request.params as Readonly<Record<string, string>> | undefined)?.['name'],
    by: request.caller?.name,
    status: reply.statusCode,
  };
  const isCommand = request.method === 'POST' && COMMANDS.has(route?.access ?? 'anyone');
  if (isCommand) log.info('server: command', facts);
  else log.debug('server: request', facts);
}
