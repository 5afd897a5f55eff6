import { hash } from 'node:crypto';
import type { PlatformRequest } from '../../../src/platform/transport.ts';
import { decide } from '../../../src/sandbox/handle.ts';
import { asSandboxRequest } from '../../../src/sandbox/transport.ts';
import { EPOCH_MS, type Server } from '../server.ts';

/** Requests that a write of another process can make a difference to. */
const MEETS_WRITES: ReadonlySet<string> = new Set([
  'listRules',
  'listPorts',
  'getRule',
  'createRule',
  'updateRule',
  'deleteRule',
  'updatePort',
]);

/** More writes than this are not tried in every order: they count as dependent. */
const TRIED_MAX = 2;

/**
 * Returns whether no write of others, alone or with the others in any order, makes a difference to a request, nor the request to
 * them: all answers and the rows afterwards are the same, whether the request comes first or last. It is tried on the platform as
 * it is now. Writes that come before the request lead nowhere then that they do not lead to after it.
 */
export function isIndependent(
  server: Server,
  nowMs: number,
  request: PlatformRequest,
  writes: readonly PlatformRequest[],
): boolean {
  if (!MEETS_WRITES.has(request.operation) || writes.length === 0) return true;
  if (writes.length > TRIED_MAX) return false;
  return ordersOf(writes).every(
    (order) => outcomeOf(server, nowMs, [request, ...order]) === outcomeOf(server, nowMs, [...order, request]),
  );
}

/** Every order of every choice of them. */
function ordersOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  return items.flatMap((item) => [
    [item],
    ...ordersOf(items.filter((other) => other !== item)).map((order) => [item, ...order]),
  ]);
}

/** What each of them is answered, and the rows that are left. */
function outcomeOf(server: Server, nowMs: number, requests: readonly PlatformRequest[]): string {
  const { dialect } = server;
  const state = server.state.clone();
  const answers = requests.map((request) => {
    const context = { nowMs: EPOCH_MS + nowMs, newId: () => idFor(request), dialect, token: null };
    const decision = decide(
      state,
      asSandboxRequest(request, null, (secret) => secret.reveal()),
      context,
    );
    return JSON.stringify([request.path, request.method, decision.answer]);
  });
  const rows = JSON.stringify([[...state.ports.all()], [...state.rules.all()], [...state.tcpRules.all()]]);
  return `${answers.sort().join('\n')}\n${rows}`;
}

/** The id of what a request creates, in whatever order it comes. */
function idFor({ method, path, body }: PlatformRequest): string {
  return hash('sha1', JSON.stringify([method, path, body])).slice(0, 32);
}
