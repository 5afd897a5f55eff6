import type { ApplicationRecord, ApplicationSummary, CertificateRecord, ComponentRecord } from './records.ts';
import type { Reading } from '../model/reading.ts';
import { decodeApplication, decodeApplicationSummaries, decodeCertificates, decodeComponents } from './decode.ts';

const APPLICATION = ['app_id', 'ID', 'group_name'];
/** The platform asks the cluster for the status of an application, and hangs for minutes where that does not answer. */
const STATUS_TIMEOUT_MS = 10_000;

/** undefined: there is none. Only the very words say that: any other 404 is about the team, the region or the address. */
export const getApplication: Reading<ApplicationRecord | undefined> = {
  operation: 'getApplication',
  segments: [],
  decode: decodeApplication,
  expected: { noun: 'an application', fields: APPLICATION },
  isRecord: true,
  timeoutMs: STATUS_TIMEOUT_MS,
  otherwise: ({ status, isJson, msg }) =>
    status === 404 && isJson && msg === 'no found app' ? { readable: true, value: undefined } : undefined,
};

/** The applications of a team in a region. */
export const listApplications: Reading<readonly ApplicationSummary[]> = {
  operation: 'listApplications',
  below: 'region',
  segments: ['apps'],
  decode: decodeApplicationSummaries,
  expected: { noun: 'a list of applications', fields: APPLICATION },
  isExtended: true,
};

/** The components of an application, in the server's order, which means nothing. */
export const listComponents: Reading<readonly ComponentRecord[]> = {
  operation: 'listComponents',
  segments: ['services'],
  decode: decodeComponents,
  expected: { noun: 'a list of components', fields: ['service_id', 'service_alias'] },
  isExtended: true,
};

/**
 * The certificates of a team. The listing has no keys; the address of one certificate has, so that nobody asks for that.
 */
export const listCertificates: Reading<readonly CertificateRecord[]> = {
  operation: 'listCertificates',
  below: 'team',
  segments: ['certificates'],
  pages: { size: 100, idOf: ({ id }: CertificateRecord) => id },
  decode: decodeCertificates,
  expected: { noun: 'a page of certificates', fields: ['list', 'total', 'id', 'alias'] },
  isExtended: true,
};
