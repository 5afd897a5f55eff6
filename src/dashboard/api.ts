import type { ProblemDetails } from '../server/problem.ts';
import type { Answers, Commands } from './answers.ts';
import { safeText } from '../model/text.ts';
import { inBase } from './base.ts';
import { signedOut } from './sign-in-state.ts';

/** Requests to the API of the controller: the only file of the dashboard that sends any to it. The browser adds the cookie of the session. */

/** A request that failed: the problem of the server, or of the way to it. */
export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

export type Problem = Pick<ProblemDetails, 'status' | 'title' | 'detail' | 'remedy' | 'code' | 'problems'>;

interface Parts {
  readonly params?: Readonly<Record<string, string>>;
  /** Several values of one name become several parameters. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  readonly signal?: AbortSignal;
}

/** Reads from the API. @throws ApiError. */
export async function read<Path extends keyof Answers>(path: Path, parts: Parts = {}): Promise<Answers[Path]> {
  const response = await ask(addressOf(path, parts), { signal: parts.signal ?? null });
  return parse<Answers[Path]>(await response.text());
}

/** Sends a command. @throws ApiError. */
export async function send<Path extends keyof Commands>(
  path: Path,
  { body, ...parts }: Parts & { readonly body?: unknown } = {},
): Promise<Commands[Path]> {
  const response = await ask(addressOf(path, parts), {
    method: 'POST',
    signal: parts.signal ?? null,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return text === '' ? (undefined as Commands[Path]) : parse<Commands[Path]>(text);
}

/** Opens the event stream. @param position of the last event received; undefined: new events only. @throws ApiError. */
export async function openEvents(
  position: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const address = addressOf('/api/v1/events/stream', { query: { after: position } });
  const { body } = await ask(address, { signal });
  if (body === null) throw unreachable();
  return body;
}

/**
 * Parses an answer. Texts come from git, the platform and people, so characters that change the direction of text become visible,
 * here once for all pages. No name that a request sends back can contain one.
 */
export function parse<T>(text: string): T {
  return JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? safeText(value) : value)) as T;
}

function addressOf(path: string, { params = {}, query = {} }: Parts): string {
  const named = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each): [string, string] => [name, String(each)]),
  );
  const text = new URLSearchParams(pairs).toString();
  return inBase(named) + (text === '' ? '' : `?${text}`);
}

async function ask(address: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, { ...init, credentials: 'same-origin', redirect: 'error' });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw unreachable();
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (response.status === 401 && problem.code !== 'server/wrong-token') signedOut();
  throw new ApiError(problem);
}

async function problemOf(response: Response): Promise<Problem> {
  if (response.headers.get('content-type')?.startsWith('application/problem+json') === true) {
    return parse<Problem>(await response.text());
  }
  // A proxy answered in place of the controller.
  return {
    status: response.status,
    title: 'Unexpected answer',
    code: 'dashboard/unexpected-answer',
    detail: `The answer has the status ${response.status} and does not come from the controller.`,
    remedy: 'Retry in a moment. If it stays, check the proxy in front of the controller.',
  };
}

function unreachable(): ApiError {
  return new ApiError({
    status: 0,
    title: 'No connection',
    code: 'dashboard/unreachable',
    detail: 'The controller cannot be reached.',
    remedy: 'The page retries by itself. If it stays, check that the controller runs.',
  });
}
