import type {
  ApplicationRecord,
  ApplicationSummary,
  CertificateRecord,
  ComponentRecord,
  InstalledModel,
  InstallRecord,
  PlacedRule,
  PortRecord,
  Region,
  RuleRecord,
  TcpEndpoint,
} from '../model/observed.ts';
import { recordOf, recordsOf } from './envelope.ts';
import { Fields, isRecord, schemaDrift } from './fields.ts';
import { recordReader } from './record-fields.ts';
import {
  applicationTable,
  certificateTable,
  componentTable,
  endpointTable,
  installedTable,
  installTable,
  placeTable,
  portTable,
  regionTable,
  summaryTable,
} from './records.ts';
import { ruleTable } from './rule-wire.ts';

/**
 * Decoders of what the platform answers, by the tables of `records.ts`. Each takes the parsed JSON and the words that
 * name the request, and throws `platform/schema-drift` for an answer of another form.
 */
const regionOf = recordReader(regionTable);
const applicationOf = recordReader(applicationTable);
const summaryOf = recordReader(summaryTable);
const certificateOf = recordReader(certificateTable);
const portOf = recordReader(portTable);
const presentRuleOf = recordReader(ruleTable);
const endpointOf = recordReader(endpointTable);
const placeOf = recordReader(placeTable);
const componentOf = recordReader(componentTable);
const installedOf = recordReader(installedTable);
const installOf = recordReader(installTable);

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

export function decodePort(json: unknown, where: string): PortRecord {
  return portOf(recordOf(json, where));
}

export function decodePorts(json: unknown, where: string): readonly PortRecord[] {
  return recordsOf(json, where).map(portOf);
}

/** The components of an application (extended dialect), in the server's order, which means nothing. */
export function decodeComponents(json: unknown, where: string): readonly ComponentRecord[] {
  return recordsOf(json, where).map(componentOf);
}

/** undefined: the record is blank, which is how a server says that there is no rule of that id. */
export function decodeRule(json: unknown, where: string): RuleRecord | undefined {
  return ruleOf(recordOf(json, where));
}

/** A blank row in a listing is no rule, and is left out. */
export function decodeRules(json: unknown, where: string): readonly RuleRecord[] {
  return recordsOf(json, where).flatMap((fields) => ruleOf(fields) ?? []);
}

/** The list under `tcp` of the listing of both kinds of rules. */
export function decodeEndpoints(json: unknown, where: string): readonly TcpEndpoint[] {
  const fields = recordOf(json, where);
  if (!Array.isArray(fields.raw('tcp'))) throw fields.drift('tcp', 'a list of endpoints');
  return fields.records('tcp').map(endpointOf);
}

/** Every rule of the enterprise, each with its application. */
export function decodePlacedRules(json: unknown, where: string): readonly PlacedRule[] {
  return recordsOf(json, where).flatMap((fields) => {
    const rule = ruleOf(fields);
    return rule === undefined
      ? []
      : [{ ...placeOf(fields), rule: withExtensions(rule, fields.raw('rule_extensions')) }];
  });
}

/**
 * The listing of all rules shows extensions as text, `lb-type:round-robin,retries:3`. Text of another form shows nothing: the
 * extensions then count as unknown.
 */
function withExtensions(rule: RuleRecord, text: unknown): RuleRecord {
  if (typeof text !== 'string') return rule;
  const entries = text.split(',').filter((entry) => entry !== '');
  const extensions = entries.flatMap((entry) => {
    const [key, value, ...rest] = entry.split(':');
    return key === undefined || key === '' || value === undefined || rest.length > 0 ? [] : [{ key, value }];
  });
  return extensions.length === entries.length ? { ...rule, extensions } : rule;
}

/** Blank as a whole means absent; a rule without an id is something that we do not understand. */
function ruleOf(fields: Fields): RuleRecord | undefined {
  const isBlank =
    fields.idOrNull('http_rule_id') === null &&
    ['service_id', 'domain_name'].every((name) => (fields.raw(name) ?? '') === '') &&
    (fields.raw('container_port') ?? null) === null;
  return isBlank ? undefined : presentRuleOf(fields);
}

export function decodeInstalled(json: unknown, where: string): readonly InstalledModel[] {
  return recordsOf(json, where).map(installedOf);
}

export function decodeInstall(json: unknown, where: string): InstallRecord {
  const fields = recordOf(json, where);
  if (!Array.isArray(fields.raw('service_list'))) throw fields.drift('service_list', 'a list of components');
  return { ...installOf(fields), components: fields.records('service_list').map(componentOf) };
}
