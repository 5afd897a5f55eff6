import type { ServerResponse } from 'node:http';
import type { ControllerApi } from '../controller/api.ts';
import type { JsonObject } from '../model/json.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Access } from './tokens.ts';
import type { Health } from './health.ts';
import type { RunPiece } from './pace.ts';
import type { PlanGate } from './plan-gate.ts';
import type { ServerLimits } from './limits.ts';
import type { Streams } from './streams.ts';
import type { Webhooks } from './webhooks.ts';

/** A request that was let in and has the form its route asks for. */
export interface Call {
  readonly params: Readonly<Record<string, string>>;
  /** Checked and with defaults, as the route's schemas say. */
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Whose token it came with, for the history. */
  readonly by: string;
  /** Aborted when the client goes, when the server closes, or when it took too long. */
  readonly signal: AbortSignal;
}

/** What an answer is. A stream writes to the response itself, for as long as it likes. */
export type Reply =
  | { readonly type: 'json'; readonly status: number; readonly body: unknown }
  | { readonly type: 'text'; readonly status: number; readonly contentType: string; readonly text: string }
  /** @param bytes redacted by whoever made them. */
  | { readonly type: 'bytes'; readonly status: number; readonly contentType: string; readonly bytes: Uint8Array }
  | { readonly type: 'stream'; readonly open: OpenStream };

/** Resolves when the stream has ended. @param headers those that every answer has. */
type OpenStream = (response: ServerResponse, headers: Readonly<Record<string, string>>) => Promise<void>;

/** What routes work with. */
export interface Desk {
  readonly api: ControllerApi;
  readonly clock: Clock;
  readonly limits: ServerLimits;
  readonly health: Health;
  readonly streams: Streams;
  readonly webhooks: Webhooks;
  readonly metrics: () => Promise<MetricsText>;
  readonly plans: PlanGate;
}

/** Renders the metrics as they are now. @param run runs each part of that. */
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

/** One route. What is not in its table of access cannot exist: the type asks for it. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** `/api/v1/applications/{name}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly access: Access;
  /** By name. */
  readonly query?: Readonly<Record<string, JsonObject>>;
  readonly body?: { readonly type: 'json'; readonly schema: JsonObject } | { readonly type: 'bytes' };
  /** `handle` waits, for the platform say: only its answer is made when it is the caller's turn (`pace.ts`). */
  readonly waits?: boolean;
  /** It makes a plan: it needs a place among those that may (`plan-gate.ts`). */
  readonly isPlan?: boolean;
  readonly bodyBytes?: keyof ServerLimits & `${string}BodyBytes`;
  /** By status; those of errors are the same everywhere. */
  readonly answers: Readonly<Record<number, Answer>>;
  handle(call: Call, desk: Desk): Promise<Reply> | Reply;
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
