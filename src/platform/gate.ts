import type { Clock } from '../runtime/clock.ts';
import { parseAnswer } from './answer.ts';
import type { RequestBudget } from './budget.ts';
import type { SendOptions } from './client.ts';
import { isThrottled } from './retrying.ts';
import { type PlatformRequest, type PlatformResponse, type Transport, TransportError } from './transport.ts';

/** Facts about a request that ended, for metrics and traces, without its body and answer. */
export interface RequestFacts {
  /** Name of the operator's `Platform` document. */
  readonly platform: string;
  /** Name in the table of operations. */
  readonly operation: string;
  readonly isRead: boolean;
  readonly outcome: RequestOutcome;
  /** Time from its turn in the budget to the end of its answer. */
  readonly tookMs: number;
}

/** `throttled`: the platform asked to wait. `network`: no complete answer, for a reason other than those listed. */
export type RequestOutcome = '2xx' | '3xx' | '4xx' | '5xx' | 'throttled' | 'timeout' | 'network' | 'aborted';

/** Sends all requests to a platform: each request and retry takes its turn in the budget and is counted. */
export interface RequestGate {
  readonly budget: RequestBudget;
  /** @throws TransportError `unsent`, `TOO_LATE` or `WITHHELD` */
  readonly send: (request: PlatformRequest, options?: SendOptions) => Promise<PlatformResponse>;
}

export interface RequestGateOptions {
  /** Name of the operator's `Platform` document. */
  readonly platform: string;
  readonly transport: Transport;
  readonly budget: RequestBudget;
  readonly clock: Clock;
  /** Called once for each request that left. It must not throw. */
  readonly onRequest?: ((facts: RequestFacts) => void) | undefined;
}

export function createRequestGate(options: RequestGateOptions): RequestGate {
  const { platform, transport, budget, clock, onRequest } = options;
  return {
    budget,
    send: async (request, { sendBeforeMs, mayLeave } = {}) => {
      const done = await budget.take(request.signal);
      const startedMs = clock.monotonic();
      if (sendBeforeMs !== undefined && startedMs >= sendBeforeMs) {
        done();
        throw new TransportError('unsent', 'TOO_LATE', 'its turn in the request budget came after the send deadline');
      }
      if (mayLeave?.() === false) {
        done();
        throw new TransportError('unsent', 'WITHHELD', 'it was withheld when its turn in the request budget came');
      }
      const { operation } = request;
      let outcome: RequestOutcome = 'network';
      try {
        const response = await transport(mayLeave === undefined ? request : { ...request, mayLeave });
        outcome = outcomeOfAnswer(response);
        if (outcome === 'throttled') budget.throttled();
        return response;
      } catch (error) {
        outcome = outcomeOfFailure(error);
        throw error;
      } finally {
        const tookMs = clock.monotonic() - startedMs;
        // A refusal may be faster than an answer, and does not depend on the platform's load.
        if (outcome === '2xx' || outcome === 'timeout') done({ operation, isInTime: outcome === '2xx' });
        else done();
        onRequest?.({ platform, operation, isRead: request.isRead, outcome, tookMs });
      }
    },
  };
}

function outcomeOfAnswer(response: PlatformResponse): RequestOutcome {
  const { status } = response;
  if (status < 300) return '2xx';
  if (status < 400) return '3xx';
  if (isThrottled(parseAnswer(response), response)) return 'throttled';
  return status < 500 ? '4xx' : '5xx';
}

const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

function outcomeOfFailure(error: unknown): RequestOutcome {
  if (!(error instanceof TransportError)) return 'network';
  if (error.code === 'ABORTED') return 'aborted';
  return TIMEOUT_CODES.has(error.code) ? 'timeout' : 'network';
}
