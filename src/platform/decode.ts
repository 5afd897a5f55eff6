import { recordOf } from './envelope.ts';
import { Fields, isRecord, schemaDrift } from './fields.ts';
import { listDecoder, recordDecoder, recordReader } from './record-fields.ts';
import {
  applicationTable,
  type CertificateRecord,
  certificateTable,
  componentTable,
  type Region,
  regionTable,
  summaryTable,
} from './records.ts';

/**
 * Decoders of answers, made from the tables in `records.ts`. Each takes the parsed JSON and the name of the request, and throws
 * `platform/schema-drift` for an answer of another form.
 */
export const decodeRegions = listDecoder(regionTable);
export const decodeApplication = recordDecoder(applicationTable);
export const decodeApplicationSummary = recordDecoder(summaryTable);
export const decodeApplicationSummaries = listDecoder(summaryTable);
/** Decodes the components of an application (extended dialect), in arbitrary order. */
export const decodeComponents = listDecoder(componentTable);

const regionOf = recordReader(regionTable);
const certificateOf = recordReader(certificateTable);
export const componentOf = recordReader(componentTable);

/** One page of a team's regions. */
export interface RegionPage {
  readonly total: number;
  readonly regions: readonly Region[];
}

/** Decodes `{total, regions}`. The `token` of a region, which grants access to it, is not read. */
export function decodeTeamRegions(json: unknown, where: string): RegionPage {
  const fields = recordOf(json, where);
  const total = fields.integerOrNull('total');
  if (total === null) throw fields.drift('total', 'an integer');
  if (!Array.isArray(fields.raw('regions'))) throw fields.drift('regions', 'a list');
  return { total, regions: fields.records('regions').map(regionOf) };
}

/** Decodes one page of a team's certificates. */
export function decodeCertificates(json: unknown, where: string): readonly CertificateRecord[] {
  if (!isRecord(json) || !Array.isArray(json['list'])) throw schemaDrift(where, 'list', 'a list of certificates', json);
  return json['list'].map((item: unknown, index) => certificateOf(new Fields(item, where, `list[${index}]`)));
}
