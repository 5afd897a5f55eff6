import { recordOf, recordsOf } from './envelope.ts';
import { Fields, isRecord, schemaDrift } from './fields.ts';
import { recordReader } from './record-fields.ts';
import {
  type ApplicationRecord,
  type ApplicationSummary,
  applicationTable,
  type CertificateRecord,
  certificateTable,
  type ComponentRecord,
  componentTable,
  type Region,
  regionTable,
  summaryTable,
} from './records.ts';

/**
 * Decoders of what the platform answers, by the tables of `records.ts`. Each takes the parsed JSON and the words that
 * name the request, and throws `platform/schema-drift` for an answer of another form.
 */
const regionOf = recordReader(regionTable);
const applicationOf = recordReader(applicationTable);
const summaryOf = recordReader(summaryTable);
const certificateOf = recordReader(certificateTable);
export const componentOf = recordReader(componentTable);

export function decodeRegions(json: unknown, where: string): readonly Region[] {
  return recordsOf(json, where).map(regionOf);
}

/** One page of a team's regions. */
export interface RegionPage {
  readonly total: number;
  readonly regions: readonly Region[];
}

/** `{total, regions}`: each has a `token`, which opens the region, and which no table reads. */
export function decodeTeamRegions(json: unknown, where: string): RegionPage {
  const fields = recordOf(json, where);
  const total = fields.integerOrNull('total');
  if (total === null) throw fields.drift('total', 'an integer');
  if (!Array.isArray(fields.raw('regions'))) throw fields.drift('regions', 'a list');
  return { total, regions: fields.records('regions').map(regionOf) };
}

export function decodeApplication(json: unknown, where: string): ApplicationRecord {
  return applicationOf(recordOf(json, where));
}

export function decodeApplicationSummary(json: unknown, where: string): ApplicationSummary {
  return summaryOf(recordOf(json, where));
}

export function decodeApplicationSummaries(json: unknown, where: string): readonly ApplicationSummary[] {
  return recordsOf(json, where).map(summaryOf);
}

/** One page of the certificates of a team. */
export function decodeCertificates(json: unknown, where: string): readonly CertificateRecord[] {
  if (!isRecord(json) || !Array.isArray(json['list'])) throw schemaDrift(where, 'list', 'a list of certificates', json);
  return json['list'].map((item: unknown, index) => certificateOf(new Fields(item, where, `list[${index}]`)));
}

/** The components of an application (extended dialect), in the server's order, which means nothing. */
export function decodeComponents(json: unknown, where: string): readonly ComponentRecord[] {
  return recordsOf(json, where).map(componentOf);
}
