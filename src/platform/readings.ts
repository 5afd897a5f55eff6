import type { ApplicationRecord, ApplicationSummary, CertificateRecord, ComponentRecord } from './records.ts';
import type { Reading } from '../model/reading.ts';
import { decodeApplication, decodeApplicationSummaries, decodeCertificates, decodeComponents } from './decode.ts';

const APPLICATION = ['app_id', 'ID', 'group_name'];
/** Timeout for the status of an application: the platform asks the cluster, and hangs for minutes if that does not answer. */
const STATUS_TIMEOUT_MS = 10_000;

/** Reads an application; undefined: it does not exist. Only the exact message proves that: other 404s are about the address. */
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

/** Lists the applications of a team in a region. */
export const listApplications: Reading<readonly ApplicationSummary[]> = {
  operation: 'listApplications',
  below: 'region',
  segments: ['apps'],
  decode: decodeApplicationSummaries,
  expected: { noun: 'a list of applications', fields: APPLICATION },
  isExtended: true,
};

/** Lists the components of an application, in arbitrary order. */
export const listComponents: Reading<readonly ComponentRecord[]> = {
  operation: 'listComponents',
  segments: ['services'],
  decode: decodeComponents,
  expected: { noun: 'a list of components', fields: ['service_id', 'service_alias'] },
  isExtended: true,
};

/**
 * Lists the certificates of a team. The listing does not contain keys. The address of one certificate does, so it is never read.
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
