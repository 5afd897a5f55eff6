import { unreachable } from '../model/unreachable.ts';
import { findApplication, findComponent, findRegion, findTeam } from './access.ts';
import { frameworkError, pageNotFound } from './answers.ts';
import { parseBody } from './body.ts';
import type { Call, Route } from './call.ts';
import { matchRoute } from './routes.ts';
import type { SandboxState } from './state.ts';
import type { Change } from './table.ts';
import type { Answer, SandboxContext, SandboxRequest, SandboxResponse } from './wire.ts';

/** The result of one request. */
export interface Handled extends Effects {
  readonly response: SandboxResponse;
}

/** The result of one request, with the answer as a value. */
export interface Decision extends Effects {
  readonly answer: Answer;
}

interface Effects {
  /** Name of the operation, or `unknown` where the path or the method has none. */
  readonly operation: string;
  readonly isWrite: boolean;
  /** true: something was written, beside the access key of a store. An error does not exclude it. */
  readonly effectApplied: boolean;
  /** The changes, oldest first: to persist them, or to undo them with `state.revert`. */
  readonly changes: readonly Change[];
}

/**
 * Answers one request and changes `state` in place. No I/O, nothing ambient: the same state, request and context
 * give the same answer and the same changes. Clone the state first to keep the old one.
 */
export function handle(state: SandboxState, request: SandboxRequest, context: SandboxContext): Handled {
  const { answer, ...effects } = decide(state, request, context);
  return { response: responseTo(answer), ...effects };
}

/** The answer as text. */
export function responseTo({ status, body, contentType }: Answer): SandboxResponse {
  return {
    status,
    headers: { 'content-type': contentType ?? 'application/json' },
    body: contentType === undefined ? JSON.stringify(body) : String(body),
  };
}

/** Does the same as `handle`, but returns the answer as a value instead of text. */
export function decide(state: SandboxState, request: SandboxRequest, context: SandboxContext): Decision {
  state.takeChanges();
  const match = matchRoute(context.dialect, request.method, request.path);
  const answer =
    match.type === 'not-found'
      ? unknownPath(context)
      : respond(match.type === 'route', match.route, { state, context, request, params: match.params, body: {} });
  const changes = state.takeChanges();
  return {
    answer,
    operation: match.type === 'route' ? match.route.operation : 'unknown',
    isWrite: isWriteMethod(request.method),
    // The server's record of a store is not an effect on an application.
    effectApplied: changes.some((change) => change.table !== 'markets'),
    changes,
  };
}

/** The documents say nothing of a page, so their dialect answers in JSON. */
function unknownPath({ dialect }: SandboxContext): Answer {
  return dialect === 'extended' ? pageNotFound : frameworkError(404, '未找到。', 'NotFound');
}

/** Returns whether a request with this method can write. */
export function isWriteMethod(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

/** In the order of the real server: content type, credentials, the path's team and application, the method, the body. */
function respond(isMethodAllowed: boolean, route: Route, call: Call): Answer {
  if (route.needs === 'enterprise' && !acceptsJson(call)) {
    return frameworkError(406, '无法满足Accept HTTP头的请求。', 'NotAcceptable');
  }
  const denied = checkToken(call);
  if (denied !== undefined) return denied;
  if (route.administrators === true && isPlain(call)) {
    return frameworkError(403, '您没有执行该操作的权限。', 'PermissionDenied');
  }
  switch (route.needs) {
    case 'enterprise':
      return withBody(isMethodAllowed, call, (body) => route.run({ ...call, body }));
    case 'plain-team': {
      const team = findTeam(call.state, call.params['team_id'] ?? '');
      if ('answer' in team) return team.answer;
      return withBody(isMethodAllowed, call, (body) => route.run({ ...call, team: team.found, body }));
    }
    case 'team': {
      const place = resolveTeam(call);
      if ('answer' in place) return place.answer;
      return withBody(isMethodAllowed, call, (body) => route.run({ ...call, ...place, body }));
    }
    case 'application': {
      const place = resolveApplication(call);
      if ('answer' in place) return place.answer;
      return withBody(isMethodAllowed, call, (body) => route.run({ ...call, ...place, body }));
    }
    case 'component': {
      const place = resolveApplication(call);
      if ('answer' in place) return place.answer;
      const component = findComponent(call.state, place.application, call.params['service_id'] ?? '');
      if ('answer' in component) return component.answer;
      return withBody(isMethodAllowed, call, (body) =>
        route.run({ ...call, ...place, component: component.found, body }),
      );
    }
    default:
      return unreachable(route);
  }
}

/** Extended: only addresses without a team look at the `Accept` header. */
function acceptsJson({ request, context }: Call): boolean {
  const accept = request.headers['accept'];
  if (accept === undefined || accept.trim() === '' || context.dialect === 'documented') return true;
  const types = accept.split(',').map((item) => item.split(';', 1)[0]?.trim().toLowerCase());
  return types.some((type) => type === '*/*' || type === 'application/*' || type === 'application/json');
}

/** The token is the whole value of the header; `Bearer x` is another token. */
function checkToken({ context, request }: Call): Answer | undefined {
  if (context.token === null) return undefined;
  const given = request.headers['authorization'];
  if (given === undefined || given === '') return frameworkError(401, 'No token', 'AuthenticationFailed');
  if (given === context.token || given === context.plainToken) return undefined;
  return frameworkError(401, 'No such user or user is not admin', 'AuthenticationFailed');
}

/** The user of the token has no rights in the enterprise. */
function isPlain({ context, request }: Call): boolean {
  return typeof context.plainToken === 'string' && request.headers['authorization'] === context.plainToken;
}

function resolveTeam({ state, params }: Call) {
  const team = findTeam(state, params['team_id'] ?? '');
  if ('answer' in team) return team;
  const region = findRegion(state, team.found, params['region_name'] ?? '');
  if ('answer' in region) return region;
  return { team: team.found, region: region.found };
}

function resolveApplication(call: Call) {
  const place = resolveTeam(call);
  if ('answer' in place) return place;
  const application = findApplication(call.state, place.team, place.region, call.params['app_id'] ?? '');
  if ('answer' in application) return application;
  return { ...place, application: application.found };
}

function withBody(isMethodAllowed: boolean, call: Call, run: (body: Call['body']) => Answer): Answer {
  const { request } = call;
  if (!isMethodAllowed) return frameworkError(405, `方法 “${request.method}” 不被允许。`, 'MethodNotAllowed');
  if (request.method === 'GET' || request.method === 'DELETE') return run({});
  const parsed = parseBody(request);
  return 'answer' in parsed ? parsed.answer : run(parsed.fields);
}
