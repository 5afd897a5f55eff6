import type { Json } from '../../../model/json.ts';
import type { Reading } from '../../../model/reading.ts';
import { createRequestBudget } from '../../../platform/budget.ts';
import { createHttpTransport, type HttpTransportOptions } from '../../../platform/http.ts';
import { createPlatformClient } from '../../../platform/platform-client.ts';
import { TransportError, type Transport } from '../../../platform/transport.ts';
import type { Verdict } from '../../../platform/verdict.ts';
import type { AppAddress, WriteRequest } from '../../../platform/writes.ts';
import { silentLog } from '../../../runtime/log.ts';
import type { Surroundings } from '../../session/command.ts';
import type { Redaction } from '../../session/redaction.ts';
import type { Exchange } from './report.ts';

/** Answers that may contain secrets of the server are not kept. */
const KEPT_ANSWERS = /^(?!listRegions|listTeamRegions|listCertificates)/;
const ANSWER_CHARS_MAX = 1000;
const TIMEOUT_MS = 60_000;

/**
 * The server under test: Portolan's own client, and raw reads that show its real answers. A signal does not cancel its
 * requests, because an interrupted suite must still clean up.
 */
export type Server = ReturnType<typeof openServer>;

export function openServer(
  target: Pick<HttpTransportOptions, 'url' | 'auth' | 'caPem'>,
  { clock, random, redaction }: Surroundings,
) {
  const { url } = target;
  const transport = createHttpTransport({ ...target, connections: 1, clock });
  const { send, take, requests } = recorderOf(transport.send, redaction);
  const client = createPlatformClient({
    name: 'default',
    url,
    transport: send,
    clock,
    random,
    log: silentLog,
    dialect: 'auto',
    budget: createRequestBudget({ concurrency: 1, requestsPerSecond: 1000 }, clock),
    limits: { timeoutMs: TIMEOUT_MS },
    redact: redaction.redact,
  });
  return {
    url,
    client,
    send: (write: WriteRequest): Promise<Verdict> => client.send(write),
    /** Returns the value of a reading; undefined when the server lacks the reading or its subject. */
    async read<T>(reading: Reading<T>, where: Partial<AppAddress>): Promise<T | undefined> {
      const answer = await client.read(reading, where);
      return answer.readable ? answer.value : undefined;
    },
    ask: (path: string): Promise<unknown> => ask(path, send),
    take,
    requests,
    close: (): Promise<void> => transport.close(),
  };
}

/** Sends a raw read. @returns undefined when the server has no such address. */
async function ask(path: string, send: Transport): Promise<unknown> {
  try {
    const about = { operation: 'ask', method: 'GET', query: {}, isRead: true, timeoutMs: TIMEOUT_MS } as const;
    const answer = await send({ ...about, path });
    return answer.status === 200 ? (JSON.parse(answer.body) as unknown) : undefined;
  } catch (error) {
    if (error instanceof TransportError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Records requests and answers. */
function recorderOf(transport: Transport, redaction: Redaction) {
  const kept: Exchange[] = [];
  let requests = 0;
  const send: Transport = async (request) => {
    requests += 1;
    const exchange = {
      request: `${request.method} ${request.path}${queryText(request.query)}`,
      body: (request.body === undefined ? null : JSON.parse(JSON.stringify(request.body))) as Json | null,
    };
    try {
      const answer = await transport(request);
      const text = KEPT_ANSWERS.test(request.operation) ? redaction.redact(withoutTrace(answer.body)) : '';
      kept.push({ ...exchange, status: answer.status, answer: text.slice(0, ANSWER_CHARS_MAX) });
      return answer;
    } catch (error) {
      kept.push({ ...exchange, status: null, answer: error instanceof Error ? error.message : '' });
      throw error;
    }
  };
  return {
    send,
    /** Returns the exchanges since the last call. */
    take: (): readonly Exchange[] => kept.splice(0),
    requests: (): number => requests,
  };
}

function queryText(query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}

/** Removes the stack trace that a real server sends with an error. */
function withoutTrace(body: string): string {
  if (!body.startsWith('{')) return body;
  try {
    const { error_trace: _, error_details: __, ...rest } = JSON.parse(body) as Record<string, unknown>;
    return JSON.stringify(rest);
  } catch {
    return body;
  }
}
