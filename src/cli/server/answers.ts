import { isNotTls, tlsWords } from '../../platform/tls-words.ts';
import { type Disposition, PortolanError } from '../../model/errors.ts';
import type { Problem } from '../../model/problem.ts';
import { FaultyInput } from '../session/problems.ts';

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the error that an answer means. @param body undefined: the answer was not JSON. */
export function answerProblem(url: string, status: number, body: unknown): PortolanError {
  if (!isRecord(body) || typeof body['code'] !== 'string' || typeof body['remedy'] !== 'string') {
    return notPortolan(url, status);
  }
  const { code, remedy, detail, problems } = body;
  if (Array.isArray(problems) && problems.length > 0) return new FaultyInput(problems as readonly Problem[]);
  const message = typeof detail === 'string' ? detail : `The server ${url} answered with ${status}.`;
  return new PortolanError({ code, disposition: dispositionOf(status), message, remedy });
}

function dispositionOf(status: number): Disposition {
  if (status === 401 || status === 403 || status === 502) return 'unreachable';
  if (status === 409) return 'ask-human';
  if (status === 429 || status === 503 || status === 504) return 'retry';
  return status < 500 ? 'invalid' : 'give-up';
}

export function notPortolan(url: string, status?: number): PortolanError {
  return new PortolanError({
    code: 'cli/not-a-portolan-server',
    disposition: 'unreachable',
    message: `The server at ${url} is not a Portolan API${status === undefined ? '' : ` (HTTP ${status})`}.`,
    remedy:
      'Pass --server with the address that portolan run logs, without a path. A proxy in front of it may require a path, or may have answered itself.',
  });
}

/** Returns the error for a request without an answer. */
export function unreachableServer(url: string, cause: unknown): PortolanError {
  return new PortolanError({
    code: 'cli/server-unreachable',
    disposition: 'unreachable',
    message: `The server at ${url} cannot be reached: ${reasonOf(cause)}.`,
    remedy: remedyOf(codeOf(cause)),
    cause,
  });
}

/** Returns the innermost cause: it has the code of the network error. */
function innermost(error: unknown): unknown {
  let inner = error;
  for (let depth = 0; depth < 8 && inner instanceof Error && inner.cause !== undefined; depth += 1) inner = inner.cause;
  return inner;
}

function codeOf(error: unknown): string {
  const inner = innermost(error);
  return isRecord(inner) && typeof inner['code'] === 'string' ? inner['code'] : '';
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'connection refused',
    ENOTFOUND: 'unknown host',
    EAI_AGAIN: 'the name cannot be resolved at the moment',
    ECONNRESET: 'connection reset',
    UND_ERR_SOCKET: 'connection reset',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by an unknown authority',
    SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an unknown authority',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an unknown authority',
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an unknown authority',
    ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
    CERT_HAS_EXPIRED: 'its certificate has expired',
  };
  const inner = innermost(error);
  const text = inner instanceof Error ? inner.message : 'no reason is known';
  return words[code] ?? tlsWords(code, text) ?? text;
}

function remedyOf(code: string): string {
  if (isNotTls(code)) return 'Write http:// in --server, or give spec.server.tls to the controller.';
  if (/CERT|SIGN|VERIFY|ISSUER/.test(code)) {
    return 'Set NODE_EXTRA_CA_CERTS to the file with the certificate of your authority, and use the host name of the certificate.';
  }
  return 'Check that portolan run is running and listens there (spec.server.listen of its Settings), and that no firewall blocks the connection.';
}
