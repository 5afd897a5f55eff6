/** Error codes of answers that are not TLS, such as those of a plain http server. */
const NOT_TLS = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ERR_SSL_HTTP_REQUEST']);

/** Returns whether a server answered a TLS handshake without TLS. */
export function isNotTls(code: string): boolean {
  return NOT_TLS.has(code);
}

/**
 * Returns why a TLS handshake failed, for messages; undefined for other errors. OpenSSL's text is
 * `HEX:error:HEX:SSL routines:FUNCTION:REASON:FILE:LINE:`, of which only the reason helps a reader.
 */
export function tlsWords(code: string, text: string): string | undefined {
  if (isNotTls(code)) return 'the server does not speak TLS there; it probably speaks plain http';
  if (code !== 'EPROTO' && !code.startsWith('ERR_SSL_')) return undefined;
  const reason = /error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/i.exec(text)?.[1];
  return `the TLS handshake failed${reason === undefined ? '' : ` (${reason})`}`;
}
