import type { Dispatcher } from 'undici';
import { PortolanError } from '../model/errors.ts';
import { tlsWords } from './tls-words.ts';
import { type PlatformRequest, type PlatformResponse, TransportError, type TransportFailure } from './transport.ts';

/** The progress of an exchange. */
export interface Progress {
  hasHeaders: boolean;
}

type Headers = Dispatcher.ResponseData['headers'];

const utf8 = new TextDecoder();

/** Collects an answer. An incomplete one is an error, because half of a list looks like a list with deletions. */
export class IncomingAnswer {
  readonly #bytesMax: number;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #status = 0;
  #headers: Headers = {};

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @throws TransportError `ENCODING` */
  begin(status: number, headers: Headers): void {
    this.#status = status;
    this.#headers = headers;
    const encoding = headers['content-encoding'];
    if (encoding === undefined || encoding === 'identity') return;
    throw new TransportError(
      'ambiguous',
      'ENCODING',
      `the answer is encoded as ${String(encoding)}, which was not asked for`,
    );
  }

  /** @throws TransportError `TOO_LARGE` */
  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bytesMax) {
      throw new TransportError('ambiguous', 'TOO_LARGE', `the answer is larger than ${this.#bytesMax} bytes`);
    }
    this.#chunks.push(chunk);
  }

  /**
   * Returns the complete answer. Call it only after the proper end of the body.
   * @throws TransportError `STATUS`
   */
  whole(): PlatformResponse {
    const status = this.#status;
    if (status < 200 || status > 599) {
      throw new TransportError('ambiguous', 'STATUS', `the answer has the impossible status ${status}`);
    }
    const mayHaveBody = status !== 204 && status !== 205 && status !== 304;
    return {
      status,
      contentType: first(this.#headers['content-type']),
      retryAfter: first(this.#headers['retry-after']),
      body: mayHaveBody ? this.#text() : '',
    };
  }

  #text(): string {
    const [only] = this.#chunks;
    return utf8.decode(this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks));
  }
}

/** Reads an answer to its end; closes the connection on an error. */
export async function readAnswer(answer: Dispatcher.ResponseData, bytesMax: number): Promise<PlatformResponse> {
  const { statusCode, headers, body } = answer;
  const incoming = new IncomingAnswer(bytesMax);
  body.on('error', () => {}); // The loop below gets errors. Destroying the body also reports an abort, which is intended.
  try {
    incoming.begin(statusCode, headers);
    for await (const chunk of body as AsyncIterable<Uint8Array>) incoming.add(chunk);
  } catch (error) {
    body.destroy();
    throw error;
  }
  return incoming.whole();
}

/** Returns the first value of a header. */
function first(value: string | readonly string[] | undefined): string | null {
  return (typeof value === 'string' ? value : value?.[0]) ?? null;
}

/** Returns the failure of a request with the message of a library's error only: the error itself may contain the request. */
export function transportError(
  error: unknown,
  isUnsent: boolean,
  progress: Progress,
  isLate: boolean,
  request: PlatformRequest,
): Error {
  const failure: TransportFailure = isUnsent ? 'unsent' : 'ambiguous';
  if (error instanceof TransportError || error instanceof PortolanError) return error;
  if (request.signal?.aborted === true) {
    return new TransportError(failure, 'ABORTED', 'cancelled before the answer arrived');
  }
  if (isLate) return new TransportError(failure, 'ETIMEDOUT', `timed out after ${request.timeoutMs} ms`);
  const code = codeOf(error);
  const raw = error instanceof Error ? error.message : 'failed without an error';
  const message = tlsWords(code, raw) ?? raw;
  // After the headers, any error has cut off the body.
  if (progress.hasHeaders)
    return new TransportError('ambiguous', 'TRUNCATED', `the answer was cut off: ${message || code}`);
  return new TransportError(failure, code, message || code);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
