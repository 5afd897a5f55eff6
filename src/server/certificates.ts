import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import type { ServerSettings } from '../configuration/settings/server-spec.ts';
import { PortolanError } from '../model/errors.ts';

/** Returns the certificate of the server and its key. @throws PortolanError `invalid` when a file cannot be read. */
export function readTls({ tls }: ServerSettings): { readonly cert: string; readonly key: string } | undefined {
  if (tls === undefined) return undefined;
  const where = 'spec.server.tls';
  return {
    cert: readPem(tls.certFile, where, 'the certificate'),
    key: readPem(tls.keyFile, where, 'the key'),
  };
}

/**
 * Returns the certificates to trust for a provider: the built-in ones and those of a file; undefined without a file.
 * @throws PortolanError `invalid` when the file cannot be read or has no certificate.
 */
export function readAuthorities(file: string | undefined, where: string): readonly string[] | undefined {
  if (file === undefined) return undefined;
  const text = readPem(file, where, 'the certificates to trust');
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  try {
    // A secure context accepts invalid input silently, so each certificate is parsed.
    for (const certificate of certificates) new X509Certificate(certificate);
    if (certificates.length > 0) return [...getCACertificates('default'), ...certificates];
  } catch {
    // The error below says so.
  }
  throw unusable(
    `${where} of Settings: ${file} has no valid certificate in PEM form.`,
    'Correct the path or the file.',
  );
}

function readPem(path: string, where: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    const message = `${where} of Settings: ${what} cannot be read from ${path} (${reason}).`;
    throw unusable(message, 'Correct the path, or the permissions of the file.', error);
  }
}

function unusable(message: string, remedy: string, cause?: unknown): PortolanError {
  return new PortolanError({ code: 'server/unreadable-tls', disposition: 'invalid', message, remedy, cause });
}
