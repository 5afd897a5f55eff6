import { Secret } from '../model/secret.ts';
import type { PlatformRequest, PlatformResponse, Transport, WireJson } from '../platform/transport.ts';
import { handle } from './handle.ts';
import type { SandboxState } from './state.ts';
import type { SandboxContext, SandboxRequest, SandboxResponse } from './wire.ts';

/**
 * A transport that asks a state in memory: no socket, no fault, an answer at once. `context` is asked per request.
 * The sandbox reveals no secret: a store that checks access keys needs `secretText`; else they arrive as `[secret]`.
 */
export function inMemoryTransport(
  state: SandboxState,
  context: () => SandboxContext,
  secretText: (secret: Secret) => string = String,
): Transport {
  return (request) => {
    const now = context();
    const { response } = handle(state, asSandboxRequest(request, now.token, secretText), now);
    return Promise.resolve(asPlatformResponse(response));
  };
}

/** The request as it would arrive, with this token. */
export function asSandboxRequest(
  request: PlatformRequest,
  token: string | null,
  secretText: (secret: Secret) => string = String,
): SandboxRequest {
  const { method, path, query, body } = request;
  return {
    method,
    path,
    query,
    headers: { 'content-type': 'application/json', ...(token === null ? {} : { authorization: token }) },
    body: body === undefined ? '' : JSON.stringify(plain(body, secretText)),
  };
}

function asPlatformResponse(response: SandboxResponse): PlatformResponse {
  const { status, headers, body } = response;
  return { status, contentType: headers['content-type'] ?? null, retryAfter: headers['retry-after'] ?? null, body };
}

function plain(value: WireJson | undefined, secretText: (secret: Secret) => string): unknown {
  if (value instanceof Secret) return secretText(value);
  if (Array.isArray(value)) return value.map((item: WireJson) => plain(item, secretText));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, secretText)]));
}
