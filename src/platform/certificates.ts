import type { CertificateRecord } from '../model/observed.ts';
import { Fields, isRecord, schemaDrift } from './fields.ts';
import { decides, recordReader, shown } from './record-fields.ts';

/** Certificates of one page, and how many there are on all pages. */
export interface CertificatePage {
  readonly certificates: readonly CertificateRecord[];
  readonly total: number;
}

/** How many certificates are asked for at once. */
export const CERTIFICATES_PER_PAGE = 100;
/** A server that never comes to the end of its list is not believed. */
const PAGES_MAX = 100;

/** By allow-list: whatever else a server puts into its listing never gets out. */
const certificateOf = recordReader<CertificateRecord>({
  id: decides('id', 'integer'),
  alias: decides('alias', 'text', ''),
  issuedTo: shown('issued_to', 'texts', []),
  expiresAt: shown('end_data', 'text', null),
  hasExpired: shown('has_expired', 'flag', null),
});

/**
 * The listing of a team's certificates (extended dialect). The listing has no keys; the address of one certificate has, so
 * that address is asked by nobody, and there is no path for it.
 */
export function decodeCertificates(json: unknown, where: string): CertificatePage {
  if (!isRecord(json) || !Array.isArray(json['list'])) throw schemaDrift(where, 'list', 'a list of certificates', json);
  const certificates = json['list'].map((item: unknown, index) =>
    certificateOf(new Fields(item, where, `list[${index}]`)),
  );
  const { total } = json;
  return { certificates, total: typeof total === 'number' ? total : certificates.length };
}

/** All pages, one after another. @param read a page from 1. */
export async function allCertificates(
  read: (page: number) => Promise<CertificatePage>,
): Promise<readonly CertificateRecord[]> {
  const found = new Map<number, CertificateRecord>();
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const { certificates, total } = await read(page);
    const before = found.size;
    for (const certificate of certificates) found.set(certificate.id, certificate);
    // A page that brings nothing new is the end, whatever the total says: it may be counted while others delete.
    if (found.size >= total || found.size === before) break;
  }
  return [...found.values()];
}
