import { Secret } from '../model/secret.ts';
import type { PlatformRequest, PlatformResponse, Transport, WireJson } from '../platform/transport.ts';
import { handle } from './handle.ts';
import type { SandboxState } from './state.ts';
import type { SandboxContext, SandboxRequest } from './wire.ts';

/** A transport that asks a state in memory: no socket, no fault, an answer at once. `context` is asked per request. */
export function inMemoryTransport(state: SandboxState, context: () => SandboxContext): Transport {
  return (request) => {
    const now = context();
    return Promise.resolve(asPlatformResponse(handle(state, asSandboxRequest(request, now.token), now).response));
  };
}

/** The request as it would arrive, with this token. Secrets in the body are revealed, as on the wire. */
export function asSandboxRequest(request: PlatformRequest, token: string | null): SandboxRequest {
  const { method, path, query, body } = request;
  return {
    method,
    path,
    query,
    headers: { 'content-type': 'application/json', ...(token === null ? {} : { authorization: token }) },
    body: body === undefined ? '' : JSON.stringify(revealed(body)),
  };
}

function asPlatformResponse(response: ReturnType<typeof handle>['response']): PlatformResponse {
  const { status, headers, body } = response;
  return { status, contentType: headers['content-type'] ?? null, retryAfter: headers['retry-after'] ?? null, body };
}

function revealed(value: WireJson | undefined): unknown {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map((item: WireJson) => revealed(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revealed(item)]));
}
