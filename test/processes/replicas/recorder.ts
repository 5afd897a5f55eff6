import { hashOf } from '../../../src/platform/requests.ts';
import type { WireObject } from '../../../src/platform/transport.ts';
import { isWriteMethod } from '../../../src/sandbox/handle.ts';
import type { SandboxRequest } from '../../../src/sandbox/wire.ts';
import type { Arrival } from './oracles/arrivals.ts';
import { withoutSecret } from './secrets.ts';

const TICK_MS = 5;

/** Records the writes that arrive at the platforms. */
export class ArrivalRecorder {
  readonly arrivals: Arrival[] = [];
  /** The last turns of the event loop of this process. */
  #turns = [Number.NEGATIVE_INFINITY, Date.now()];
  readonly #timer = setInterval(() => {
    this.#turns = [this.#turns[1] ?? 0, Date.now()];
  }, TICK_MS).unref();

  /** Records a request of which all bytes have arrived. */
  add(platform: string, { method, path, query, body }: SandboxRequest): void {
    if (!isWriteMethod(method)) return;
    const seenMs = Date.now();
    // A turn reads all bytes that arrived until then. The last turn may be the one that read this request, late, but not the one before it.
    const [afterMs = seenMs] = this.#turns;
    const sent = body === '' ? undefined : (withoutSecret(JSON.parse(body)) as WireObject);
    const facts = { operation: '', isRead: false, timeoutMs: 0, answerBytesMax: 0 };
    const hash = hashOf({ ...facts, method, path, query, ...(sent === undefined ? {} : { body: sent }) } as never);
    this.arrivals.push({ unit: `platform:${platform}`, request: `${method} ${path}`, hash, afterMs, seenMs });
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
