import type { ServerResponse } from 'node:http';
import type { ControllerApi } from '../controller/api.ts';
import type { JsonObject } from '../model/json.ts';
import type { ProcessState } from '../model/platform-status.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Caller } from './caller.ts';
import type { Access, Permissions } from './permissions.ts';
import type { Health } from './health.ts';
import type { RunPiece } from './pace.ts';
import type { PlanGate } from './plan-gate.ts';
import type { ServerLimits } from './limits.ts';
import type { SignIn } from './sign-in/sign-in.ts';
import type { Streams } from './streams.ts';
import type { Traffic } from './traffic.ts';
import type { Webhooks } from './webhooks.ts';

/** A request that was let in and matches the schemas of its route. */
export interface Call {
  readonly params: Readonly<Record<string, string>>;
  /** Validated by the schema of the route, with defaults. */
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The name of the caller, for the history. */
  readonly by: string;
  /** undefined on a route that needs no caller. */
  readonly caller: Caller | undefined;
  /** Returns the permissions of the caller at present. Routes need not check them: `services.api` does. */
  readonly permissions: () => Permissions;
  /** The address of the other side of the connection, which may be a proxy. */
  readonly peer: string;
  /** Aborted when the client disconnects, the server closes, or the request takes too long. */
  readonly signal: AbortSignal;
}

/** An answer. A stream writes to the response itself until it ends. */
export type Reply = AnyReply & {
  /** `Set-Cookie` headers. */
  readonly cookies?: readonly string[];
};

type AnyReply =
  | { readonly type: 'json'; readonly status: number; readonly body: unknown }
  /** An answer without content, 204. */
  | { readonly type: 'empty' }
  /** Sends a browser to another address with GET, 303. */
  | { readonly type: 'redirect'; readonly location: string }
  | { readonly type: 'text'; readonly status: number; readonly contentType: string; readonly text: string }
  /** @param bytes must be redacted already. */
  | { readonly type: 'bytes'; readonly status: number; readonly contentType: string; readonly bytes: Uint8Array }
  | { readonly type: 'stream'; readonly open: OpenStream };

/** Opens a stream, and resolves when it has ended. @param headers sent with every answer. */
type OpenStream = (response: ServerResponse, headers: Readonly<Record<string, string>>) => Promise<void>;

/** The services that routes use. */
export interface Services {
  /** Limited to what the caller may see and do. */
  readonly api: ControllerApi;
  readonly clock: Clock;
  readonly limits: ServerLimits;
  readonly health: Health;
  readonly streams: Streams;
  readonly webhooks: Webhooks;
  readonly metrics: () => Promise<MetricsText>;
  readonly plans: PlanGate;
  readonly traffic: Traffic;
  readonly processFacts: () => ProcessFacts;
  readonly signIn: SignIn;
}

/** Versions and memory of the process. */
export type ProcessFacts = Pick<ProcessState, 'version' | 'node' | 'rssBytes' | 'heapBytes' | 'heapLimitBytes'>;

/** Renders the metrics. @param run runs each part of the work. */
export type RenderMetrics = (run: RunPiece) => Promise<{ readonly contentType: string; readonly text: string }>;

/** The metrics, redacted, and their media type. */
export interface MetricsText {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

interface Answer {
  readonly description: string;
  readonly contentType?: string;
  readonly schema?: JsonObject;
}

/** One route. `access` is required, so no route can exist without a rule for it. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** `/api/v1/applications/{name}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly access: Access;
  /** Schemas of the query parameters by name. */
  readonly query?: Readonly<Record<string, JsonObject>>;
  /** Other query parameters are accepted and ignored, and values are not checked: a third party chooses them. */
  readonly anyQuery?: boolean;
  readonly body?: { readonly type: 'json'; readonly schema: JsonObject } | { readonly type: 'bytes' };
  /** `handle` waits, for example for the platform. Only its answer takes turns (`pace.ts`). */
  readonly waits?: boolean;
  /** The route makes a plan and needs a slot (`plan-gate.ts`). */
  readonly isPlan?: boolean;
  readonly bodyBytes?: keyof ServerLimits & `${string}BodyBytes`;
  /** Answers by status. Errors are the same for all routes. */
  readonly answers: Readonly<Record<number, Answer>>;
  handle(call: Call, services: Services): Promise<Reply> | Reply;
}

/** Routes by method and path: `GET /api/v1/applications/{name}`. */
type RouteTable = Readonly<Record<`${Route['method']} /${string}`, Omit<Route, 'method' | 'path'>>>;

export function routesOf(table: RouteTable): readonly Route[] {
  return Object.entries(table).map(([address, route]) => {
    const [method, path] = address.split(' ') as [Route['method'], string];
    return { method, path, ...route };
  });
}

export function json(body: unknown, status = 200): Reply {
  return { type: 'json', status, body };
}
