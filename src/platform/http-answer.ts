import type { Dispatcher } from 'undici';
import { PortolanError } from '../model/errors.ts';
import { type PlatformRequest, type PlatformResponse, TransportError, type TransportFailure } from './transport.ts';

/** How far an exchange came. */
export interface Progress {
  hasHeaders: boolean;
}

/** The whole body, or an error: half of a list looks like a list from which something was deleted. */
export async function readAnswer(answer: Dispatcher.ResponseData, bytesMax: number): Promise<PlatformResponse> {
  const { statusCode, headers, body } = answer;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    discard(body);
    throw new TransportError(
      'ambiguous',
      'ENCODING',
      `the answer is encoded as ${String(encoding)}, which was not asked for`,
    );
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      discard(body);
      throw new TransportError('ambiguous', 'TOO_LARGE', `the answer is larger than ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  if (statusCode < 200 || statusCode > 599) {
    throw new TransportError('ambiguous', 'STATUS', `the answer has the impossible status ${statusCode}`);
  }
  const mayHaveBody = statusCode !== 204 && statusCode !== 205 && statusCode !== 304;
  return {
    status: statusCode,
    contentType: first(headers['content-type']),
    retryAfter: first(headers['retry-after']),
    body: mayHaveBody ? new TextDecoder().decode(Buffer.concat(chunks)) : '',
  };
}

/** Closes the connection: what is left of the answer is not wanted. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => {}); // destroying it reports an abort, which is what we asked for
  body.destroy();
}

/** Of a header that came several times, the first. */
function first(value: string | readonly string[] | undefined): string | null {
  return (typeof value === 'string' ? value : value?.[0]) ?? null;
}

/** The failure of a request, without anything of the libraries' errors but their words: those may hold the request. */
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
    return new TransportError(failure, 'ABORTED', 'given up before the answer came');
  }
  if (isLate) return new TransportError(failure, 'ETIMEDOUT', `no whole answer within ${request.timeoutMs} ms`);
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : 'failed without an error';
  // Once the headers are here, whatever ends the body early has cut it off.
  if (progress.hasHeaders)
    return new TransportError('ambiguous', 'TRUNCATED', `the answer was cut off: ${message || code}`);
  return new TransportError(failure, code, message || code);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
