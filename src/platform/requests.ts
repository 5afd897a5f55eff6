import { hash } from 'node:crypto';
import { canonicalJson, type Json } from '../model/json.ts';
import { Secret } from '../model/secret.ts';
import { type PlatformRequest, RECORD_BYTES_MAX, type WireJson, type WireObject } from './transport.ts';
import type { HasListing, WriteRequest } from './writes.ts';

/** A real server aborts a request after about 75 s. A longer timeout gets its answer instead of an unknown outcome. */
const WRITE_TIMEOUT_MS = 90_000;

/**
 * Returns the HTTP request of a write.
 * @throws PortolanError `invalid` when a value is not a documented one.
 */
export function writeRequest(write: WriteRequest, has: HasListing = () => true): PlatformRequest {
  const { method, timeoutMs = WRITE_TIMEOUT_MS, answerBytesMax = RECORD_BYTES_MAX } = write.declared;
  const { path, query = {}, body } = write.declared.request(write as never, has);
  return {
    operation: write.operation,
    method,
    path,
    query,
    ...(body === undefined ? {} : { body }),
    isRead: false,
    timeoutMs,
    answerBytesMax,
  };
}

/** Returns the hex SHA-256 of the canonical request without secrets: equal for equal requests, and safe to store. */
export function hashOf(request: PlatformRequest): string {
  const { method, path, query, body } = request;
  const text = canonicalJson({ method, path, query, ...(body === undefined ? {} : { body: withoutSecrets(body) }) });
  return hash('sha256', text);
}

function withoutSecrets(value: WireJson): Json | undefined {
  if (value instanceof Secret) return undefined;
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map((item) => withoutSecrets(item) ?? null);
  const members = Object.entries(value).map(([key, item]) => [
    key,
    item === undefined ? undefined : withoutSecrets(item),
  ]);
  return Object.fromEntries(members) as Json;
}

// Array.isArray does not narrow a readonly array out of a union.
function isList(value: readonly WireJson[] | WireObject): value is readonly WireJson[] {
  return Array.isArray(value);
}
