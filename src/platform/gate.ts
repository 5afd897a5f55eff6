import type { MonotonicMs } from '../model/time.ts';
import type { Clock } from '../runtime/clock.ts';
import { parseAnswer } from './answer.ts';
import type { RequestBudget } from './budget.ts';
import { isThrottled } from './retrying.ts';
import { type PlatformRequest, type PlatformResponse, type Transport, TransportError } from './transport.ts';

/** One request that was sent, for metrics and traces. Nothing of its body or answer. */
export interface RequestRecord {
  readonly operation: string;
  readonly isRead: boolean;
  /** undefined: no answer came. */
  readonly status: number | undefined;
  /** Of the transport, where no answer came: `ECONNREFUSED`. */
  readonly failure: string | undefined;
  readonly durationMs: number;
}

/** The one way to the platform: every request, each retry too, takes its turn in the budget and is counted. */
export interface RequestGate {
  readonly budget: RequestBudget;
  /**
   * @param sendBeforeMs a request whose turn comes at or after this moment is not sent.
   * @throws TransportError `unsent`, `TOO_LATE`
   */
  readonly send: (request: PlatformRequest, sendBeforeMs?: MonotonicMs) => Promise<PlatformResponse>;
}

export function createRequestGate(
  transport: Transport,
  budget: RequestBudget,
  clock: Clock,
  onRequest: (record: RequestRecord) => void = () => {},
): RequestGate {
  return {
    budget,
    send: async (request, sendBeforeMs) => {
      const done = await budget.take(request.signal);
      const startedMs = clock.monotonic();
      if (sendBeforeMs !== undefined && startedMs >= sendBeforeMs) {
        done();
        throw new TransportError('unsent', 'TOO_LATE', 'its turn in the request budget came after the send deadline');
      }
      const report = (status: number | undefined, failure: string | undefined): void =>
        onRequest({
          operation: request.operation,
          isRead: request.isRead,
          status,
          failure,
          durationMs: clock.monotonic() - startedMs,
        });
      try {
        const response = await transport(request);
        if (asksForLess(response)) budget.throttled();
        report(response.status, undefined);
        return response;
      } catch (error) {
        report(undefined, error instanceof TransportError ? error.code : 'BUG');
        throw error;
      } finally {
        done();
      }
    },
  };
}

function asksForLess(response: PlatformResponse): boolean {
  return response.status >= 400 && isThrottled(parseAnswer(response), response);
}
