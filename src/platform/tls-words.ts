/** Codes of answers that are no TLS at all, such as those of a server of plain http. */
const NOT_TLS = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ERR_SSL_HTTP_REQUEST']);

/** Whether a server answered a TLS handshake with something that is not TLS. */
export function isNotTls(code: string): boolean {
  return NOT_TLS.has(code);
}

/**
 * Returns why a TLS handshake failed, in words for a person; undefined for other errors. OpenSSL's own text is
 * `HEX:error:HEX:SSL routines:FUNCTION:REASON:FILE:LINE:`, of which only the reason means anything to its reader.
 */
export function tlsWords(code: string, text: string): string | undefined {
  if (isNotTls(code)) return 'the server does not speak TLS there; it probably speaks plain http';
  if (code !== 'EPROTO' && !code.startsWith('ERR_SSL_')) return undefined;
  const reason = /error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/i.exec(text)?.[1];
  return `the TLS handshake failed${reason === undefined ? '' : ` (${reason})`}`;
}
